//! `inspect`: what releases are and what they promise together.

use dp_cluster::{Value, total_of};

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output::{Release, print, read_release};
use crate::report::{self, Lines};

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let releases = args
        .models
        .iter()
        .map(|path| read_release(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut text = String::new();
    for (path, release) in args.models.iter().zip(&releases) {
        if releases.len() > 1 {
            text.line(format!("== {}", path.display()));
        }
        text.push_str(&match release {
            Release::Model(model) => report::model(model),
            Release::Synopsis(synopsis) => report::synopsis(synopsis),
        });
    }
    if releases.len() > 1 {
        text.push_str("== total, if all are about the same data\n");
        let statements: Vec<_> = releases.iter().map(Release::statement).collect();
        match total_of(&statements) {
            Ok(Some(total)) => {
                text.line(format!("guarantee: {}", report::guarantee(&total)));
                text.push_str(&report::in_words(&total));
            }
            Ok(None) => {}
            Err(error) => text.line(format!("guarantee: none: {error}")),
        }
        if releases.iter().any(is_copy) {
            text.push_str(
                "note: a synopsis and what `recluster` made of it were paid for once: leave all but one out for their total\n",
            );
        }
    }
    print(&text)
}

/// Whether a release was made of another one, at no cost.
fn is_copy(release: &Release) -> bool {
    match release {
        Release::Model(model) => model.parameters.get("from_synopsis") == Some(&Value::from(true)),
        Release::Synopsis(_) => true,
    }
}
