#!/bin/sh
# Runs the timing test (docs/evidence/timing.md) on every instruction set that this processor has.
#
#   scripts/test_time.sh [FILLS]        fills per comparison, a million by default; exit 1 if a |t| or a control is wrong
set -eu

command -v cargo >/dev/null || {
    echo 'skipped: the timing test needs Rust; cargo was not found.'
    exit 0
}
cd "$(dirname "$0")/.."
cargo build --quiet --locked --release -p stairnoise --features probe --example time_test --target-dir target/probe

tiers=portable
if [ "$(uname -m)" = x86_64 ] && grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -qw fma /proc/cpuinfo; then
    tiers="$tiers avx2"
    for flag in avx512f avx512dq avx512vl avx512bw; do
        grep -qw "$flag" /proc/cpuinfo || { echo "skipped: the AVX-512 tier, because $flag is missing" && flag= && break; }
    done
    [ -z "$flag" ] || tiers="$tiers avx512"
fi
status=0
for tier in $tiers; do
    STAIRNOISE_CPU=$tier target/probe/release/examples/time_test "$@" || status=1
done
exit "$status"
