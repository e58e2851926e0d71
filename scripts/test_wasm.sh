#!/bin/sh
# Runs the crate as WebAssembly in Node: a web page's module, without an operating system (wasm32-unknown-unknown), and the crate's
# tests, which read the golden vectors from files (wasm32-wasip1). Neither has the feature `entropy`.
#
#   scripts/test_wasm.sh [TEST...]        names of tests in the crate, or parts of them; by default those below
#
# Installs Rust's standard library for the two targets if rustup is here. If a tool is missing, one line names it and nothing is checked.
set -eu

page=wasm32-unknown-unknown
system=wasm32-wasip1

skip() {
    printf 'skipped: the tests on WebAssembly need %s\n' "$1"
    exit 0
}

for tool in rustc cargo; do
    command -v "$tool" >/dev/null || skip "Rust; $tool was not found."
done
command -v node >/dev/null || skip 'Node 20 or newer; node was not found. On Debian or Ubuntu: apt install nodejs.'
node --no-warnings --input-type=module --eval \
    'import { WASI } from "node:wasi"; new WASI({ version: "preview1" }).getImportObject();' 2>/dev/null ||
    skip "Node 20 or newer; found $(node --version)."
for target in $page $system; do
    library=$(rustc --print target-libdir --target $target)
    ls "$library"/libstd-*.rlib >/dev/null 2>&1 || rustup target add $target 2>/dev/null ||
        skip "Rust's standard library for $target, of the same version as rustc. With rustup: rustup target add $target."
done

cd "$(dirname "$0")/.."
# A warning that appears only with 32 bits or without threads is as much a fault as any other.
export RUSTFLAGS="${RUSTFLAGS:-} -D warnings"
cargo build --locked --release -p stairnoise --no-default-features --example browser --target $page
node rust/core/examples/browser/check.mjs target/$page/release/examples/browser.wasm
# cargo runs the tests in the crate's folder.
export CARGO_TARGET_WASM32_WASIP1_RUNNER='node --no-warnings ../../scripts/run_wasi.mjs'
run() {
    cargo test --locked -p stairnoise --no-default-features --features rand,probe --target $system "$@"
}
if [ $# -gt 0 ]; then
    run --lib -- "$@"
    exit
fi
# The golden vectors, and tests that depend on threads, memory, the bits of an address, or the feature. Other tests of the stream
# need `Generator::from_os`.
run --lib -- golden:: golden_vectors keyed:: memory:: parallel:: selection:: \
    stream::cipher stream::entropy stream::erasure stream::fill every_way_to_a_word indices_and_fills
