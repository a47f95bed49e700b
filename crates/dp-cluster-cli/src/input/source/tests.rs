use std::path::Path;

use super::*;

fn selection(policy: Policy) -> Selection {
    Selection {
        columns: Some(vec!["b".to_owned(), "a".to_owned()]),
        class: None,
        policy,
    }
}

/// Several pieces of rows, some with notes over lines (two records where cells are replaced), some broken.
fn table() -> Vec<u8> {
    let mut table = b"a,note,b\n".to_vec();
    for i in 0..120_000 {
        let note = if i % 1000 == 0 {
            "\"over\nlines\""
        } else {
            "x"
        };
        let b = if i % 777 == 0 {
            "bad".to_owned()
        } else {
            format!("{i}.5")
        };
        table.extend_from_slice(format!("{i},{note},{b}\n").as_bytes());
    }
    table
}

fn bits(source: &CsvSource) -> Vec<u64> {
    let mut bits = Vec::new();
    source
        .for_each_chunk(&mut |chunk| {
            bits.extend(chunk.to_f64().iter().map(|x| x.to_bits()));
            Ok(())
        })
        .expect("readable");
    bits
}

fn open(path: &Path, kept_bytes: usize) -> CsvSource {
    CsvSource::open_keeping(kept_bytes, Input::new(path), selection(Policy::Replace))
        .expect("readable")
}

#[test]
fn reading_again_gives_the_same_records_as_keeping_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    fs::write(&path, table()).expect("written");
    let (kept, reread) = (open(&path, usize::MAX), open(&path, 1000));
    assert!(kept.kept.is_some() && reread.kept.is_none());
    let first = bits(&kept);
    // Each note over lines makes two records of one, both without known cells.
    assert_eq!(first.len(), 240_240);
    assert_eq!(bits(&reread), first);
    assert_eq!(bits(&reread), first);
}

#[test]
fn a_file_that_changes_between_readings_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    fs::write(&path, table()).expect("written");
    let source = open(&path, 1000);
    fs::write(&path, b"a,note,b\n1,x,2\n").expect("written");
    let error = source
        .for_each_chunk(&mut |_| Ok(()))
        .expect_err("it changed");
    assert!(
        error.to_string().contains("changed while it was read"),
        "{error}"
    );
}

#[test]
fn classes_are_numbered_as_they_appear() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    fs::write(&path, "a,c\n1,x\n2,y\n3,x\n4,\n").expect("written");
    let selection = Selection {
        columns: Some(vec!["a".to_owned()]),
        class: Some("c".to_owned()),
        policy: Policy::Refuse,
    };
    let source = CsvSource::open(Input::new(&path), selection).expect("readable");
    assert_eq!(source.classes(), [0, 1, 0, 2]);
    assert_eq!(source.columns().collect::<Vec<_>>(), ["a"]);
}

/// Where cells are replaced, one line has one record's influence, wherever it stands among pieces: replaced by any bytes, all other
/// records are what they were.
#[test]
fn any_bytes_in_one_line_change_that_record_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let with = |line: &[u8]| {
        let mut table = b"a,note,b\n".to_vec();
        for i in 0..100_000 {
            if i == 70_000 {
                table.extend_from_slice(line);
                table.push(b'\n');
            } else {
                table.extend_from_slice(format!("{i},\"x, y\",{i}.5\n").as_bytes());
            }
        }
        fs::write(&path, table).expect("written");
        bits(&open(&path, usize::MAX))
    };
    let usual = with(b"1,x,2");
    assert_eq!(usual.len(), 200_000);
    let endless = vec![b'7'; 3 << 20];
    for line in [
        &b"\""[..],
        b"1,\"x,2",
        b"1,x\",\"2",
        b"\"\"\"",
        b"\xff\0",
        &endless,
    ] {
        let other = with(line);
        assert_eq!(other.len(), usual.len());
        let differ = other.chunks(2).zip(usual.chunks(2)).enumerate();
        let differ: Vec<usize> = differ
            .filter(|(_, (a, b))| a != b)
            .map(|(i, _)| i)
            .collect();
        assert_eq!(differ, [70_000]);
    }
}
