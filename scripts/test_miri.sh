#!/bin/sh
# Runs Rust tests under Miri, which finds undefined behaviour, leaks and data races. Miri knows no vector instructions, so they run on the
# portable tier, with smaller sizes (`cfg(miri)` in the tests). Installs Miri if rustup is here.
#
#   scripts/test_miri.sh [TESTS ...]      names of tests in the crate, or parts of them; by default those below
#
#   MIRI_TOOLCHAIN    nightly by default
#   TARGET            the machine to emulate, this one by default: s390x-unknown-linux-gnu is big-endian, i686-unknown-linux-gnu has 32 bits
#   SEEDS             in how many orders of events to run the tests with threads, 8 by default
set -eu

toolchain=${MIRI_TOOLCHAIN:-nightly}
target=${TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
if ! cargo "+$toolchain" miri --version >/dev/null 2>&1; then
    command -v rustup >/dev/null 2>&1 || {
        echo 'test_miri: Miri is needed, which rustup installs: https://rustup.rs' >&2
        exit 1
    }
    rustup toolchain install "$toolchain" --profile minimal --component miri,rust-src
fi
cd "$(dirname "$0")/.."
# Isolation would hide the operating system's randomness and the files of vectors.
flags="-Zmiri-disable-isolation -Zmiri-strict-provenance ${MIRIFLAGS:-}"
export STAIRNOISE_CPU=portable
# For another machine, a dependency of the benchmarks compiles C. Miri never runs that C, so any compiler serves.
export TARGET_CC="${TARGET_CC:-cc}"
run() {
    MIRIFLAGS=$flags cargo "+$toolchain" miri test --locked -p stairnoise --all-features --target "$target" --target-dir target/miri "$@"
}
if [ $# -gt 0 ]; then
    run --lib -- "$@"
    exit
fi
# The golden vectors of every mechanism, then the tests of every module that are not long loops.
run --lib -- golden:: golden_vectors stream:: value:: dyadic:: share:: params:: kernel::float kernel::tier exact::exp exact::gaussian exact::ln2 exact::search \
    exact::weights mechanisms::merged mechanisms::truncated refuses bits_are_listed multivariate::sort release::tests::halves release::tests::extremes \
    release::tests::integers no_bits_at_all a_weight_of_next_to_nothing
run --test interface -- --skip small_stacks --skip rand_distr
flags="$flags -Zmiri-many-seeds=0..${SEEDS:-8}"
run --lib -- parallel::
