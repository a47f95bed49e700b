//! Cutting a stream of bytes into pieces that hold whole CSV records, so that pieces can be parsed side by side.
//!
//! Where cells are replaced, a record is a line, whatever quotes it holds: nobody's line takes others with it. Else the quoting rules
//! hold, and a quoted cell may go over lines.

use std::io::{self, Read};

/// Bytes that are read at once; a piece is seldom longer.
const PIECE: usize = 1 << 20;

/// Longest record. Without a bound, one open quote would swallow the rest of a file, and one endless line all memory.
pub(crate) const MAX_RECORD: usize = 1 << 20;

/// A part of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Whole records.
    Records { bytes: Vec<u8>, first_line: u64 },
    /// A line that begins a record with no end in sight: an open quote, or more than [`MAX_RECORD`] bytes.
    Broken { line: u64 },
}

/// Where in a record the scanner stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// After a quote inside quotes: the end of the field or one half of a doubled quote.
    QuoteInQuoted,
}

impl State {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::QuoteInQuoted,
            (Self::Quoted, _) | (Self::FieldStart | Self::QuoteInQuoted, b'"') => Self::Quoted,
            (_, b',' | b'\n' | b'\r') => Self::FieldStart,
            _ => Self::Plain,
        }
    }
}

/// Cuts a reader into [`Piece`]s.
pub(crate) struct Cutter<R> {
    reader: R,
    /// Bytes from the beginning of a record on.
    buffer: Vec<u8>,
    /// How many of them were scanned, and the state after them.
    scanned: usize,
    state: State,
    /// Number of the line that the buffer begins with, from 1.
    line: u64,
    at_end: bool,
    /// The rest of an overlong line is dropped.
    skipping: bool,
    /// Every line is a record, quotes or not.
    by_line: bool,
}

