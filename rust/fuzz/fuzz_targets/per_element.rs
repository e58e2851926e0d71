#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stairnoise_fuzz::targets::per_element::run(bytes));
