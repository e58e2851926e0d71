#!/bin/sh
# Runs all Rust and Python tests under each instruction set that STAIRNOISE_CPU can force, the keystream's among them. One takes minutes.
#
#   scripts/test_tiers.sh [portable] [avx2] [avx512]     all by default; a set that this processor lacks is named and skipped
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
unset STAIRNOISE_CPU
[ $# -gt 0 ] || set -- portable avx2 avx512

here=" $("$python" -c 'import stairnoise; print(*stairnoise.cpu_tiers())') "
failed=
skipped=
for tier in "$@"; do
    case $here in
        *" $tier "*) ;;
        *)
            skipped="$skipped $tier"
            continue
            ;;
    esac
    printf '\n======== %s\n' "$tier"
    export STAIRNOISE_CPU="$tier"
    used=$("$python" -c 'from stairnoise import _native; print(_native.cpu_tier())')
    [ "$used" = "$tier" ] || failed="$failed $tier:not-used"
    cargo test --no-fail-fast --locked -p stairnoise --all-features --lib --bins --tests || failed="$failed $tier:rust"
    "$python" -m pytest -q --numprocesses auto --maxprocesses 4 --dist worksteal || failed="$failed $tier:python"
done

[ -z "$skipped" ] || printf 'test_tiers: skipped, because this processor lacks the instructions:%s\n' "$skipped" >&2
[ -z "$failed" ] || { printf 'test_tiers: failed:%s\n' "$failed" >&2 && exit 1; }
