//! Pieces of CSV to rows of numbers.

use csv::ByteRecord;

use super::cut::{MAX_RECORD, Quotes, quotes};
use super::number;

/// What becomes of cells and rows that are no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// They are an error.
    Refuse,
    /// They become NaN, which every domain takes for the middle of its bounds, and every line is one record: then a line makes one
    /// record whatever its bytes are, and takes no other line with it.
    Replace,
}

/// What to take from each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Number of cells that each row must have.
    pub(crate) width: usize,
    /// Indexes of the chosen columns, in order.
    pub(crate) chosen: Vec<usize>,
    /// Index of the column with known classes.
    pub(crate) class: Option<usize>,
    pub(crate) policy: Policy,
}

/// Rows of a piece.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Row after row.
    pub(crate) values: Vec<f64>,
    /// Classes as written, if asked for.
    pub(crate) classes: Vec<Vec<u8>>,
}

/// The first thing wrong with a piece; the line counts from 1 within the piece.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadRow {
    pub(crate) line: u64,
    pub(crate) fault: Fault,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A cell (index of the column in the file) that is no finite number.
    NotANumber(usize),
    /// A cell that holds nothing.
    Missing(usize),
    /// The row ends before this column.
    Short(usize),
    /// The row goes on after the last column.
    Long,
}

impl Layout {
    /// A row of which nothing is known.
    pub(crate) fn unknown_row(&self, rows: &mut Rows) {
        rows.values.extend(self.chosen.iter().map(|_| f64::NAN));
        if self.class.is_some() {
            rows.classes.push(Vec::new());
        }
    }

    /// Parses whole records.
    pub(crate) fn parse(&self, bytes: &[u8]) -> Result<Rows, BadRow> {
        let mut rows = Rows::default();
        match self.policy {
            // In one column a cell that holds nothing is a blank line, which a reader of records passes over.
            Policy::Refuse if self.width == 1 => match blank_line(bytes) {
                Some(at) => {
                    self.records(&bytes[..at], &mut rows)?;
                    return Err(BadRow {
                        line: 1 + line_feeds(&bytes[..at]),
                        fault: Fault::Missing(0),
                    });
                }
                None => self.records(bytes, &mut rows)?,
            },
            Policy::Refuse => self.records(bytes, &mut rows)?,
            Policy::Replace => self.lines(bytes, &mut rows)?,
        }
        Ok(rows)
    }

    /// Parses lines, each of which is a record, as a function of that line alone.
    fn lines(&self, bytes: &[u8], rows: &mut Rows) -> Result<(), BadRow> {
        // Where the lines begin that can be parsed together: none of them has a quote that joins it with the next.
        let (mut begin, mut start) = (0, 0);
        while start < bytes.len() {
            let rest = &bytes[start..];
            let length = rest
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .unwrap_or(rest.len());
            let line = &rest[..length];
            let end = if rest[length..].starts_with(b"\r\n") {
                2
            } else {
                1
            };
            let quotes = if length == 0 || length > MAX_RECORD {
                // Nothing, which a reader of records passes over, or more than it keeps: a record of which nothing is known.
                Quotes::Open
            } else {
                quotes(line)
            };
            if quotes != Quotes::Regular {
                self.records(&bytes[begin..start], rows)?;
                match quotes {
                    Quotes::Open => self.unknown_row(rows),
                    Quotes::Odd | Quotes::Regular => self.records(line, rows)?,
                }
                begin = start + length;
            }
            start += length + end;
        }
        self.records(&bytes[begin..], rows)
    }

    fn records(&self, bytes: &[u8], rows: &mut Rows) -> Result<(), BadRow> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        let mut record = ByteRecord::new();
        // Reading from memory fails on nothing: rows of any width were allowed, and bytes need not be text.
        while reader.read_byte_record(&mut record).unwrap_or(false) {
            if let Err(fault) = self.row(&record, rows) {
                let start = record.position().map_or(0, csv::Position::byte);
                return Err(BadRow {
                    line: line_of(bytes, start),
                    fault,
                });
            }
        }
        Ok(())
    }

    fn row(&self, record: &ByteRecord, rows: &mut Rows) -> Result<(), Fault> {
        if record.len() != self.width {
            if self.policy == Policy::Replace {
                self.unknown_row(rows);
                return Ok(());
            }
            return Err(if record.len() < self.width {
                Fault::Short(record.len())
            } else {
                Fault::Long
            });
        }
        for &column in &self.chosen {
            let cell = record.get(column).unwrap_or_default();
            let value = match (number::finite(cell), self.policy) {
                (Some(value), _) => value,
                (None, Policy::Replace) => f64::NAN,
                (None, Policy::Refuse) if cell.trim_ascii().is_empty() => {
                    return Err(Fault::Missing(column));
                }
                (None, Policy::Refuse) => return Err(Fault::NotANumber(column)),
            };
            rows.values.push(value);
        }
        if let Some(column) = self.class {
            rows.classes
                .push(record.get(column).unwrap_or_default().to_vec());
        }
        Ok(())
    }
}

/// The line, from 1, of the record at or after this place. The reader's own count stands before the line feeds that
/// it skips ahead of a record.
fn line_of(bytes: &[u8], start: u64) -> u64 {
    let start = usize::try_from(start)
        .unwrap_or(bytes.len())
        .min(bytes.len());
    let skipped = bytes[start..]
        .iter()
        .take_while(|byte| matches!(byte, b'\n' | b'\r'));
    1 + line_feeds(&bytes[..start + skipped.count()])
}

fn line_feeds(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

/// Where the first line begins that holds nothing.
fn blank_line(bytes: &[u8]) -> Option<usize> {
    let is_blank = |&at: &usize| {
        let rest = &bytes[at..];
        rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
    };
    let feeds = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let after = feeds.map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).find(is_blank)
}

#[cfg(test)]
mod tests;
