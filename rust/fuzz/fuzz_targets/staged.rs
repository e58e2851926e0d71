#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stairnoise_fuzz::targets::staged::run(bytes));
