//! A CSV file as a source of records that can be read again and again in bounded memory.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::time::SystemTime;

use dp_cluster::{RecordSource, Records, SourceError};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::cut::{Cutter, Piece};
use super::number;
use super::parse::{BadRow, Fault, Layout, Policy, Rows};
use super::{Input, ReadError};

/// Numbers of a table of up to this many bytes are kept in memory: reading it again would take longer.
const KEPT_BYTES: usize = 128 << 20;

/// A row of data in the place of the header would be released with each model; so its cells are not told either.
const NUMBERS: &str = "the first line has numbers where names of columns should stand: add a header, or choose columns by name with --columns";

/// Other separators than commas.
const SEPARATOR: &str =
    "the header is one name with a semicolon or a tab in it: cells are separated by commas";

/// What to read from a table.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// Names of columns in order; all without.
    pub(crate) columns: Option<Vec<String>>,
    /// Name of the column with known classes.
    pub(crate) class: Option<String>,
    pub(crate) policy: Policy,
}

/// A table whose every row was checked once.
#[derive(Debug)]
pub(crate) struct CsvSource {
    input: Input,
    header: Header,
    /// All numbers, where they are kept.
    kept: Option<Vec<f64>>,
    n: u64,
    stamp: Option<Stamp>,
    classes: Vec<usize>,
}

/// The header, and what is read below it.
#[derive(Clone, Debug)]
struct Header {
    names: Vec<String>,
    layout: Layout,
}

