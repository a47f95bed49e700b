//! `generate`: public synthetic data.

use std::fmt::Write as _;
use std::io::{self, Write};

use dp_cluster::generate::{Generator, Kind};

use crate::args::{GenerateArgs, KindArg};
use crate::failure::Failure;
use crate::output::{say, write_file, write_table};
use crate::paths;

/// Records that are held at once.
const CHUNK: u64 = 1 << 14;

pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    paths::check(
        [],
        &[
            ("--out", Some(&args.out)),
            ("--centers-out", args.centers_out.as_deref()),
        ],
    )?;
    let kind = match args.kind {
        KindArg::Mixture => Kind::Mixture,
        KindArg::Blobs => Kind::Blobs,
        KindArg::GaussBall => Kind::GaussBall,
    };
    let mut generator = Generator::new(kind, args.clusters, args.dimension, args.seed)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if generator.spacing() < kind.spacing() {
        say(&format!(
            "note: there is no room for {} centers {} apart; they are at least {} apart",
            args.clusters,
            kind.spacing(),
            generator.spacing()
        ));
    }
    let columns: Vec<String> = (1..=args.dimension)
        .map(|column| format!("x{column}"))
        .collect();
    if let Some(path) = &args.centers_out {
        let centers = generator.centers().clone();
        let rows: Vec<Vec<f64>> = centers.outer_iter().map(|row| row.to_vec()).collect();
        write_table(path, &columns, rows.iter().map(Vec::as_slice))?;
    }
    write_file(&args.out, |file| {
        records(&mut generator, &columns, args.records, file)
    })
}

/// Five decimals: the spread of each law is far wider, and files stay small.
fn records(
    generator: &mut Generator,
    columns: &[String],
    n: u64,
    file: &mut dyn Write,
) -> io::Result<()> {
    writeln!(file, "{},label", columns.join(","))?;
    let mut left = n;
    let mut text = String::new();
    while left > 0 {
        let rows = left.min(CHUNK);
        left -= rows;
        let (records, labels) = generator.next_records(usize::try_from(rows).unwrap_or(usize::MAX));
        text.clear();
        for (record, label) in records.outer_iter().zip(labels) {
            for x in record {
                // Writing to a string cannot fail.
                let _ = write!(text, "{x:.5},");
            }
            let _ = writeln!(text, "{label}");
        }
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}
