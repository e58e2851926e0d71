#!/bin/sh
# Runs the crate's tests under Miri, which finds undefined behaviour: on the portable tier, for it knows no vector instructions, and
# without the tests that take it hours. Says in one line what is missing.
#
#   scripts/test_miri.sh [TESTS ...]      names of tests, or parts of them; some of every module with `unsafe`, threads or raw bits by default
set -eu

toolchain=${MIRI_TOOLCHAIN:-nightly}
cargo "+$toolchain" miri --version >/dev/null 2>&1 || {
    echo "test_miri: Miri is missing: rustup +$toolchain component add miri rust-src" >&2
    exit 1
}
cd "$(dirname "$0")/.."
# Keys come from the operating system, the corpus and the vectors from files.
export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
export STAIRNOISE_CPU=portable
[ $# -gt 0 ] || set -- stream:: parallel:: value:: dyadic:: share:: release:: multivariate::sort exact::search tiers_convert
cargo "+$toolchain" miri test --locked -p stairnoise --all-features --lib --target-dir target/miri -- "$@"
cargo "+$toolchain" miri test --locked -p stairnoise --all-features --test fuzz --target-dir target/miri
