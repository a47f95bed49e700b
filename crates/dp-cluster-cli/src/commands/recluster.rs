//! `recluster`: centers from a released synopsis, at no cost.

use dp_cluster::rng::{InsecureSeededRng, NoiseRng, SecureRng};

use crate::args::ReclusterArgs;
use crate::failure::Failure;
use crate::output::{ModelForm, print, read_synopsis, say, write_model, write_table};
use crate::paths;
use crate::report;

pub(crate) fn run(args: &ReclusterArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        ModelForm::of("--out", path)?;
    }
    paths::check(
        [args.synopsis.as_path()],
        &[
            ("--out", args.out.as_deref()),
            ("--centers-out", args.centers_out.as_deref()),
        ],
    )?;
    let synopsis = read_synopsis(&args.synopsis)?;
    let mut public: Box<dyn NoiseRng> = match args.seed {
        Some(seed) => Box::new(InsecureSeededRng::new(seed)),
        None => Box::new(
            SecureRng::from_os()
                .map_err(|_| Failure::data("the operating system gave no randomness"))?,
        ),
    };
    let starts = args.starts.into();
    let model = dp_cluster::recluster(&synopsis, args.clusters, starts, public.as_mut())?;
    if let Some(path) = &args.out {
        write_model(path, &model)?;
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
        print(&report::centers(&model))?;
    }
    say("nothing was spent: the model has the guarantee of its synopsis");
    Ok(())
}
