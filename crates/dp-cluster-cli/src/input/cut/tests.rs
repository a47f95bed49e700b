use super::*;

/// Header and records, joined, with the lines of broken records.
fn cut(bytes: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>, Vec<u64>) {
    let mut cutter = Cutter::new(bytes);
    let Some(Piece::Records { bytes: header, .. }) = cutter.header().expect("in memory") else {
        panic!("there is a header");
    };
    let (mut pieces, mut broken) = (Vec::new(), Vec::new());
    let mut next_line = 1 + count_lines(&header);
    while let Some(piece) = cutter.next().expect("in memory") {
        match piece {
            Piece::Records { bytes, first_line } => {
                assert!(first_line >= next_line);
                next_line = first_line + count_lines(&bytes);
                pieces.push(bytes);
            }
            Piece::Broken { line } => broken.push(line),
        }
    }
    (header, pieces, broken)
}

#[test]
fn nothing_is_lost_and_pieces_end_with_records() {
    let mut file = b"a,b\n".to_vec();
    for i in 0..200_000 {
        file.extend_from_slice(format!("{i},\"x\n{i}\"\n").as_bytes());
    }
    let (header, pieces, broken) = cut(&file);
    assert_eq!(header, b"a,b\n");
    assert!(pieces.len() > 2 && broken.is_empty());
    assert_eq!([header, pieces.concat()].concat(), file);
    for piece in &pieces {
        assert!(piece.ends_with(b"\"\n"));
        let parts = piece.split(|&byte| byte == b'"').count();
        assert_eq!(parts % 2, 1, "quotes come in pairs");
    }
}

#[test]
fn a_header_may_be_quoted_over_lines_and_follow_blank_ones() {
    let (header, pieces, _) = cut(b"\xef\xbb\xbf\r\n\n\"a\nb\",c\n1,2\n");
    assert_eq!(header, b"\"a\nb\",c\n");
    assert_eq!(pieces.concat(), b"1,2\n");
}

#[test]
fn lines_may_end_with_carriage_returns_alone() {
    let (header, pieces, broken) = cut(b"a,\"b\rc\"\r1,2\r3,4\r");
    assert_eq!(header, b"a,\"b\rc\"\r");
    assert_eq!(pieces.concat(), b"1,2\r3,4\r");
    assert!(broken.is_empty());
}

#[test]
fn the_last_record_needs_no_line_end() {
    let (header, pieces, _) = cut(b"a\n1\n2");
    assert_eq!(
        (header.as_slice(), pieces.concat().as_slice()),
        (&b"a\n"[..], &b"1\n2"[..])
    );
    assert_eq!(cut(b"a").0, b"a");
}

#[test]
fn an_open_quote_costs_one_line() {
    let (_, pieces, broken) = cut(b"a\n1\n\"2\n3\n4\n");
    assert_eq!(pieces.concat(), b"1\n3\n4\n");
    assert_eq!(broken, [3]);
}

/// Pieces below the header where every line is a record.
fn cut_by_line(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut cutter = Cutter::new(bytes);
    cutter.header().expect("in memory");
    cutter.by_line(true);
    let (mut records, mut broken) = (Vec::new(), 0);
    while let Some(piece) = cutter.next().expect("in memory") {
        match piece {
            Piece::Records { bytes, .. } => records.extend(bytes),
            Piece::Broken { .. } => broken += 1,
        }
    }
    (records, broken)
}

#[test]
fn by_line_quotes_join_nothing() {
    let file = b"a\n\"1\n2\n\"3\r4\r\n\"";
    assert_eq!(cut_by_line(file), (file[2..].to_vec(), 0));
    // Lines that end with carriage returns alone, more than one piece of them.
    let mut file = b"a\r".to_vec();
    file.extend(b"\"12345\r".repeat(500_000));
    assert_eq!(cut_by_line(&file), (file[2..].to_vec(), 0));
}

#[test]
fn an_endless_line_costs_itself() {
    let mut file = b"a\n1\n".to_vec();
    file.extend(std::iter::repeat_n(b'7', 3 * MAX_RECORD));
    file.extend_from_slice(b"\n2\n");
    let (_, pieces, broken) = cut(&file);
    assert_eq!(pieces.concat(), b"1\n2\n");
    assert_eq!(broken, [3]);
}

#[test]
fn an_empty_file_has_no_header() {
    assert_eq!(Cutter::new(&b""[..]).header().expect("in memory"), None);
    assert_eq!(
        Cutter::new(&b"\n\r\n"[..]).header().expect("in memory"),
        None
    );
}

#[test]
fn states_follow_the_quoting_rules() {
    let end = |text: &[u8]| {
        text.iter()
            .fold(State::FieldStart, |state, &byte| state.after(byte))
    };
    assert_eq!(end(b"\"a,\n"), State::Quoted);
    assert_eq!(end(b"\"a\"\"b"), State::Quoted);
    assert_eq!(end(b"\"a\""), State::QuoteInQuoted);
    assert_eq!(end(b"\"a\","), State::FieldStart);
    // A quote inside a plain field is a letter.
    assert_eq!(end(b"5\" pipe\n"), State::FieldStart);
}

#[test]
fn regular_quotes_are_told_from_others() {
    for (line, expected) in [
        (&b"1,x"[..], Quotes::Regular),
        (b"\"a, \"\"b\"\"\",\"\",c", Quotes::Regular),
        (b"5\" pipe", Quotes::Odd),
        (b"\"a\"b,c", Quotes::Odd),
        (b"\"a\"b,\"c", Quotes::Open),
        (b"\"", Quotes::Open),
        (b"a,\"b\"\"", Quotes::Open),
    ] {
        assert_eq!(quotes(line), expected);
    }
}

/// Half of a line end would look like a blank line.
#[test]
fn a_line_end_of_two_bytes_is_never_cut() {
    for before in PIECE - 8..PIECE + 8 {
        let mut bytes = b"a\r\n".to_vec();
        bytes.resize(before, b'1');
        bytes.extend_from_slice(b"\r\n2\r\n");
        let mut cutter = Cutter::new(bytes.as_slice());
        cutter.header().expect("in memory");
        cutter.by_line(true);
        while let Some(piece) = cutter.next().expect("in memory") {
            if let Piece::Records { bytes, .. } = piece {
                assert!(!bytes.starts_with(b"\n"), "{before}");
            }
        }
    }
}

/// The longest line that is kept is kept wherever its end falls, between two readings too.
#[test]
fn the_longest_line_is_kept_wherever_it_stands() {
    let line = "2".repeat(MAX_RECORD);
    for before in PIECE - 8..PIECE {
        let rest = format!("{}\r\n{line}\r\n3\r\n", "1".repeat(before));
        let (records, broken) = cut_by_line(format!("a\r\n{rest}").as_bytes());
        assert_eq!(broken, 0, "{before}");
        assert!(records == rest.as_bytes(), "{before}");
    }
}
