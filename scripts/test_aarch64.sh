#!/bin/sh
# Runs the Rust tests on 64-bit ARM Linux: on such a machine, or cross-built in an emulator.
#
#   scripts/test_aarch64.sh [ARGUMENT...]        arguments of `cargo test`
#
# Uses RUSTC, CARGO, CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER and _RUNNER if they are set; the emulator reads QEMU_LD_PREFIX and
# QEMU_CPU. If a tool is missing, one line names it, and the exit status is 1.
set -u

target=aarch64-unknown-linux-gnu
rustc=${RUSTC:-rustc}
cargo=${CARGO:-cargo}

fail() {
    printf 'the tests on AArch64 need %s\n' "$1" >&2
    exit 1
}

# --- Rust, with a standard library for the target
for tool in "$rustc" "$cargo"; do
    command -v "$tool" >/dev/null 2>&1 || fail "Rust; $tool was not found."
done
library=$("$rustc" --print target-libdir --target "$target" 2>/dev/null)
found=no
for file in "$library"/libstd-*.rlib; do
    [ -e "$file" ] && found=yes
done
[ "$found" = yes ] ||
    fail "Rust's standard library for $target, of the same version as $rustc. With rustup: rustup target add $target."

# --- on another machine: a linker, a C library, an emulator
case "$("$rustc" -vV)" in
*"host: $target"*) ;;
*)
    linker=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:-aarch64-linux-gnu-gcc}
    command -v "$linker" >/dev/null 2>&1 ||
        fail "a linker; $linker was not found. On Debian or Ubuntu: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross."
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="$linker"
    if [ -z "${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER:-}" ]; then
        for emulator in qemu-aarch64 qemu-aarch64-static ''; do
            [ -n "$emulator" ] || fail "an emulator; qemu-aarch64 was not found. On Debian or Ubuntu: apt install qemu-user."
            command -v "$emulator" >/dev/null 2>&1 && break
        done
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator"
    fi
    if [ -z "${QEMU_LD_PREFIX:-}" ]; then
        # The emulator looks for the loader of shared libraries at PREFIX/lib/ld-linux-aarch64.so.1; the linker knows its place.
        loader=$("$linker" -print-file-name=ld-linux-aarch64.so.1)
        [ -e "$loader" ] || fail "a C library; $linker knows of none. On Debian or Ubuntu: apt install libc6-dev-arm64-cross."
        QEMU_LD_PREFIX=$(dirname "$(dirname "$loader")")
        export QEMU_LD_PREFIX
    fi
    ;;
esac

# Code that only other architectures use is a warning here; fail on it.
export RUSTFLAGS="${RUSTFLAGS:-} -D warnings"
exec "$cargo" test --locked --no-fail-fast -p stairnoise --all-features --target "$target" "$@"
