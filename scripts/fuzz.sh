#!/bin/sh
# Runs the fuzz targets of rust/fuzz, each for a while, with the address sanitizer. Needs a C++ compiler for libFuzzer.
#
#   scripts/fuzz.sh [TARGET ...]      all of them by default; exit 1 with the offending input's path if one fails
#   scripts/fuzz.sh --minimise        replaces rust/fuzz/corpus by the fewest inputs that reach as much as all that were found
#
#   SECONDS_EACH    for each target, 60 by default
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
tools=$root/target/tools
found=$root/target/fuzz/corpus
command -v c++ >/dev/null || {
    echo 'fuzz: a C++ compiler is needed: c++ was not found. On Debian: apt install g++' >&2
    exit 1
}
[ -x "$tools/bin/cargo-fuzz" ] || cargo install --quiet --locked --root "$tools" cargo-fuzz
PATH=$tools/bin:$PATH
# The sanitizer and the counters are flags of the nightly compiler that the stable one has too.
export RUSTC_BOOTSTRAP=1

minimise=
if [ "${1:-}" = --minimise ]; then
    minimise=yes
    shift
fi
[ $# -gt 0 ] || set -- $(ls rust/fuzz/fuzz_targets | sed 's/\.rs$//')

for target in "$@"; do
    mkdir -p "$found/$target"
    if [ -n "$minimise" ]; then
        fewest=$root/target/fuzz/fewest/$target
        rm -rf "$fewest"
        mkdir -p "$fewest"
        cargo fuzz run --fuzz-dir rust/fuzz --target-dir target/fuzz "$target" "$fewest" "$found/$target" "rust/fuzz/corpus/$target" -- -merge=1
        rm -rf "rust/fuzz/corpus/$target"
        mv "$fewest" "rust/fuzz/corpus/$target"
    else
        cargo fuzz run --fuzz-dir rust/fuzz --target-dir target/fuzz "$target" "$found/$target" "rust/fuzz/corpus/$target" -- \
            -max_total_time="${SECONDS_EACH:-60}" -max_len=512 -len_control=0 -timeout=60 -print_final_stats=1
    fi
done
