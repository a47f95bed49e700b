//! See `dp_cluster_cli::hostile::csv`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dp_cluster_cli::hostile::csv(data));
