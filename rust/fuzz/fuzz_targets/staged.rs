#![no_main]

#[path = "../../core/tests/fuzz/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::staged::run(bytes));
