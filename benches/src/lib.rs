//! What the bench and study programs share: data sets from files, generated ones, ratios of costs on both, taking turns with a
//! peer, and how a program of parts begins and ends.
#![forbid(unsafe_code)]

pub mod data;
pub mod generated;
pub mod program;
pub mod sets;
pub mod turns;
