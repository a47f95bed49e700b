//! Tests that span crates; see the folders beside this file. This library holds the audits of all algorithms, which tests,
//! the program `audit` and the fault zoo share.
#![forbid(unsafe_code)]
#![expect(
    clippy::missing_panics_doc,
    reason = "a test that cannot set itself up should panic"
)]

pub mod attacks;
pub mod black_box;
pub mod door;
pub mod hostile;
pub mod laws;
pub mod parallel;
pub mod replays;
pub mod spending;
pub mod subjects;
pub mod theorems;
pub mod tuple_attacks;
pub mod zoo;

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[derive(Debug)]
pub struct Readme;
