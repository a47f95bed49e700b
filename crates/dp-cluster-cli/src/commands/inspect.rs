//! `inspect`: what models are and what they promise together.

use dp_cluster::total_of;

use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::output::{print, read_model};
use crate::report::{self, Lines};

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let models = args
        .models
        .iter()
        .map(|path| read_model(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut text = String::new();
    for (path, model) in args.models.iter().zip(&models) {
        if models.len() > 1 {
            text.line(format!("== {}", path.display()));
        }
        text.push_str(&report::model(model));
    }
    if models.len() > 1 {
        text.push_str("== total, if all are about the same data\n");
        match total_of(&models) {
            Ok(Some(total)) => {
                text.line(format!("guarantee: {}", report::guarantee(&total)));
                text.push_str(&report::in_words(&total));
            }
            Ok(None) => {}
            Err(error) => text.line(format!("guarantee: none: {error}")),
        }
    }
    print(&text)
}
