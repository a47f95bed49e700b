//! What the bench and study programs share: data sets from files, generated ones, and ratios of costs on both.

pub mod data;
pub mod generated;
pub mod sets;
