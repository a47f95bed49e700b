//! Reading: bytes become records, before any mechanism runs.
//!
//! What is wrong with a file is said with its name, line and column, never with a value, and spends nothing.

mod cut;
mod number;
mod outside;
mod parse;
mod small;
mod source;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

pub(crate) use outside::Outside;
pub(crate) use parse::Policy;
pub(crate) use small::{read_matrix, read_small};
pub(crate) use source::{CsvSource, Selection};

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    Plain(PathBuf),
    Gzip(PathBuf),
}

impl Input {
    /// `-` is stdin, `.gz` is compressed, all else is plain.
    pub(crate) fn new(path: &Path) -> Self {
        if path.as_os_str() == "-" {
            Self::Stdin
        } else if path.extension().is_some_and(|ending| ending == "gz") {
            Self::Gzip(path.to_owned())
        } else {
            Self::Plain(path.to_owned())
        }
    }

    /// How messages name it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::Plain(path) | Self::Gzip(path) => path.display().to_string(),
        }
    }

    /// Whether it can be read from the beginning again.
    fn is_repeatable(&self) -> bool {
        match self {
            Self::Stdin => false,
            // A pipe or a device gives its bytes once.
            Self::Plain(path) | Self::Gzip(path) => {
                std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
            }
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::Plain(path) => Box::new(File::open(path)?),
            Self::Gzip(path) => Box::new(MultiGzDecoder::new(File::open(path)?)),
        })
    }
}

/// Something is wrong with a file. Carries no value of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{file}: {error}")]
    Io { file: String, error: io::Error },
    #[error("{file}, line {line}, column `{column}`: {what}")]
    Cell {
        file: String,
        line: u64,
        column: String,
        what: &'static str,
    },
    #[error("{file}, line {line}: {what}")]
    Row {
        file: String,
        line: u64,
        what: String,
    },
    #[error("{file}: {what}")]
    File { file: String, what: String },
}

impl From<ReadError> for crate::failure::Failure {
    fn from(error: ReadError) -> Self {
        let help = match error {
            ReadError::Cell { .. } | ReadError::Row { .. } => Some(
                "choose other columns (--columns of `fit`), mend the file, or see --invalid in `--help`",
            ),
            _ => None,
        };
        let failure = Self::data(error.to_string());
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}
