//! What the bench and study programs share: data sets from files, generated ones, ratios of costs on both, and taking turns with a
//! peer.
#![forbid(unsafe_code)]

pub mod data;
pub mod generated;
pub mod sets;
pub mod turns;
