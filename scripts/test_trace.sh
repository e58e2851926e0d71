#!/bin/sh
# Compares paths (docs/evidence/timing.md): fills with different keys must run the same instructions on the same addresses, on every instruction set that
# this processor has. Exit 1 if a path differs, or if the paths of a control are equal.
set -eu

skip() {
    printf 'skipped: the comparison of paths needs %s\n' "$1"
    exit 0
}

command -v cargo >/dev/null || skip 'Rust; cargo was not found.'
[ "$(uname -sm)" = 'Linux x86_64' ] || skip 'Linux on x86-64.'

cd "$(dirname "$0")/.."
cargo build --quiet --locked --release -p stairnoise --features probe --example trace --target-dir target/probe

has() {
    for flag in "$@"; do
        grep -qw "$flag" /proc/cpuinfo || { echo "skipped: an instruction set, because $flag is missing" && return 1; }
    done
}
tiers=portable
! has avx2 fma || tiers="$tiers avx2"
! has avx2 fma avx512f avx512dq avx512vl avx512bw || tiers="$tiers avx512"
status=0
for tier in $tiers; do
    STAIRNOISE_CPU=$tier target/probe/release/examples/trace || status=1
done
exit "$status"
