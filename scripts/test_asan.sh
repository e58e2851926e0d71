#!/bin/sh
# Runs the crate's tests with the address sanitizer, and with the fields of structs in an order at random, so that nothing can rest on one.
# The standard library is as it ships, not instrumented.
#
#   scripts/test_asan.sh [ARGUMENTS ...]      for the test programs
set -eu

cd "$(dirname "$0")/.."
target=$(rustc -vV | sed -n 's/^host: //p')
# The sanitizer is a flag of the nightly compiler that the stable one has too.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS='-Zsanitizer=address -Zrandomize-layout'
export ASAN_OPTIONS='detect_stack_use_after_return=1:strict_init_order=1'
run() {
    cargo test --locked --target "$target" --target-dir target/asan -p stairnoise --all-features "$@"
}
# The tests in the crate run every tier that the processor has, the exact path has none; those of its public face run the one that is named.
run --lib --test exact_path -- --skip kernel::tests::exhaustive --skip kernel::tests::proof "$@"
for tier in portable avx2 avx512; do
    # An instruction set by its name in /proc/cpuinfo.
    case $tier in portable) flag=fpu ;; avx512) flag=avx512f ;; *) flag=$tier ;; esac
    if grep -qw "$flag" /proc/cpuinfo; then
        export STAIRNOISE_CPU="$tier"
        run --test fuzz --test public --test rand_distr -- "$@"
    else
        echo "skipped: $tier is not available here"
    fi
done