/// Size and time of change: a file that is written while it is read would be no data set at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl CsvSource {
    /// Opens a table and reads it once, so that whatever is wrong with it is said before any mechanism runs.
    pub(crate) fn open(input: Input, selection: Selection) -> Result<Self, ReadError> {
        Self::open_keeping(KEPT_BYTES, input, selection)
    }

    /// As [`open`](Self::open), keeping numbers of up to so many bytes.
    fn open_keeping(
        kept_bytes: usize,
        input: Input,
        selection: Selection,
    ) -> Result<Self, ReadError> {
        let keep_all = !input.is_repeatable();
        let stamp = stamp(&input);
        let mut cutter = open(&input)?;
        let policy = selection.policy;
        let header = Header::read(&mut cutter, &input, selection)?;
        cutter.by_line(policy == Policy::Replace);
        let mut source = Self {
            input,
            header,
            kept: Some(Vec::new()),
            n: 0,
            stamp,
            classes: Vec::new(),
        };
        let dimension = source.columns().count();
        let (mut kept, mut n) = (Some(Vec::new()), 0_u64);
        let mut names: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut classes = Vec::new();
        source.for_each_batch(&mut cutter, &mut |rows: Rows| {
            n += (rows.values.len() / dimension) as u64;
            for name in rows.classes {
                let fresh = names.len();
                classes.push(*names.entry(name).or_insert(fresh));
            }
            if let Some(values) = &mut kept {
                let length = values.len() + rows.values.len();
                if keep_all || length * size_of::<f64>() <= kept_bytes {
                    values.extend(rows.values);
                } else {
                    kept = None;
                }
            }
            Ok::<(), ReadError>(())
        })?;
        (source.kept, source.n, source.classes) = (kept, n, classes);
        Ok(source)
    }

    /// Names of the chosen columns, from the header alone; none where bytes come only once.
    pub(crate) fn columns_of(
        input: &Input,
        selection: &Selection,
    ) -> Result<Option<Vec<String>>, ReadError> {
        if !input.is_repeatable() {
            return Ok(None);
        }
        let header = Header::read(&mut open(input)?, input, selection.clone())?;
        let chosen = header.layout.chosen.iter();
        Ok(Some(
            chosen.map(|&column| header.names[column].clone()).collect(),
        ))
    }

    /// Names of the chosen columns, in order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        let chosen = self.header.layout.chosen.iter();
        chosen.map(|&column| self.header.names[column].as_str())
    }

    /// Class of each record, numbered in order of appearance.
    pub(crate) fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// All records as an array.
    pub(crate) fn into_array(self) -> Result<Array2<f64>, ReadError> {
        let dimension = self.dimension();
        let file = self.input.name();
        let too_large = || ReadError::File {
            file: file.clone(),
            what: "the table is too large for its purpose".to_owned(),
        };
        let values = self.kept.ok_or_else(too_large)?;
        Array2::from_shape_vec((values.len() / dimension, dimension), values)
            .map_err(|_| too_large())
    }

    /// Parses pieces side by side and hands them on in order.
    fn for_each_batch<E: From<ReadError>>(
        &self,
        cutter: &mut Cutter<Box<dyn io::Read>>,
        visit: &mut dyn FnMut(Rows) -> Result<(), E>,
    ) -> Result<(), E> {
        let pieces_at_once = 2 * rayon::current_num_threads();
        let mut at_end = false;
        while !at_end {
            let mut pieces = Vec::with_capacity(pieces_at_once);
            while pieces.len() < pieces_at_once && !at_end {
                match cutter
                    .next()
                    .map_err(|error| io_error(&self.input, error))?
                {
                    Some(piece) => pieces.push(piece),
                    None => at_end = true,
                }
            }
            let parsed: Vec<Result<Rows, ReadError>> = pieces
                .into_par_iter()
                .map(|piece| self.parse(&piece))
                .collect();
            let mut batch = Rows::default();
            for rows in parsed {
                let rows = rows?;
                if batch.values.is_empty() && batch.classes.is_empty() {
                    batch = rows;
                } else {
                    batch.values.extend(rows.values);
                    batch.classes.extend(rows.classes);
                }
            }
            visit(batch)?;
        }
        Ok(())
    }

    fn parse(&self, piece: &Piece) -> Result<Rows, ReadError> {
        let layout = &self.header.layout;
        match piece {
            Piece::Records { bytes, first_line } => layout
                .parse(bytes)
                .map_err(|bad| self.header.describe(&self.input, *first_line, &bad)),
            Piece::Broken { .. } if layout.policy == Policy::Replace => {
                let mut rows = Rows::default();
                layout.unknown_row(&mut rows);
                Ok(rows)
            }
            Piece::Broken { line } => Err(broken(&self.input, *line)),
        }
    }

    /// Reads the file again.
    fn reread(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        let changed =
            || io::Error::other(format!("{} changed while it was read", self.input.name()));
        if stamp(&self.input) != self.stamp {
            return Err(changed().into());
        }
        let mut cutter = open(&self.input).map_err(io::Error::other)?;
        let mut header = cutter.header()?;
        if !matches!(header.take(), Some(Piece::Records { .. })) {
            return Err(changed().into());
        }
        cutter.by_line(self.header.layout.policy == Policy::Replace);
        let dimension = self.dimension();
        let mut n = 0;
        self.for_each_batch(&mut cutter, &mut |rows: Rows| {
            n += (rows.values.len() / dimension) as u64;
            visit(view(&rows.values, dimension)?).map_err(Reread)
        })
        .map_err(|error: Reread| error.0)?;
        if n == self.n {
            Ok(())
        } else {
            Err(changed().into())
        }
    }
}

/// Both kinds of errors of a later reading.
struct Reread(SourceError);

impl From<ReadError> for Reread {
    fn from(error: ReadError) -> Self {
        Self(io::Error::other(error).into())
    }
}

impl From<SourceError> for Reread {
    fn from(error: SourceError) -> Self {
        Self(error)
    }
}

fn view(values: &[f64], dimension: usize) -> Result<Records<'_>, SourceError> {
    ArrayView2::from_shape((values.len() / dimension, dimension), values)
        .map(Records::from)
        .map_err(|error| io::Error::other(error).into())
}

impl RecordSource for CsvSource {
    fn dimension(&self) -> usize {
        self.header.layout.chosen.len()
    }

    fn for_each_chunk(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        match &self.kept {
            Some(values) => visit(view(values, self.dimension())?),
            None => self.reread(visit),
        }
    }
}

