#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stairnoise_fuzz::targets::gaussians::run(bytes));
