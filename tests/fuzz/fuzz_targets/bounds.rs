//! See `dp_cluster_cli::hostile::bounds`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dp_cluster_cli::hostile::bounds(data));
