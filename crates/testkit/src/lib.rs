//! Rates, bounds and strategies shared by the tests of all crates.
//!
//! Only ever a dev-dependency, and it uses none of the project's own types: a crate's unit tests would
//! otherwise link two copies of the crate.
#![forbid(unsafe_code)]

pub mod rates;
