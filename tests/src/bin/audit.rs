//! The audit of all algorithms: `cargo xtask audit [--quick|--long|--rates|--zoo[=PREFIX]|--tuples] [ALGORITHM or PART]`.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;
use workspace_tests::{
    attacks, black_box, door, replays, spending, subjects, theorems, tuple_attacks,
};

/// Millions of runs on tiny inputs spend a third of their time in the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How much is done.
struct Effort {
    /// Pairs of neighbors per algorithm.
    pairs: usize,
    /// Draws of each law.
    draws: usize,
    /// Runs of each black-box attack on a mechanism, on each of two data sets.
    runs: u64,
    /// Runs of each black-box attack on a whole algorithm, on each of two data sets, so twice as many for a pair; fewer of the few that
    /// say so.
    algorithm_runs: u64,
    /// Runs of each attack on an aggregator of tuples.
    tuple_runs: u64,
}

const QUICK: Effort = Effort {
    pairs: 10_000,
    draws: 200_000,
    runs: 100_000,
    algorithm_runs: 50_000,
    tuple_runs: 2_000,
};

const USUAL: Effort = Effort {
    pairs: 10_000,
    draws: 1_000_000,
    runs: 1_000_000,
    algorithm_runs: 100_000,
    tuple_runs: 100_000,
};

const LONG: Effort = Effort {
    pairs: 20_000,
    draws: 10_000_000,
    runs: 10_000_000,
    algorithm_runs: 5_000_000,
    tuple_runs: 100_000,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A second word picks the algorithms whose names begin with it, and leaves out what is not about algorithms.
    let only = arguments.get(1).map_or("", String::as_str);
    let mut problems = match arguments.first().map(String::as_str) {
        None => audit(&USUAL, only),
        Some("--quick") => audit(&QUICK, only),
        Some("--long") => audit(&LONG, only),
        Some("--rates") => rates(only),
        Some(option) if option == "--zoo" || option.starts_with("--zoo=") => {
            zoo(option.split_once('=').map_or("", |(_, prefix)| prefix))
        }
        Some("--tuples") => tuples(),
        Some(other) => vec![format!(
            "`{other}` is none of --quick, --long, --rates, --zoo, --tuples"
        )],
    };
    problems.retain(|problem| !problem.is_empty());
    for problem in &problems {
        say(&format!("audit: {problem}"));
    }
    if problems.is_empty() {
        say("audit: nothing found");
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Says how long the last part took, and that the next one begins.
struct Parts {
    wall: Instant,
    cpu: f64,
}

impl Parts {
    #[expect(
        clippy::disallowed_methods,
        reason = "people who wait want to know for what"
    )]
    fn now() -> Instant {
        Instant::now()
    }

    fn begin(first: &str) -> Self {
        say(&format!("── {first}"));
        Self::start()
    }

    fn start() -> Self {
        Self {
            wall: Self::now(),
            cpu: cpu_seconds(),
        }
    }

    /// Seconds since the start, of the clock and of processors.
    fn seconds(&self) -> (f64, f64) {
        (self.wall.elapsed().as_secs_f64(), cpu_seconds() - self.cpu)
    }

    fn end(&self) {
        let (wall, cpu) = self.seconds();
        say(&format!("   {wall:.1} s, {cpu:.1} s of processors"));
    }

    fn next(&mut self, next: &str) {
        self.end();
        *self = Self::begin(next);
    }
}

