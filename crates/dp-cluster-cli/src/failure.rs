//! What ends a run early, and the exit code that goes with it.

use std::fmt;
use std::io;
use std::process::ExitCode;

use dp_cluster::codec::CodecError;
use dp_cluster::evaluate::LabelError;
use dp_cluster::{FitError, RequestError, SourceError};

/// A run ended without a result.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Data or I/O: 1.
    Data,
    /// What flags and the bounds file show: 2.
    Usage,
    /// Whoever read the output has gone: not worth a word.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::new(Kind::Data, message.into())
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message.into())
    }

    /// A file could not be read or written.
    pub(crate) fn file(path: &std::path::Path, error: &io::Error) -> Self {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        let own = matches!(
            error.kind(),
            InvalidData | InvalidInput | Other | UnexpectedEof
        );
        if own || error.get_ref().is_none() {
            Self::data(format!("{}: {error}", path.display()))
        } else {
            // The system's error, about a temporary file whose name means nothing to anyone.
            Self::data(format!("{}: {}", path.display(), error.kind()))
        }
    }

    /// Stdout could not be written.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::new(Kind::ClosedPipe, String::new())
        } else {
            Self::data(format!("stdout: {error}"))
        }
    }

    fn new(kind: Kind, message: String) -> Self {
        Self {
            kind,
            message,
            help: None,
        }
    }

    /// Adds what the user can do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Itself, unless nobody is left to read.
    pub(crate) fn unless_closed(self) -> Result<(), Self> {
        if self.is_closed_pipe() {
            Ok(())
        } else {
            Err(self)
        }
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.kind == Kind::ClosedPipe
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::ClosedPipe => 0,
            Kind::Data => 1,
            Kind::Usage => 2,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::data(error.to_string())
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Request(error) => error.into(),
            FitError::Spend(error) => Self::usage(error.to_string()),
            FitError::Source(error) => error.into(),
            other => Self::data(other.to_string()),
        }
    }
}

impl From<LabelError> for Failure {
    fn from(error: LabelError) -> Self {
        Self::data(error.to_string())
    }
}

impl From<CodecError> for Failure {
    fn from(error: CodecError) -> Self {
        Self::data(error.to_string())
    }
}