impl<R: Read> Cutter<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            scanned: 0,
            state: State::FieldStart,
            line: 1,
            at_end: false,
            skipping: false,
            by_line: false,
        }
    }

    /// Whether every line below the header is a record, quotes or not.
    pub(crate) const fn by_line(&mut self, by_line: bool) {
        self.by_line = by_line;
    }

    /// The first record, on its own: the header.
    pub(crate) fn header(&mut self) -> io::Result<Option<Piece>> {
        self.fill()?;
        if self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        // Blank lines before the header are no records.
        let blank = self
            .buffer
            .iter()
            .position(|byte| !matches!(byte, b'\n' | b'\r'));
        self.take(blank.unwrap_or(self.buffer.len()));
        if self.buffer.is_empty() {
            return Ok(None);
        }
        let mut state = State::FieldStart;
        for at in 0..self.buffer.len() {
            state = state.after(self.buffer[at]);
            // A carriage return on its own ends a line, too: else a file with no other line ends would be all header.
            let ends = match self.buffer[at] {
                b'\n' => true,
                b'\r' => self.buffer.get(at + 1).is_some_and(|&next| next != b'\n'),
                _ => false,
            };
            if ends && state == State::FieldStart {
                return Ok(Some(self.records_until(at + 1)));
            }
        }
        if self.at_end && state != State::Quoted {
            return Ok(Some(self.records_until(self.buffer.len())));
        }
        Ok(Some(Piece::Broken { line: self.line }))
    }

    /// The next piece; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if self.skipping {
                self.skip_line()?;
            }
            if let Some(end) = self.scan() {
                return Ok(Some(self.records_until(end)));
            }
            if self.at_end {
                if self.buffer.is_empty() {
                    return Ok(None);
                }
                if self.by_line || self.state != State::Quoted {
                    return Ok(Some(self.records_until(self.buffer.len())));
                }
                return Ok(Some(self.broken()));
            }
            // What was withheld may be half of a line end: a line is as long wherever it stands.
            if self.scanned > MAX_RECORD {
                return Ok(Some(self.broken()));
            }
            self.fill()?;
        }
    }

    /// Reads up to a piece more.
    fn fill(&mut self) -> io::Result<()> {
        let before = self.buffer.len();
        let limit = PIECE as u64;
        while self.buffer.len() - before < PIECE && !self.at_end {
            let left = limit - (self.buffer.len() - before) as u64;
            let read = (&mut self.reader)
                .take(left)
                .read_to_end(&mut self.buffer)?;
            self.at_end = (read as u64) < left;
        }
        Ok(())
    }

    /// The end of the last whole record among the bytes not scanned yet.
    fn scan(&mut self) -> Option<usize> {
        let fresh = &self.buffer[self.scanned..];
        let (mut end, mut withheld) = (None, 0);
        if self.by_line {
            // A carriage return at the very end may be half of a line end.
            withheld = usize::from(fresh.last() == Some(&b'\r') && !self.at_end);
            end = fresh[..fresh.len() - withheld]
                .iter()
                .rposition(|byte| matches!(byte, b'\n' | b'\r'))
                .map(|at| self.scanned + at + 1);
        } else if self.state != State::Quoted && !fresh.contains(&b'"') {
            end = fresh
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map(|at| self.scanned + at + 1);
            if let Some(&last) = fresh.last() {
                self.state = State::Plain.after(last);
            }
        } else {
            for (at, &byte) in fresh.iter().enumerate() {
                self.state = self.state.after(byte);
                if byte == b'\n' && self.state == State::FieldStart {
                    end = Some(self.scanned + at + 1);
                }
            }
        }
        self.scanned = self.buffer.len() - withheld;
        end
    }

    fn records_until(&mut self, end: usize) -> Piece {
        let rest = self.buffer.split_off(end);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        self.scanned = self.scanned.saturating_sub(end);
        let first_line = self.line;
        self.line += count_lines(&bytes);
        Piece::Records { bytes, first_line }
    }

    /// Gives up on the record that the buffer begins with: its first line is dropped, the next one begins anew.
    fn broken(&mut self) -> Piece {
        let line = self.line;
        self.skipping = true;
        Piece::Broken { line }
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let by_line = self.by_line;
            let ends = |byte: &u8| *byte == b'\n' || (by_line && *byte == b'\r');
            if let Some(at) = self.buffer.iter().position(ends) {
                if self.buffer[at] == b'\r' && self.buffer.len() == at + 1 && !self.at_end {
                    // It may be half of a line end.
                    self.fill()?;
                }
                let end = if self.buffer[at..].starts_with(b"\r\n") {
                    2
                } else {
                    1
                };
                self.take(at + end);
                break;
            }
            self.take(self.buffer.len());
            if self.at_end {
                break;
            }
            self.fill()?;
        }
        self.skipping = false;
        Ok(())
    }

    /// Drops bytes; what is left is scanned anew.
    fn take(&mut self, end: usize) {
        self.line += count_lines(&self.buffer[..end]);
        self.buffer.drain(..end);
        self.scanned = 0;
        self.state = State::FieldStart;
    }
}

/// How the quotes of one line stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quotes {
    /// None, or cells that are quoted from end to end, as the rules have it.
    Regular,
    /// Within a cell, or with letters after the closing one: readers differ on what that means.
    Odd,
    /// A quoted cell has no end.
    Open,
}

/// How the quotes of a line stand, without its end.
pub(crate) fn quotes(line: &[u8]) -> Quotes {
    let (mut state, mut odd) = (State::FieldStart, false);
    for &byte in line {
        let next = state.after(byte);
        odd |= match state {
            State::Plain => byte == b'"',
            State::QuoteInQuoted => next == State::Plain,
            State::FieldStart | State::Quoted => false,
        };
        state = next;
    }
    match state {
        State::Quoted => Quotes::Open,
        _ if odd => Quotes::Odd,
        _ => Quotes::Regular,
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

#[cfg(test)]
mod tests;
