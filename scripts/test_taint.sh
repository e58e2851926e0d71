#!/bin/sh
# The taint check (docs/evidence/timing.md): the key is secret, and memcheck reports every branch and address that depends on it. Exit 1 if the
# sources do not allow one of them, or if a control is not reported. If a tool is missing, one line names it and nothing is checked.
set -eu

skip() {
    printf 'skipped: the taint check needs %s\n' "$1"
    exit 0
}

command -v cargo >/dev/null || skip 'Rust; cargo was not found.'
command -v valgrind >/dev/null || skip 'Valgrind; valgrind was not found. On Debian or Ubuntu: apt install valgrind.'
[ "$(uname -m)" = x86_64 ] || skip 'x86-64, which its client requests are written for.'

cd "$(dirname "$0")/.."
cargo build --quiet --locked --release -p stairnoise --features probe --example taint --target-dir target/probe

tiers=portable
if grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -qw fma /proc/cpuinfo; then
    tiers="$tiers avx2"
else
    echo 'skipped: the AVX2 tier, which this processor lacks'
fi
echo 'skipped: the AVX-512 tier, which Valgrind does not run'

status=0
for tier in $tiers; do
    log=target/probe/taint-$tier.log
    STAIRNOISE_CPU=$tier valgrind --quiet --num-callers=8 --log-file="$log" target/probe/release/examples/taint 2>/dev/null || status=1
done
[ "$status" = 0 ] || echo "where: target/probe/taint-TIER.log; build with CARGO_PROFILE_RELEASE_DEBUG=line-tables-only for lines of source"
exit "$status"
