//! `predict`: the label of each record.

use std::io::{self, BufWriter, Write};

use dp_cluster::Model;

use crate::args::PredictArgs;
use crate::failure::Failure;
use crate::input::{CsvSource, Input, Selection};
use crate::output::{read_model, say, write_file};
use crate::paths;

pub(crate) fn run(args: &PredictArgs) -> Result<(), Failure> {
    let inputs = [args.model.as_path(), &args.data];
    paths::check(inputs, &[("--out", args.out.as_deref())])?;
    let model = read_model(&args.model)?;
    // Before anything is read: a model without centers labels nothing.
    model.labeler()?;
    let selection = Selection {
        columns: Some(model.columns.clone()),
        class: None,
        policy: args.invalid.into(),
    };
    let source = CsvSource::open(Input::new(&args.data), selection)?;
    say("note: labels of private records are private; this output is for the data holder alone");
    match &args.out {
        Some(path) => write_file(path, |file| labels(&model, &source, file)),
        None => {
            let mut stdout = BufWriter::new(io::stdout().lock());
            labels(&model, &source, &mut stdout)
                .and_then(|()| stdout.flush())
                .map_err(|error| Failure::stdout(&error))
        }
    }
}

fn labels(model: &Model, source: &CsvSource, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "label")?;
    let mut text = String::new();
    dp_cluster::predict(model, source, &mut |chunk| {
        for part in chunk.chunks(1 << 14) {
            text.clear();
            for assignment in part {
                text.push_str(&assignment.label.to_string());
                text.push('\n');
            }
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    })
    .map_err(|error| match error {
        dp_cluster::evaluate::LabelError::Source(dp_cluster::SourceError::Io(error)) => error,
        other => io::Error::other(other),
    })
}
