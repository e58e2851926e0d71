#!/bin/sh
# Runs the fuzz targets of rust/fuzz, one after another, with the address sanitizer. Needs a C++ compiler for libFuzzer.
#
#   scripts/fuzz.sh [TARGET ...]      all of them by default; exit 1 with the offending input's path if one fails
#   scripts/fuzz.sh --minimise        reduces rust/fuzz/corpus to the fewest inputs that reach as much code as all inputs found
#
#   SECONDS_EACH    the time for one target, 60 by default
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
# The stable compiler has the nightly flags for the sanitizer and the counters, but only with this variable.
export RUSTC_BOOTSTRAP=1

minimise=
if [ "${1:-}" = --minimise ]; then
    minimise=yes
    shift
fi
[ $# -gt 0 ] || set -- $(ls rust/fuzz/fuzz_targets | sed 's/\.rs$//')

# libFuzzer reads and writes folders with one file for each input.
for target in "$@"; do
    kept=$root/target/fuzz/kept/$target
    rm -rf "$kept"
    mkdir -p "$found/$target"
    python3 scripts/fuzz_inputs.py unpack "rust/fuzz/corpus/$target.hex" "$kept"
    if [ -n "$minimise" ]; then
        fewest=$root/target/fuzz/fewest/$target
        rm -rf "$fewest"
        mkdir -p "$fewest"
        cargo fuzz run --fuzz-dir rust/fuzz --target-dir target/fuzz "$target" "$fewest" "$found/$target" "$kept" -- -merge=1
        python3 scripts/fuzz_inputs.py pack "$fewest" "rust/fuzz/corpus/$target.hex"
    else
        cargo fuzz run --fuzz-dir rust/fuzz --target-dir target/fuzz "$target" "$found/$target" "$kept" -- \
            -max_total_time="${SECONDS_EACH:-60}" -max_len=512 -len_control=0 -timeout=60 -print_final_stats=1
    fi
done
