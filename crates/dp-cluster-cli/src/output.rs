//! Writing: results to stdout, remarks to stderr, files as a whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use dp_cluster::{Model, Statement, Synopsis};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::paths::folder;

/// A remark on stderr. Whether anybody hears it does not matter.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A result on stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::stdout(&error))
}

/// Writes a file as a whole: under another name in the same folder first, then moved into place.
pub(crate) fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let compress = path.extension().is_some_and(|ending| ending == "gz");
    let write = || -> io::Result<()> {
        // What is no regular file (a device, a pipe) cannot be replaced, only written to.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let mut file = fs::OpenOptions::new().write(true).open(path)?;
            return fill(&mut file);
        }
        let temporary = NamedTempFile::new_in(folder(path))?;
        let mut writer = BufWriter::with_capacity(1 << 16, temporary);
        if compress {
            let mut encoder = GzEncoder::new(&mut writer, Compression::default());
            fill(&mut encoder)?;
            encoder.finish()?;
        } else {
            fill(&mut writer)?;
        }
        let temporary = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        readable(&temporary, path)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| Failure::file(path, &error))
}

/// Temporary files are for their owner alone; a result keeps the rights of the file it replaces, or gets the usual
/// ones: readable by all, as the system's mask allows.
#[cfg(unix)]
fn readable(temporary: &NamedTempFile, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match fs::metadata(path) {
        Ok(metadata) => metadata.permissions().mode(),
        // There is no safe way to ask for the mask: a file made the usual way shows it.
        Err(_) => {
            let probe = temporary.path().with_extension("mode");
            let file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&probe)?;
            let mode = file.metadata()?.permissions().mode();
            fs::remove_file(&probe)?;
            mode
        }
    };
    temporary
        .as_file()
        .set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn readable(_temporary: &NamedTempFile, _path: &Path) -> io::Result<()> {
    Ok(())
}

/// The form of a model file, from its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelForm {
    Json,
    Binary,
}

impl ModelForm {
    pub(crate) fn of(flag: &str, path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => Ok(Self::Json),
            Some("bin") => Ok(Self::Binary),
            _ => Err(Failure::usage(format!(
                "{flag}: the ending of `{}` must be .json or .bin",
                path.display()
            ))),
        }
    }
}

/// Writes a model in the form that the ending of `path` says.
pub(crate) fn write_model(path: &Path, model: &Model) -> Result<(), Failure> {
    let bytes = match ModelForm::of("--out", path)? {
        ModelForm::Json => model.to_json()?.into_bytes(),
        ModelForm::Binary => model.to_binary()?,
    };
    write_file(path, |file| file.write_all(&bytes))
}

/// Writes a synopsis in the form that the ending of `path` says.
pub(crate) fn write_synopsis(path: &Path, synopsis: &Synopsis) -> Result<(), Failure> {
    let bytes = match ModelForm::of("--synopsis-out", path)? {
        ModelForm::Json => synopsis.to_json()?.into_bytes(),
        ModelForm::Binary => synopsis.to_binary()?,
    };
    write_file(path, |file| file.write_all(&bytes))
}

/// A release that was saved.
pub(crate) enum Release {
    Model(Box<Model>),
    Synopsis(Box<Synopsis>),
}

impl Release {
    /// What it promises.
    pub(crate) fn statement(&self) -> Statement<'_> {
        match self {
            Self::Model(model) => (&**model).into(),
            Self::Synopsis(synopsis) => (&**synopsis).into(),
        }
    }
}

/// Reads a release, in any form.
pub(crate) fn read_release(path: &Path) -> Result<Release, Failure> {
    let bytes = read_limited(path)?;
    let not_a_model = match Model::load(&bytes) {
        Ok(model) => return Ok(Release::Model(Box::new(model))),
        Err(error) => error,
    };
    match Synopsis::load(&bytes) {
        Ok(synopsis) => Ok(Release::Synopsis(Box::new(synopsis))),
        // What is neither was more likely meant as a model.
        Err(_) => Err(Failure::data(format!("{}: {not_a_model}", path.display()))),
    }
}

/// Reads a model in either form.
pub(crate) fn read_model(path: &Path) -> Result<Model, Failure> {
    match read_release(path)? {
        Release::Model(model) => Ok(*model),
        Release::Synopsis(_) => Err(Failure::data(format!(
            "{}: this is a synopsis, not a model",
            path.display()
        ))
        .help("`dp-cluster recluster` makes a model of it, at no cost")),
    }
}

/// Reads a synopsis in either form.
pub(crate) fn read_synopsis(path: &Path) -> Result<Synopsis, Failure> {
    let bytes = read_limited(path)?;
    Synopsis::load(&bytes).map_err(|error| {
        if Model::load(&bytes).is_ok() {
            let message = format!("{}: this is a model, not a synopsis", path.display());
            return Failure::data(message).help("`dp-cluster fit --synopsis-out` writes one");
        }
        Failure::data(format!("{}: {error}", path.display()))
    })
}

/// The bytes of a file, but one more than is accepted at most: what is too large is seen without being read.
fn read_limited(path: &Path) -> Result<Vec<u8>, Failure> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let limit = dp_cluster::codec::MAX_BYTES as u64 + 1;
    fs::File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| Failure::file(path, &error))?;
    Ok(bytes)
}

/// Writes rows of numbers under a header.
pub(crate) fn write_table<'a>(
    path: &Path,
    columns: &[String],
    rows: impl IntoIterator<Item = &'a [f64]>,
) -> Result<(), Failure> {
    write_file(path, |file| {
        let mut csv = csv::Writer::from_writer(file);
        csv.write_record(columns)?;
        for row in rows {
            csv.write_record(row.iter().map(f64::to_string))?;
        }
        csv.flush()
    })
}
