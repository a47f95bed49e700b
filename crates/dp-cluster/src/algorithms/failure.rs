//! Errors of the algorithms' crates in the words of this one.

use std::fmt::Display;

use crate::algorithm::FitError;
use crate::request::RequestError;

/// A parameter that is refused, and why.
pub(super) fn refusal(parameter: &'static str, reason: impl Display) -> RequestError {
    RequestError::Parameter {
        parameter,
        reason: reason.to_string(),
    }
}

/// Parameters that were refused.
pub(super) fn refused<E: Display>(algorithm: &'static str) -> impl Fn(E) -> RequestError {
    move |error| refusal(algorithm, error)
}

/// A fit that was refused or could not read its records.
pub(super) fn failed<E: Failure>(algorithm: &'static str) -> impl Fn(E) -> FitError {
    move |error| {
        error
            .common()
            .unwrap_or_else(|other| FitError::Request(refusal(algorithm, other)))
    }
}

/// An error of a fit in one of the crates.
pub(super) trait Failure: Display + Sized {
    /// What every crate has: a spend that was refused, a source that could not be read.
    fn common(self) -> Result<FitError, Self>;
}

macro_rules! failures {
    ($($error:ty),*) => {
        $(impl Failure for $error {
            fn common(self) -> Result<FitError, Self> {
                match self {
                    Self::Spend(error) => Ok(FitError::Spend(error)),
                    Self::Source(error) => Ok(FitError::Source(error)),
                    other => Err(other),
                }
            }
        })*
    };
}

failures!(
    lloyd_dp::FitError,
    maxcover::FitError,
    ktuple::FitError,
    gmm::FitError
);
