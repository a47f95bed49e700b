//! What a run writes is not what it reads, and can be written: known before anything is read or spent.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// A file that a run will write, with the flag that names it.
pub(crate) type Output<'a> = (&'static str, Option<&'a Path>);

/// Refuses outputs that would replace an input or each other, and those in folders where nothing can be written.
pub(crate) fn check<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: &[Output<'_>],
) -> Result<(), Failure> {
    let read: Vec<PathBuf> = inputs.into_iter().filter_map(place).collect();
    let mut written: Vec<(&str, PathBuf)> = Vec::new();
    for &(flag, path) in outputs {
        let Some(path) = path else { continue };
        let Some(at) = place(path) else { continue };
        if read.contains(&at) {
            return Err(Failure::usage(format!(
                "{flag}: `{}` is read by this run, and the result would replace it",
                path.display()
            )));
        }
        if let Some((other, _)) = written.iter().find(|(_, other)| *other == at) {
            return Err(Failure::usage(format!(
                "{other} and {flag} name the same file, `{}`",
                path.display()
            )));
        }
        writable(path)?;
        written.push((flag, at));
    }
    Ok(())
}

/// The file itself, whatever links and dots lead to it; none for stdin, devices and pipes, which hold nothing that could be lost.
fn place(path: &Path) -> Option<PathBuf> {
    if path.as_os_str() == "-" || fs::metadata(path).is_ok_and(|found| !is_replaced(&found)) {
        return None;
    }
    let whole = || Some(folder(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize()
        .ok()
        .or_else(whole)
        .or_else(|| Some(path.to_owned()))
}

/// Whether writing means another file in its place; a device or a pipe is written to.
fn is_replaced(found: &fs::Metadata) -> bool {
    found.is_file() || found.is_dir()
}

/// Files are written beside their place first, so a folder must take a new one.
fn writable(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        let message = format!("{}: it is a folder", path.display());
        return Err(Failure::data(message));
    }
    NamedTempFile::new_in(folder(path))
        .map(drop)
        .map_err(|error| Failure::file(path, &error))
}

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str() != OsStr::new("") => folder,
        _ => Path::new("."),
    }
}
