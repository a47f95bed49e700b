//! Errors of `lloyd-dp` in the words of this crate.

use crate::algorithm::FitError;
use crate::request::RequestError;

/// Parameters that were refused.
pub(super) fn refused(algorithm: &'static str) -> impl Fn(lloyd_dp::ParamsError) -> RequestError {
    move |error| RequestError::Parameter {
        parameter: algorithm,
        reason: error.to_string(),
    }
}

/// A fit that was refused or could not read its records.
pub(super) fn failed(algorithm: &'static str) -> impl Fn(lloyd_dp::FitError) -> FitError {
    move |error| match error {
        lloyd_dp::FitError::Spend(error) => FitError::Spend(error),
        lloyd_dp::FitError::Source(error) => FitError::Source(error),
        other => FitError::Request(RequestError::Parameter {
            parameter: algorithm,
            reason: other.to_string(),
        }),
    }
}