fn say(line: &str) {
    // Nobody is left to tell if standard output is gone.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// The part of the long runs that is made to see how long all of them would take.
const SAMPLED: u64 = 50;

/// Attacks every pair with a fiftieth of its long runs; one line each, and how long all would take.
fn rates(only: &str) -> Vec<String> {
    let mut attacked = match subjects::attacked() {
        Ok(attacked) => attacked,
        Err(problem) => return vec![problem],
    };
    let pairs = attacked.len();
    attacked.retain(|subject| subject.name().starts_with(only));
    if attacked.is_empty() {
        return vec![format!("no algorithm's name begins with `{only}`")];
    }
    let (runs, algorithm_runs) = (LONG.runs / SAMPLED, LONG.algorithm_runs / SAMPLED);
    let mut spent = (0.0, 0.0);
    let mut timed = |work: &dyn Fn() -> Vec<black_box::Verdict>| {
        let start = Parts::start();
        let verdicts = work();
        let (wall, cpu) = start.seconds();
        spent = (spent.0 + wall, spent.1 + cpu);
        for verdict in &verdicts {
            say(&verdict.line());
        }
        say(&format!("   {wall:.1} s, {cpu:.1} s of processors"));
        verdicts
    };
    let mut verdicts = if only.is_empty() {
        timed(&|| black_box::mechanisms(runs, pairs))
    } else {
        Vec::new()
    };
    for subject in &attacked {
        verdicts.extend(timed(&|| {
            vec![black_box::algorithm(subject, algorithm_runs, pairs)]
        }));
    }
    let hours = |seconds: f64| seconds * SAMPLED as f64 / 3600.0;
    say(&format!(
        "{} pairs with a fiftieth of the long runs: {:.0} s, {:.0} s of processors; all runs: {:.2} h, {:.2} h of processors",
        verdicts.len(),
        spent.0,
        spent.1,
        hours(spent.0),
        hours(spent.1)
    ));
    let broken = verdicts.iter().filter(|verdict| verdict.convicts());
    broken
        .map(|v| format!("a promise is broken: {}", v.line()))
        .collect()
}

/// Processor time of this process so far, where the system says so; else 0. A machine that does other work, too, shows it best.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    // Linux counts in hundredths of a second.
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// A part that is not about one algorithm, by itself.
fn part(name: &str) -> Option<fn(&Effort) -> Vec<String>> {
    Some(match name {
        "laws" => |effort| laws(effort.draws),
        "mechanisms" => |effort| match others() {
            Ok(others) => judged(&black_box::mechanisms(effort.runs, others)),
            Err(problem) => vec![problem],
        },
        "tuples" => |effort| match others() {
            Ok(others) => {
                let pairs = others + black_box::MECHANISMS;
                judged(&tuple_attacks::all(effort.tuple_runs, pairs))
            }
            Err(problem) => vec![problem],
        },
        "published" => published,
        _ => return None,
    })
}

/// Pairs of the joint level that are no mechanisms.
fn others() -> Result<usize, String> {
    Ok(subjects::attacked()?.len() + tuple_attacks::ATTACKS)
}

/// All parts; what each found.
fn audit(effort: &Effort, only: &str) -> Vec<String> {
    if let Some(work) = part(only) {
        let started = Parts::begin(only);
        let problems = work(effort);
        started.end();
        return problems;
    }
    let mut subjects = match subjects::all() {
        Ok(subjects) => subjects,
        Err(problem) => return vec![problem],
    };
    subjects.retain(|subject| subject.name().starts_with(only));
    if subjects.is_empty() {
        return vec![format!(
            "no algorithm's name begins with `{only}`, and no part is called so: laws, mechanisms, tuples, published"
        )];
    }
    let mut problems = Vec::new();

    let mut parts = Parts::begin("replays on neighbors");
    match replays::algorithms(&subjects, effort.pairs) {
        Ok(all) => {
            for compared in all {
                say(&format!(
                    "{}: {} pairs, {} calls, {} settings",
                    compared.algorithm, compared.pairs, compared.calls, compared.subjects
                ));
            }
        }
        Err(problem) => problems.push(problem),
    }
    for subject in &subjects {
        if let Some(reason) = subject.unreplayed {
            say(&format!("{}: not replayed, {reason}", subject.name()));
        }
    }

    parts.next("the ledger law");
    problems.extend(
        subjects
            .par_iter()
            .filter_map(|s| spending::subject(s).err())
            .collect::<Vec<_>>(),
    );
    for subject in subjects.iter().filter(|s| s.least_share.0 < 0.999) {
        say(&format!(
            "{}: {} of epsilon, {}",
            subject.name(),
            subject.least_share.0,
            subject.least_share.1
        ));
    }
    say(&format!("{} settings", subjects.len()));

    if only.is_empty() {
        parts.next("laws at the door, theorems");
        problems.extend(laws(effort.draws));
    }
    parts.next("black box, joint level 99.9 %");
    problems.extend(attack(effort, only));
    if only.is_empty() {
        parts.next("published attacks");
        problems.extend(published(effort));
    }
    parts.next("end");
    problems
}

/// Laws at the door, and theorems.
fn laws(draws: usize) -> Vec<String> {
    let doors = [
        door::laplace_law(draws),
        door::gaussian_law(draws),
        door::selection_laws(draws / 4),
        door::threshold_law(draws),
        door::independent_noise(draws / 4),
    ];
    let theorems = theorems::ALL.iter().map(|check| check());
    let accountant = spending::conversions();
    say(&format!("{draws} draws each"));
    let checks = doors.into_iter().chain(theorems).chain([accountant]);
    checks.filter_map(Result::err).collect()
}

/// Black-box attacks, a line each when it is done: on all pairs, or on some; the joint level is that of all.
fn attack(effort: &Effort, only: &str) -> Vec<String> {
    let (attacked, others) = match (subjects::attacked(), others()) {
        (Ok(attacked), Ok(others)) => (attacked, others),
        (Err(problem), _) | (_, Err(problem)) => return vec![problem],
    };
    let pairs = black_box::MECHANISMS + others;
    let mut problems = Vec::new();
    if only.is_empty() {
        problems.extend(judged(&black_box::mechanisms(effort.runs, others)));
    }
    for subject in attacked.iter().filter(|s| s.name().starts_with(only)) {
        let verdict = black_box::algorithm(subject, effort.algorithm_runs, pairs);
        problems.extend(judge(&verdict));
    }
    if only.is_empty() {
        problems.extend(judged(&tuple_attacks::all(effort.tuple_runs, pairs)));
    }
    problems
}

fn judged(verdicts: &[black_box::Verdict]) -> Vec<String> {
    verdicts.iter().filter_map(judge).collect()
}

/// Says what an attack found, and returns what is wrong with it.
fn judge(verdict: &black_box::Verdict) -> Option<String> {
    say(&verdict.line());
    if verdict.convicts() {
        Some(format!("a promise is broken: {}", verdict.line()))
    } else if verdict.is_blind() {
        Some(format!("the audit is blind: {}", verdict.line()))
    } else {
        None
    }
}

/// Attacks from the literature: they succeed against floats and fail at the door.
fn published(effort: &Effort) -> Vec<String> {
    let mut problems = Vec::new();
    for attack in attacks::all(effort.runs.clamp(1, 1_000_000)) {
        let line = format!(
            "{}: epsilon ≥ {:.2} against floats, {:.2} against the door, promised {}",
            attack.name, attack.floats, attack.door, attack.promised
        );
        say(&line);
        if !attack.is_as_published() {
            problems.push(line);
        }
    }
    problems
}

/// The attacks on k-tuple aggregators by themselves.
fn tuples() -> Vec<String> {
    let verdicts = tuple_attacks::all(USUAL.tuple_runs, tuple_attacks::ATTACKS);
    for verdict in &verdicts {
        say(&verdict.line());
    }
    let broken = verdicts.iter().filter(|verdict| verdict.convicts());
    broken
        .map(|verdict| format!("a promise is broken: {}", verdict.line()))
        .collect()
}

#[cfg(dp_faults)]
fn zoo(prefix: &str) -> Vec<String> {
    match workspace_tests::zoo::run(prefix, &mut |line| say(line)) {
        Ok(caught) => {
            say(&format!("{caught} faults, all caught"));
            Vec::new()
        }
        Err(problems) => problems,
    }
}

#[cfg(not(dp_faults))]
fn zoo(_prefix: &str) -> Vec<String> {
    vec![
        "faults are planted under --cfg dp_faults only: `cargo xtask audit --zoo` builds so"
            .to_owned(),
    ]
}
