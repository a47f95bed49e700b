//! `fit`: private centers of a table.

use std::path::Path;
use std::process::ExitCode;

use dp_cluster::dp_core::rng::NoiseRng;
use dp_cluster::rng::{InsecureSeededRng, SecureRng};
use dp_cluster::{Fitted, ModelOutcome, algorithm};

use crate::args::FitArgs;
use crate::failure::Failure;
use crate::input::{CsvSource, Input, Selection};
use crate::output::{ModelForm, print, read_model, say, write_model, write_synopsis, write_table};
use crate::paths;
use crate::progress::Progress;
use crate::report::{self, Lines};
use crate::request::Draft;

/// The mechanism answered ⊥.
const REFUSED: u8 = 3;

pub(crate) fn run(args: &FitArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.out {
        ModelForm::of("--out", path)?;
    }
    if let Some(path) = &args.synopsis_out {
        ModelForm::of("--synopsis-out", path)?;
        // The algorithms that cluster a synopsis are those that let one choose where that starts.
        let facts = algorithm::find(&args.what.algorithm)?.facts();
        if !facts.options.contains(&"starts") {
            return Err(Failure::usage(format!(
                "--synopsis-out: `{}` releases no grid synopsis",
                facts.name
            )));
        }
    }
    let draft = Draft::new(&args.what)?;
    draft.require_bounds()?;
    let settings = args.what.options.files();
    let inputs = settings
        .chain([args.data.as_path()])
        .chain(args.what.bounds_file.as_deref());
    paths::check(
        inputs,
        &[
            ("--out", args.out.as_deref()),
            ("--synopsis-out", args.synopsis_out.as_deref()),
            ("--centers-out", args.centers_out.as_deref()),
        ],
    )?;
    for warning in report::weakness(&args.what) {
        say(&warning);
    }
    if args.what.not_private {
        say("warning: --not-private: the result depends on every row and protects nobody");
    }
    if args.insecure_seed.is_some() {
        say("warning: --insecure-seed: there is no guarantee against anyone who knows the seed");
    }
    let fitted = in_pool(args.threads, || fit(args, &draft))?;
    write(args, &fitted)
}

/// Runs on a pool of that many threads; without a number, on all cores.
fn in_pool<T: Send>(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let Some(threads) = threads else {
        return work();
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.into())
        .build()
        .map_err(|error| Failure::data(format!("--threads: {error}")))?;
    pool.install(work)
}

fn fit(args: &FitArgs, draft: &Draft) -> Result<Fitted, Failure> {
    let progress = Progress::start(args.quiet);
    let input = Input::new(&args.data);
    progress.stage(format!("reading {}", input.name()));
    let selection = Selection {
        columns: args.what.columns().or_else(|| args.what.options.columns()),
        class: None,
        policy: args.invalid.into(),
    };
    // The header comes first: what it shows against flags and bounds is said before any row is.
    let columns = CsvSource::columns_of(&input, &selection)?;
    let known = match &columns {
        Some(columns) => Some(draft.complete(columns, &args.what)?),
        None => None,
    };
    let source = CsvSource::open(input, selection)?;
    let request = match known {
        Some(request) => request,
        None => {
            let columns: Vec<String> = source.columns().map(str::to_owned).collect();
            draft.complete(&columns, &args.what)?
        }
    };
    for warning in dp_cluster::plan(&request)?.warnings {
        say(&format!("warning: {warning}"));
    }
    progress.stage(format!("fitting with {}", request.algorithm));
    let entropy = |_| Failure::data("the operating system gave no randomness");
    let (mut noise, mut public): (Box<dyn NoiseRng>, Box<dyn NoiseRng>) = match args.insecure_seed {
        // Two streams that share no number.
        Some(seed) => (
            Box::new(InsecureSeededRng::new(seed)),
            Box::new(InsecureSeededRng::new(!seed)),
        ),
        None => (
            Box::new(SecureRng::from_os().map_err(entropy)?),
            Box::new(SecureRng::from_os().map_err(entropy)?),
        ),
    };
    Ok(dp_cluster::fit(
        &request,
        &source,
        noise.as_mut(),
        public.as_mut(),
    )?)
}

/// Writes all there is to write: a file that cannot be written takes nothing else with it.
fn write(args: &FitArgs, fitted: &Fitted) -> Result<ExitCode, Failure> {
    let model = &fitted.model;
    // First of all, and true whatever becomes of the files.
    if let Some(guarantee) = &model.guarantee
        && !args.quiet
    {
        say(&format!("spent {}", report::guarantee(guarantee)));
        say("several runs on the same data add up: see `dp-cluster inspect`");
    }
    let saved = match &args.out {
        Some(path) => {
            if !args.quiet {
                note_replaced(path);
            }
            write_model(path, model)
        }
        None => Ok(()),
    };
    let synopsis = match (&args.synopsis_out, &fitted.synopsis) {
        (Some(path), Some(synopsis)) => write_synopsis(path, synopsis),
        _ => Ok(()),
    };
    let centers = match &args.centers_out {
        Some(path) => {
            let rows = model.centers.iter().map(Vec::as_slice);
            write_table(path, &model.columns, rows)
        }
        None => Ok(()),
    };
    let printed = if args.json || saved.is_err() {
        print(&model.to_json()?)
    } else if args.out.is_none() {
        print(&text(fitted))
    } else {
        Ok(())
    };
    let help = match (&model.guarantee, saved.is_err() && printed.is_ok()) {
        (None, false) => None,
        (None, true) => Some("the model stands on stdout"),
        (Some(_), false) => Some("the budget was spent all the same"),
        (Some(_), true) => Some("the budget was spent all the same: the model stands on stdout"),
    };
    let written = saved
        .and(synopsis)
        .and(centers)
        .and(printed.or_else(Failure::unless_closed));
    written.map_err(|failure| match help {
        Some(help) => failure.help(help),
        None => failure,
    })?;
    if model.outcome == ModelOutcome::Refused {
        let advice = fitted.advice.as_deref().unwrap_or("no advice");
        say(&format!(
            "refused: the budget was spent and there are no centers: {advice}"
        ));
        return Ok(ExitCode::from(REFUSED));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is printed where no file was asked for.
fn text(fitted: &Fitted) -> String {
    let model = &fitted.model;
    let mut text = String::new();
    if model.outcome == ModelOutcome::Released {
        text.push_str(&report::centers(model));
    }
    match &model.guarantee {
        Some(guarantee) => {
            text.push_str(&report::ledger(&model.ledger));
            text.line(format!("spent: {}", report::guarantee(guarantee)));
        }
        None => text.push_str("no guarantee: the result is not private\n"),
    }
    text
}

/// The ledger of a release goes with its file; what it spent does not.
fn note_replaced(path: &Path) {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    if is_file
        && let Ok(old) = read_model(path)
        && let Some(guarantee) = &old.guarantee
    {
        say(&format!(
            "note: {} replaces a release whose budget still counts: {}",
            path.display(),
            report::guarantee(guarantee)
        ));
    }
}
