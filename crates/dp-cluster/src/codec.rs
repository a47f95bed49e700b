//! Models as bytes: JSON, and a binary form.
//!
//! # The binary form
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | the magic `\x89DPCLUS\n` |
//! | 8..12 | format version, little endian |
//! | 12..20 | length of the body, little endian |
//! | 20..28 | FNV-1a (64 bits) of the body, little endian: finds accidents, not forgeries |
//! | 28.. | the body |
//!
//! The body holds the fields of [`Model`] in their order: whole numbers as varints (one byte up to 250;
//! 251, 252, 253 announce 2, 4, 8 bytes, little endian), floats as 8 bytes little endian, flags and the
//! presence of an optional value as one byte, texts and lists behind their length, variants by their
//! number. The crate behind it is no longer maintained (RUSTSEC-2025-0141): it is named in this file
//! alone, and the layout above is enough to replace it.

use serde::Deserialize;

use crate::model::{FORMAT_VERSION, Model, ModelError};

#[cfg(test)]
mod tests;

const MAGIC: &[u8; 8] = b"\x89DPCLUS\n";
const HEADER: usize = 28;

/// Largest file that is read.
pub const MAX_BYTES: usize = 1 << 28;

/// Bytes are no valid model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// Neither of the two forms.
    #[error("this is no model: neither JSON nor the binary form")]
    Unknown,
    /// More bytes than a model has.
    #[error("a model of more than {MAX_BYTES} bytes is not read")]
    TooLarge,
    /// The file ends early or goes on after its end.
    #[error("the file is {got} bytes long, but says {expected}")]
    Length {
        /// What the header says.
        expected: u64,
        /// What there is.
        got: u64,
    },
    /// The checksum does not fit.
    #[error("the checksum does not fit: the file is damaged")]
    Checksum,
    /// The bytes do not have the form of a model.
    #[error("the file does not have the form of a model: {0}")]
    Form(String),
    /// The content does not hold together.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Model {
    /// The JSON form, indented, with a newline at its end; floats in their shortest exact form.
    ///
    /// # Errors
    ///
    /// [`CodecError`] if the model is not valid.
    pub fn to_json(&self) -> Result<String, CodecError> {
        self.check()?;
        let mut text = serde_json::to_string_pretty(self).map_err(|error| form(&error))?;
        text.push('\n');
        Ok(text)
    }

    /// The binary form.
    ///
    /// # Errors
    ///
    /// [`CodecError`] if the model is not valid.
    pub fn to_binary(&self) -> Result<Vec<u8>, CodecError> {
        self.check()?;
        let body = bincode::serde::encode_to_vec(self, config()).map_err(|error| form(&error))?;
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&fnv1a(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// Reads either form and checks everything: shapes, numbers, bounds, and the ledger against the
    /// guarantee. Never panics and never allocates more than the bytes can account for.
    ///
    /// # Errors
    ///
    /// [`CodecError`] for anything that is not a valid model.
    pub fn load(bytes: &[u8]) -> Result<Self, CodecError> {
        if bytes.len() > MAX_BYTES {
            return Err(CodecError::TooLarge);
        }
        let model = if bytes.starts_with(MAGIC) {
            from_binary(bytes)?
        } else if bytes.trim_ascii_start().starts_with(b"{") {
            from_json(bytes)?
        } else {
            return Err(CodecError::Unknown);
        };
        model.check()?;
        Ok(model)
    }
}

/// The version alone, so that a file of a later version is refused for that and not for its other keys.
#[derive(Deserialize)]
struct Versioned {
    format_version: u32,
}

fn known_version(got: u32) -> Result<(), CodecError> {
    if got == FORMAT_VERSION {
        Ok(())
    } else {
        Err(ModelError::Version { got }.into())
    }
}

fn from_json(bytes: &[u8]) -> Result<Model, CodecError> {
    let version: Versioned = serde_json::from_slice(bytes).map_err(|error| form(&error))?;
    known_version(version.format_version)?;
    serde_json::from_slice(bytes).map_err(|error| form(&error))
}

fn from_binary(bytes: &[u8]) -> Result<Model, CodecError> {
    let short = || CodecError::Length {
        expected: HEADER as u64,
        got: bytes.len() as u64,
    };
    let (head, body) = bytes.split_at_checked(HEADER).ok_or_else(short)?;
    let number = |at: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&head[at..at + 8]);
        u64::from_le_bytes(eight)
    };
    known_version(u32::from_le_bytes([head[8], head[9], head[10], head[11]]))?;
    if number(12) != body.len() as u64 {
        return Err(CodecError::Length {
            expected: (HEADER as u64).saturating_add(number(12)),
            got: bytes.len() as u64,
        });
    }
    if number(20) != fnv1a(body) {
        return Err(CodecError::Checksum);
    }
    let (model, used) =
        bincode::serde::decode_from_slice(body, config()).map_err(|error| form(&error))?;
    if used == body.len() {
        Ok(model)
    } else {
        Err(CodecError::Form("there are bytes after its end".to_owned()))
    }
}

/// Little endian varints; lengths that the bytes cannot hold are refused before anything is allocated.
fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<MAX_BYTES>()
}

fn form(error: &impl std::fmt::Display) -> CodecError {
    CodecError::Form(error.to_string())
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