impl Header {
    fn read(
        cutter: &mut Cutter<Box<dyn io::Read>>,
        input: &Input,
        selection: Selection,
    ) -> Result<Self, ReadError> {
        let file = || input.name();
        let no_header = |what: &str| ReadError::File {
            file: file(),
            what: what.to_owned(),
        };
        let bytes = match cutter.header().map_err(|error| io_error(input, error))? {
            None => {
                return Err(no_header(
                    "the file is empty; a header with column names is needed",
                ));
            }
            Some(Piece::Broken { line }) => return Err(broken(input, line)),
            Some(Piece::Records { bytes, .. }) => bytes,
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(bytes.as_slice());
        let names: Vec<String> = match reader.records().next() {
            Some(Ok(record)) => record.iter().map(|name| name.trim().to_owned()).collect(),
            _ => {
                return Err(no_header(
                    "the header must be text: save the table as CSV in UTF-8, and name it .gz if it is compressed",
                ));
            }
        };
        let are_data = names
            .iter()
            .any(|name| number::finite(name.as_bytes()).is_some());
        if selection.columns.is_none() {
            if are_data {
                return Err(no_header(NUMBERS));
            }
            if let [whole] = names.as_slice()
                && whole.contains([';', '\t'])
            {
                return Err(no_header(SEPARATOR));
            }
        }
        let find = |name: &str| {
            let mut places = names.iter().enumerate().filter(|(_, other)| *other == name);
            match (places.next(), places.next()) {
                (Some((place, _)), None) => Ok(place),
                (Some(_), Some(_)) => Err(ReadError::File {
                    file: file(),
                    what: format!("the header names the column `{name}` twice"),
                }),
                (None, _) if are_data => Err(no_header(NUMBERS)),
                (None, _) => Err(ReadError::File {
                    file: file(),
                    what: format!(
                        "there is no column `{name}`; there are {}",
                        names
                            .iter()
                            .map(|name| format!("`{name}`"))
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                }),
            }
        };
        let wanted = selection.columns.unwrap_or_else(|| names.clone());
        let chosen = wanted
            .iter()
            .map(|name| find(name))
            .collect::<Result<Vec<_>, _>>()?;
        if chosen.is_empty() {
            return Err(no_header("no column was chosen"));
        }
        let class = selection.class.as_deref().map(find).transpose()?;
        Ok(Self {
            layout: Layout {
                width: names.len(),
                chosen,
                class,
                policy: selection.policy,
            },
            names,
        })
    }

    /// Says where a fault is; lines count from the beginning of the file.
    fn describe(&self, input: &Input, first_line: u64, bad: &BadRow) -> ReadError {
        let file = input.name();
        let line = first_line + bad.line - 1;
        let cell = |column: usize, what| ReadError::Cell {
            file: file.clone(),
            line,
            column: self.names.get(column).cloned().unwrap_or_default(),
            what,
        };
        match bad.fault {
            Fault::NotANumber(column) => cell(column, "the cell is no finite number"),
            Fault::Missing(column) => cell(column, "the cell is empty"),
            Fault::Short(column) => cell(column, "the row ends before this column"),
            Fault::Long => cell(
                self.names.len() - 1,
                "the row goes on after this last column",
            ),
        }
    }
}

fn open(input: &Input) -> Result<Cutter<Box<dyn io::Read>>, ReadError> {
    let reader = input.open().map_err(|error| io_error(input, error))?;
    Ok(Cutter::new(reader))
}

fn io_error(input: &Input, error: io::Error) -> ReadError {
    ReadError::Io {
        file: input.name(),
        error,
    }
}

fn broken(input: &Input, line: u64) -> ReadError {
    ReadError::Row {
        file: input.name(),
        line,
        what: "the row has no end: a quote is not closed, or it is longer than 1 MiB".to_owned(),
    }
}

fn stamp(input: &Input) -> Option<Stamp> {
    match input {
        Input::Stdin => None,
        Input::Plain(path) | Input::Gzip(path) => fs::metadata(path).ok().map(|metadata| Stamp {
            length: metadata.len(),
            modified: metadata.modified().ok(),
        }),
    }
}

#[cfg(test)]
mod tests;
