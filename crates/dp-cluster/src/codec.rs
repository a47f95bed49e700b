//! Models as bytes: JSON, and a binary form.
//!
//! # The binary form
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | the magic `\x89DPCLUS\n` (a synopsis: `\x89DPSYNO\n`) |
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

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{FORMAT_VERSION, Model, ModelError};
use crate::synopsis::Synopsis;

#[cfg(test)]
mod tests;

const HEADER: usize = 28;

/// Largest file that is read.
pub const MAX_BYTES: usize = 1 << 28;

/// Memory that reading takes at most for each byte of the file, beside [`MEMORY_PER_LIST`] for each list that is open.
///
/// The worst byte is an element of a list of public parameters that says `null`: one byte in the binary form, 32 in memory. A list
/// that grows holds its old and its new place at once, of which the new one has twice the room: 3 · 32. Everything else has more
/// bytes in the file for what it takes in memory: an empty list or text 24 · 3 for a byte; a parameter in a table, where a table of
/// eleven is at least half full but for the last, 200 for four; a table of one in an event, with the event, 1,100 for eighteen.
pub const MEMORY_PER_BYTE: usize = 96;

/// Memory that a list takes ahead for elements that the file only announces; lists are nested eight deep at most.
pub const MEMORY_PER_LIST: usize = 1 << 20;

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

/// What is kept in files.
trait Filed: Serialize + DeserializeOwned {
    /// The first bytes of the binary form.
    const MAGIC: &'static [u8; 8];

    /// Whether the content holds together.
    fn holds(&self) -> Result<(), ModelError>;
}

impl Filed for Model {
    const MAGIC: &'static [u8; 8] = b"\x89DPCLUS\n";

    fn holds(&self) -> Result<(), ModelError> {
        self.check()
    }
}

impl Filed for Synopsis {
    const MAGIC: &'static [u8; 8] = b"\x89DPSYNO\n";

    fn holds(&self) -> Result<(), ModelError> {
        self.check()
    }
}

/// The public face of [`Filed`], once per type.
macro_rules! filed {
    ($type:ty, $what:literal, $to_json:path) => {
        impl $type {
            #[doc = concat!("The JSON form of a ", $what, ", with a newline at its end; floats in their shortest exact form.")]
            ///
            /// # Errors
            ///
            /// [`CodecError`] if the content is not valid.
            pub fn to_json(&self) -> Result<String, CodecError> {
                self.check()?;
                let mut text = $to_json(self).map_err(|error| form(&error))?;
                text.push('\n');
                Ok(text)
            }

            /// The binary form.
            ///
            /// # Errors
            ///
            /// [`CodecError`] if the content is not valid.
            pub fn to_binary(&self) -> Result<Vec<u8>, CodecError> {
                to_binary(self)
            }

            /// Reads either form and checks everything: shapes, numbers, bounds, and the ledger against the
            /// guarantee. Never panics.
            ///
            /// Takes at most [`MEMORY_PER_BYTE`] times the bytes of the file, and 8 [`MEMORY_PER_LIST`], whatever lengths they announce.
            ///
            /// # Errors
            ///
            /// [`CodecError`] for anything that is not valid.
            pub fn load(bytes: &[u8]) -> Result<Self, CodecError> {
                load(bytes)
            }
        }
    };
}

filed!(Model, "model", serde_json::to_string_pretty);
// One line: a synopsis has a number per cell.
filed!(Synopsis, "synopsis", serde_json::to_string);

fn to_binary<T: Filed>(value: &T) -> Result<Vec<u8>, CodecError> {
    value.holds()?;
    let body = bincode::serde::encode_to_vec(value, config()).map_err(|error| form(&error))?;
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(T::MAGIC);
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&fnv1a(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    Ok(bytes)
}

fn load<T: Filed>(bytes: &[u8]) -> Result<T, CodecError> {
    if bytes.len() > MAX_BYTES {
        return Err(CodecError::TooLarge);
    }
    let value: T = if bytes.starts_with(T::MAGIC) {
        from_binary(bytes)?
    } else if bytes.trim_ascii_start().starts_with(b"{") {
        from_json(bytes)?
    } else {
        return Err(CodecError::Unknown);
    };
    value.holds()?;
    Ok(value)
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

fn from_json<T: Filed>(bytes: &[u8]) -> Result<T, CodecError> {
    let version: Versioned = serde_json::from_slice(bytes).map_err(|error| form(&error))?;
    known_version(version.format_version)?;
    serde_json::from_slice(bytes).map_err(|error| form(&error))
}

fn from_binary<T: Filed>(bytes: &[u8]) -> Result<T, CodecError> {
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
