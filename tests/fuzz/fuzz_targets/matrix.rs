//! See `workspace_tests::hostile::matrix`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| workspace_tests::hostile::matrix(data));
