//! Reading: what is an error, how it is named, and what never shows.

use std::io::Write;

use crate::{FIT, Place, table};

/// Runs the usual fit on these bytes.
fn fit(bytes: &[u8], more: &str) -> crate::Run {
    let place = Place::new();
    place.write("data.csv", bytes);
    place.run(&format!("{FIT} {more}"))
}

#[test]
fn faults_are_named_by_file_line_and_column_and_never_by_value() {
    for (bytes, words) in [
        (
            &b"a,b\n1,2\n3,SECRET\n"[..],
            &["data.csv", "line 3", "`b`"][..],
        ),
        (b"a,b\n1,2\n,4\n", &["data.csv", "line 3", "`a`", "empty"]),
        (b"a,b\n1,2\nSECRET\n", &["data.csv", "line 3", "`b`"]),
        (b"a,b\n1,2\n3,4,SECRET\n", &["data.csv", "line 3", "`b`"]),
        (b"a,b\n1,2\n3,1e999\n", &["data.csv", "line 3", "`b`"]),
        (b"a,b\n1,2\n3,NaN\n", &["data.csv", "line 3", "`b`"]),
        (b"a,b\n1,2\n3,inf\n", &["data.csv", "line 3", "`b`"]),
        (
            b"a,b\r\n1,2\r\n3,\xff\xfe\r\n",
            &["data.csv", "line 3", "`b`"],
        ),
        (
            b"a,b\n1,2\n3,\"SECRET\n5,6\n",
            &["data.csv", "line 3", "quote"],
        ),
        (
            b"\xef\xbb\xbfa,b\n\n1,2\n\n3,SECRET\n",
            &["data.csv", "line 5", "`b`"],
        ),
        (
            b"note,a,b\n\"two\nlines\",1,2\nx,3,SECRET\n",
            &["data.csv", "line 4", "`b`"],
        ),
    ] {
        let run = fit(bytes, "");
        run.fails(1, words);
        assert!(
            !run.stderr.contains("SECRET") && !run.stderr.contains("999"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_fault_deep_in_a_file_has_the_right_line() {
    let mut bytes = table(200_000).into_bytes();
    bytes.extend_from_slice(b"1,x,note,class\n");
    // Pieces are parsed side by side: the first fault wins.
    bytes.extend_from_slice(b"y,1,note,class\n");
    fit(&bytes, "").fails(1, &["line 200002", "`b`"]);
}

#[test]
fn headers_are_read_with_care() {
    fit(b"", "").fails(1, &["data.csv", "empty", "header"]);
    fit(b"\n\n", "").fails(1, &["data.csv", "empty"]);
    fit(b"a,c\n1,2\n", "").fails(1, &["data.csv", "`b`", "`a`, `c`"]);
    fit(b"a,b,a\n1,2,3\n", "").fails(1, &["data.csv", "`a`", "twice"]);
    fit(b"a,\xff\n1,2\n", "").fails(1, &["data.csv", "UTF-8"]);
    fit(b"\xef\xbb\xbf\"a\", b \r\n1,2\r\n", "").succeeds();
    // A column that was not chosen may hold anything, its name included.
    fit(b"a,b,c,c\n1,2,x,\"y\nz\"\n", "").succeeds();
    let place = Place::new();
    place.run(FIT).fails(1, &["data.csv"]);
}

#[test]
fn without_columns_all_are_taken() {
    let place = Place::new();
    place.write("data.csv", "x,y,z\n1,2,3\n");
    let model = place.json("fit data.csv --clusters 1 --epsilon 1 --bounds=0,9 --json");
    assert_eq!(model["columns"], serde_json::json!(["x", "y", "z"]));
    place.write("data.csv", "x,y,z\n1,2,text\n");
    let run = place.run("fit data.csv --clusters 1 --epsilon 1 --bounds=0,9");
    run.fails(1, &["line 2", "`z`", "--columns"]);
}

#[test]
fn a_header_alone_is_a_data_set_without_records() {
    fit(b"a,b\n", "").succeeds();
    fit(b"a,b", "--delta 1e-6").succeeds();
    fit(b"a,b\n", "--relation replace-one").succeeds();
    let place = Place::new();
    place.write("data.csv", "a,b\n");
    place
        .run("fit data.csv --clusters 2 --bounds=0,1 --algorithm lloyd --not-private")
        .succeeds();
}

#[test]
fn any_bytes_below_a_header_give_a_release_under_replace() {
    let mut garbage: Vec<u8> = (0..30_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3])
        .collect();
    garbage.extend_from_slice(b"\n\"open quote\n1,2\n,\n1\n1,2,3\nnan,inf\n");
    for bytes in [
        &garbage[..],
        b"\"",
        b"\0\0\0",
        b"1,2",
        b"\"1\n2\n3\n",
        b",,,,\n\r\r\r",
    ] {
        let file = [&b"a,b\n"[..], bytes].concat();
        let run = fit(&file, "--invalid replace");
        run.succeeds();
        assert!(!run.stderr.contains("line"), "{}", run.stderr);
    }
}

#[test]
fn replaced_cells_are_the_middle_of_their_bounds() {
    let place = Place::new();
    // Half of the rows is bad: their middle is (50, 50), the good ones are at (0, 0).
    place.write("data.csv", format!("a,b\n{}", "0,0\nbad\n".repeat(500)));
    let line = "fit data.csv --clusters 2 --bounds=0,100 --invalid replace --algorithm lloyd --not-private --json";
    let mut centers: Vec<f64> = place.json(line)["centers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|center| center[1].as_f64().expect("a number"))
        .collect();
    centers.sort_by(f64::total_cmp);
    assert_eq!(centers, [0.0, 50.0]);
}

#[test]
fn plain_compressed_and_piped_tables_are_the_same_data() {
    let place = Place::with_data();
    let bytes = table(600).into_bytes();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&bytes).expect("in memory");
    let compressed = encoder.finish().expect("in memory");
    place.write("data.csv.gz", &compressed);
    let seeded = format!("{FIT} --delta 1e-6 --insecure-seed 5 --json");
    let plain = place.run(&seeded).stdout;
    assert_eq!(
        place.run(&seeded.replace("data.csv", "data.csv.gz")).stdout,
        plain
    );
    assert_eq!(
        place
            .run_with(&seeded.replace("data.csv", "-"), &bytes)
            .stdout,
        plain
    );
    place.write("data.csv.gz", &compressed[..compressed.len() / 2]);
    place
        .run(&seeded.replace("data.csv", "data.csv.gz"))
        .fails(1, &["data.csv.gz"]);
}

#[test]
fn nothing_that_is_said_tells_how_many_rows_there_are() {
    let place = Place::new();
    let said: Vec<String> = [0, 1, 1234, 98_765]
        .into_iter()
        .map(|rows| {
            place.write("data.csv", table(rows));
            let run = place.run(&format!("{FIT} --delta 1e-6 --out {rows}.json"));
            run.succeeds();
            run.stdout + &run.stderr
        })
        .collect();
    assert!(said.iter().all(|text| *text == said[0]), "{said:?}");
}

#[test]
fn a_row_of_data_is_no_header_and_is_not_told() {
    let place = Place::new();
    for (bytes, columns) in [
        (&b"34,52000\n41,61000\n"[..], ""),
        (b"34,F\n41,M\n", ""),
        (b"34,F\n41,M\n", "--columns age"),
    ] {
        place.write("data.csv", bytes);
        let run = place.run(&format!(
            "fit data.csv --clusters 1 --epsilon 1 --bounds=0,100 --invalid replace {columns}"
        ));
        run.fails(1, &["data.csv", "header"]);
        assert!(!run.stderr.contains("34"), "{}", run.stderr);
    }
    // Names may be numbers where a flag says so.
    place.write("years.csv", "2019,2020\n1,2\n3,4\n");
    let model = place
        .json("fit years.csv --clusters 1 --epsilon 1 --bounds=0,100 --columns 2020,2019 --json");
    assert_eq!(model["columns"], serde_json::json!(["2020", "2019"]));
    place.write("semicolons.csv", "a;b\n1;2\n");
    place
        .run("fit semicolons.csv --clusters 1 --epsilon 1 --bounds=0,100")
        .fails(1, &["semicolons.csv", "commas"]);
}

#[test]
fn columns_may_have_commas_in_their_names() {
    let place = Place::new();
    place.write("data.csv", "\"income, gross\",b\n1,2\n3,4\n");
    let output = place
        .command("fit data.csv --clusters 1 --epsilon 1 --bounds=0,100 --json")
        .args(["--columns", "b ,\"income, gross\""])
        .output()
        .expect("it starts");
    let model: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(model["columns"], serde_json::json!(["b", "income, gross"]));
}

/// In one column a missing cell is a blank line.
#[test]
fn a_blank_line_of_one_column_is_a_missing_cell() {
    let place = Place::new();
    let line = "fit data.csv --clusters 1 --epsilon 1 --bounds=0,100";
    for bytes in ["a\n1\n\n3\n", "a\r\n1\r\n\r\n3\r\n"] {
        place.write("data.csv", bytes);
        place
            .run(line)
            .fails(1, &["data.csv", "line 3", "`a`", "empty"]);
    }
    for bytes in ["a\n1\n2\n", "a\n1\n2", "a\r\n1\r\n2\r\n", "a\n"] {
        place.write("data.csv", bytes);
        place.run(line).succeeds();
    }
}

/// Under replace-one the number of lines is public, so no content of a line may change it.
#[test]
fn every_line_is_a_record_where_cells_are_replaced() {
    let place = Place::new();
    let count = |bytes: &str| {
        place.write("data.csv", bytes);
        let line = "fit data.csv --clusters 1 --not-private --algorithm lloyd --bounds=0,100 --invalid replace --out m.json";
        place.run(line).succeeds();
        place.json("evaluate m.json data.csv --invalid replace --json")["n"].clone()
    };
    for bytes in [
        "a,b\n1,2\n3,4\n5,6\n",
        "a,b\n1,2\n\n5,6\n",
        "a,b\r\n1,2\r\n\r\n5,6\r\n",
        "a,b\n\n\n\n",
        "a,b\n1,2\r3,4\r5,6",
        "a,b\n\"1,2\n\"\n\"5,6",
    ] {
        assert_eq!(count(bytes), 3, "{bytes:?}");
    }
    let labels = place.run("predict m.json data.csv --invalid replace");
    labels.succeeds();
    assert_eq!(labels.stdout.lines().count(), 4);
}
