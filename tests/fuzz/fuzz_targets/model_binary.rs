//! See `workspace_tests::hostile::model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| workspace_tests::hostile::model(data));
