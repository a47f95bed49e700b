use std::path::Path;

use super::*;

fn selection(policy: Policy) -> Selection {
    Selection {
        columns: Some(vec!["b".to_owned(), "a".to_owned()]),
        class: None,
        policy,
    }
}

/// Several pieces of rows, some over lines, some broken.
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
    assert_eq!(first.len(), 240_000);
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
