#!/bin/sh
# Runs the crate's tests with the address sanitizer, and with the fields of structs in random order, so that no code can rely on one.
# The standard library is not instrumented.
#
#   scripts/test_asan.sh [ARGUMENTS ...]      for the test programs
set -eu

cd "$(dirname "$0")/.."
target=$(rustc -vV | sed -n 's/^host: //p')
# The stable compiler has the sanitizer's nightly flag, but only with this variable.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS='-Zsanitizer=address -Zrandomize-layout'
export ASAN_OPTIONS='detect_stack_use_after_return=1:strict_init_order=1'
run() {
    cargo test --locked --target "$target" --target-dir target/asan -p stairnoise --all-features "$@"
}
# The crate's inner tests run every tier that the processor has, and the exact path has no tiers. The public tests run the tier named.
run --lib --test exact_path -- --skip kernel::tests::exhaustive --skip kernel::tests::proof "$@"
for tier in portable avx2 avx512; do
    # The tier's flag in /proc/cpuinfo; every processor has fpu.
    case $tier in portable) flag=fpu ;; avx512) flag=avx512f ;; *) flag=$tier ;; esac
    if grep -qw "$flag" /proc/cpuinfo; then
        export STAIRNOISE_CPU="$tier"
        run --test interface -- --skip small_stacks "$@"
    else
        echo "skipped: $tier is not available here"
    fi
done
