//! The same seed gives the same release, whatever carries it out.

use crate::{FIT, Place, table};

#[test]
fn threads_change_nothing() {
    let place = Place::new();
    // Several pieces of input, several chunks, several blocks.
    place.write("data.csv", table(150_000));
    for algorithm in ["dplloyd", "dplloyd-paper"] {
        let line = format!("{FIT} --delta 1e-6 --insecure-seed 7 --json --algorithm {algorithm}");
        let one = place.run(&format!("{line} --threads 1"));
        one.succeeds();
        for threads in [2, 5] {
            assert_eq!(
                place.run(&format!("{line} --threads {threads}")).stdout,
                one.stdout
            );
        }
        assert_eq!(place.run(&line).stdout, one.stdout);
    }
    let lloyd = "fit data.csv --clusters 3 --bounds=0,100 --columns a,b --algorithm lloyd --not-private --insecure-seed 7 --json";
    assert_eq!(
        place.run(&format!("{lloyd} --threads 1")).stdout,
        place.run(&format!("{lloyd} --threads 3")).stdout
    );
}

#[test]
fn the_order_of_rows_changes_nothing() {
    let place = Place::new();
    let whole = table(5000);
    let (header, rows) = whole.split_once('\n').expect("a header");
    let mut rows: Vec<&str> = rows.lines().collect();
    let line = format!("{FIT} --delta 1e-6 --insecure-seed 3 --json");
    place.write("data.csv", &whole);
    let first = place.run(&line).stdout;
    rows.reverse();
    rows.rotate_left(1234);
    place.write("data.csv", format!("{header}\n{}\n", rows.join("\n")));
    assert_eq!(place.run(&line).stdout, first);
}

#[test]
fn seeds_differ_and_without_one_every_run_does() {
    let place = Place::with_data();
    let centers = |flags: &str| place.json(&format!("{FIT} --json {flags}"))["centers"].clone();
    assert_ne!(centers("--insecure-seed 1"), centers("--insecure-seed 2"));
    assert_ne!(centers(""), centers(""));
}
