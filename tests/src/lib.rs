//! Tests that span crates; see the folders beside this file. This library holds the audits of all algorithms, which tests,
//! the program `audit` and the fault zoo share.
#![forbid(unsafe_code)]

pub mod replays;
pub mod spending;
pub mod subjects;
