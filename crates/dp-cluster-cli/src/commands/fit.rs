//! `fit`: private centers of a table.

use std::process::ExitCode;

use dp_cluster::dp_core::rng::NoiseRng;
use dp_cluster::rng::{InsecureSeededRng, SecureRng};
use dp_cluster::{Fitted, ModelOutcome, algorithm};

use crate::args::{FitArgs, Invalid};
use crate::failure::Failure;
use crate::input::{CsvSource, Input, Policy, Selection};
use crate::output::{ModelForm, print, say, write_model, write_synopsis, write_table};
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
        columns: args
            .what
            .columns
            .clone()
            .or_else(|| args.what.options.columns()),
        class: None,
        policy: match args.invalid {
            Invalid::Error => Policy::Refuse,
            Invalid::Replace => Policy::Replace,
        },
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

fn write(args: &FitArgs, fitted: &Fitted) -> Result<ExitCode, Failure> {
    let model = &fitted.model;
    if let Some(path) = &args.out {
        write_model(path, model)?;
    }
    if let (Some(path), Some(synopsis)) = (&args.synopsis_out, &fitted.synopsis) {
        write_synopsis(path, synopsis)?;
    }
    if let Some(path) = &args.centers_out {
        write_table(
            path,
            &model.columns,
            model.centers.iter().map(Vec::as_slice),
        )?;
    }
    if args.json {
        print(&model.to_json()?)?;
    } else if args.out.is_none() {
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
        print(&text)?;
    }
    if let Some(guarantee) = &model.guarantee
        && !args.quiet
    {
        say(&format!("spent {}", report::guarantee(guarantee)));
        say("several runs on the same data add up: see `dp-cluster inspect`");
    }
    if model.outcome == ModelOutcome::Refused {
        let advice = fitted.advice.as_deref().unwrap_or("no advice");
        say(&format!(
            "refused: the budget was spent and there are no centers: {advice}"
        ));
        return Ok(ExitCode::from(REFUSED));
    }
    Ok(ExitCode::SUCCESS)
}
