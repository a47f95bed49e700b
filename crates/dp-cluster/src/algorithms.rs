//! One file per algorithm, and the table of all.

use crate::algorithm::Algorithm;

mod dplloyd;
mod lloyd;

/// In the order in which lists show them: private ones first.
pub(crate) static TABLE: &[&dyn Algorithm] = &[
    &dplloyd::DpLloydBest,
    &dplloyd::DpLloydPaper,
    &lloyd::Lloyd,
];
