//! The fault zoo: each planted fault, and the check that must catch it.
//!
//! Without the fault each check must pass, with it each must fail; a fault in the sources that is not in this table counts as
//! missed. The faults themselves are `planted!("name": faulty; sound)` in the code of the crates, and exist under
//! `--cfg dp_faults` only.

use crate::subjects::{self, Subject};
use crate::theorems::{charges, left_out};
use crate::{door, replays, spending, theorems};

/// Draws of a statistical check.
const DRAWS: usize = 200_000;

/// Pairs of a replay.
const PAIRS: usize = 600;

/// What looks for a fault.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// Replays on neighbors, of the subjects whose name begins with this.
    Replay(&'static str),
    /// The ledger law, of the subjects whose name begins with this.
    Ledger(&'static str),
    /// A check by itself, with its name.
    Law(&'static str, fn() -> Result<(), String>),
}

impl Check {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Replay(subject) => format!("replay of {}", subject.trim_end_matches(" (")),
            Self::Ledger(subject) => format!("ledger law of {}", subject.trim_end_matches(" (")),
            Self::Law(name, _) => name.to_owned(),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// What it found.
    pub fn run(self) -> Result<(), String> {
        let each = |prefix: &str, check: &dyn Fn(&Subject) -> Result<(), String>| {
            let subjects = subjects::all()?;
            let mut of_it = subjects
                .iter()
                .filter(|s| s.name().starts_with(prefix))
                .peekable();
            if of_it.peek().is_none() {
                // A check without a subject would never fail.
                return Ok(());
            }
            of_it.try_for_each(check)
        };
        match self {
            Self::Replay(prefix) => each(prefix, &|subject| {
                replays::subject(subject, (PAIRS / subject.cost).max(10), 1).map(drop)
            }),
            Self::Ledger(prefix) => each(prefix, &spending::subject),
            Self::Law(_, check) => check(),
        }
    }
}

const LAPLACE: Check = Check::Law("law of Laplace noise at the door", || {
    door::laplace_law(DRAWS)
});
const GAUSSIAN: Check = Check::Law("law of Gaussian noise at the door", || {
    door::gaussian_law(DRAWS)
});
const INDEPENDENT: Check = Check::Law("independence of noise", || {
    door::independent_noise(DRAWS / 4)
});
const SELECTION: Check = Check::Law("laws of selection at the door", || {
    door::selection_laws(DRAWS / 4)
});
const THRESHOLD: Check = Check::Law("law of the threshold", || door::threshold_law(DRAWS));

const CONVERSIONS: Check = Check::Law("accountant against the ledger law", spending::conversions);

/// Fault, what it does, and the check that catches it.
pub const ZOO: &[(&str, &str, Check)] = &[
    (
        "noise-scale-0.9",
        "Laplace noise a tenth too small",
        LAPLACE,
    ),
    ("sigma-for-variance", "σ where σ² belongs", GAUSSIAN),
    (
        "gaussian-surplus-left-out",
        "discrete noise counted as continuous noise of the same variance",
        Check::Law("loss of Gaussian noise, exactly", theorems::gaussian_loss),
    ),
    ("noise-truncated", "noise cut off at ±2", LAPLACE),
    (
        "one-noise-for-all",
        "one scalar noise for all coordinates",
        INDEPENDENT,
    ),
    (
        "seed-reused",
        "every call starts the generator anew",
        INDEPENDENT,
    ),
    (
        "selection-charged-a-quarter",
        "selections at four times the η that is charged",
        SELECTION,
    ),
    (
        "threshold-halved",
        "a threshold that releases single keys",
        THRESHOLD,
    ),
    (
        "accountant-not-doubled",
        "a proof for one record more or less at its price for a replaced one",
        CONVERSIONS,
    ),
    (
        "accountant-delta-factor-dropped",
        "δ without its factor 1 + e^ε for a replaced record",
        CONVERSIONS,
    ),
    (
        "accountant-rho-twice",
        "twice ρ in place of four times for a replaced record",
        CONVERSIONS,
    ),
    (
        "lloyd-shares-swapped",
        "the shares of counts and sums swapped",
        Check::Law("shares of counts and sums", theorems::count_share),
    ),
    (
        "lloyd-empty-skipped",
        "an empty cluster gets no noise",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-clip-unused",
        "clipped copy made, raw data used",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-clip-rounds-away",
        "rounding lengthens a clipped vector",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-radius-from-data",
        "the largest norm taken from the data",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-centers-from-data",
        "a first center is a record",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-stop-on-data",
        "a stop that looks at exact statistics",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-error-on-data",
        "an error that depends on data",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-tail-relabeled",
        "tail rows labeled differently",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-sensitivity-1.175",
        "sensitivity over 1.175",
        Check::Replay("dplloyd ("),
    ),
    (
        "lloyd-weights-scaled",
        "weights q·count at the sensitivity of count",
        Check::Replay("dplloyd-paper"),
    ),
    (
        "lloyd-filter-for-clip",
        "records filtered where they should be clipped",
        Check::Law(
            "a far record counts at the border",
            theorems::far_record_counts,
        ),
    ),
    (
        "grid-n-in-m",
        "the exact n in the number of cells",
        Check::Replay("ug (d = 1"),
    ),
    (
        "grid-replace-as-remove",
        "a replacement counted as one change",
        Check::Replay("ug (d = 1"),
    ),
    (
        "hybrid-halves-not-halved",
        "all of ε for the first of two halves",
        Check::Ledger("hybrid-refine"),
    ),
    (
        "gkm-half-range",
        "half the range as sensitivity",
        Check::Replay("gkm ("),
    ),
    (
        "gkm-range-at-twice",
        "ends of ranges at twice their share",
        Check::Ledger("gkm ("),
    ),
    (
        "pgkm-overspend",
        "each survivor at the price of a round",
        Check::Ledger("pgkm ("),
    ),
    (
        "maxcover-rate-doubled",
        "ε′ of maximum coverage doubled",
        Check::Law("theorem of the rate", theorems::coverage_rate),
    ),
    (
        "maxcover-empty-sets-dropped",
        "sets that cover no record are left out of the family",
        Check::Law("family of maximum coverage", theorems::coverage_family),
    ),
    (
        "friendly-core-half",
        "tuples kept that half do not match",
        Check::Law("friendly probabilities", theorems::friendly),
    ),
    (
        "friendly-core-unfiltered",
        "the average at the ε of the whole",
        Check::Law("filtered loss", theorems::filtered_loss),
    ),
    (
        "friendly-scale-private",
        "noise scaled by a private gap",
        Check::Replay("ktuple aggregators (proportional"),
    ),
    (
        "friendly-centers-unsplit",
        "each of k centers at the ρ of all",
        Check::Law("charge of FriendlyCore", charges::friendly_core),
    ),
    (
        "friendly-margin-halved",
        "half of the margin below the noisy number of kept tuples",
        Check::Law("a count that is overestimated", left_out::friendly_averages),
    ),
    (
        "friendly-raise-left-out",
        "scales that are not raised against their noise",
        Check::Law("scales that are too small", left_out::friendly_core),
    ),
    (
        "ktuple-raise-halved",
        "scales raised by half of what guards against their noise",
        Check::Law("scales of noisy centers", left_out::noisy_centers),
    ),
    (
        "ktuple-count-noise-whole",
        "each of m counts at the ε of all",
        Check::Law("charge of the tuple test", charges::partition_test),
    ),
    (
        "refine-sums-twice",
        "sums of clusters at twice the ρ that was charged",
        Check::Law("charge of refined centers", charges::refine),
    ),
    (
        "ktuple-interior-weights",
        "interior points by weights q in place of e^(εq/2)",
        Check::Law("law of interior points", theorems::interior_points),
    ),
    (
        "ktuple-average-filtered",
        "points outside of a segment dropped, the mean of the others for all",
        Check::Law("sum of an average", theorems::average_sum),
    ),
    (
        "ktuple-radius-private",
        "radii from the exact histogram",
        Check::Replay("ktuple on groups ("),
    ),
    (
        "ktuple-delta-twice",
        "δ spent twice",
        Check::Ledger("ktuple on groups ("),
    ),
    (
        "ktuple-segment-whole",
        "two interior points at ε each",
        Check::Law("bounding segment spends once", theorems::segment),
    ),
    (
        "ktuple-average-by-private-count",
        "noise of an average for the number of points inside a segment",
        Check::Law("noise of an average", theorems::average_noise),
    ),
    (
        "ktuple-gap-multiplied",
        "noise that multiplies a private gap",
        Check::Law("noise of noisy centers", theorems::noisy_center_scales),
    ),
    (
        "ktuple-move-is-one-change",
        "a replaced record counted as one change",
        Check::Replay("ktuple on groups ("),
    ),
    (
        "ktuple-void-partitions",
        "void tuples partition",
        Check::Law(
            "void tuples partition nothing",
            theorems::void_partitions_nothing,
        ),
    ),
    (
        "gmm-products-unscaled",
        "products at the sensitivity of sums",
        Check::Replay("gmm learners (CoinPress"),
    ),
    (
        "gmm-replace-is-add",
        "a replacement counted as one change",
        Check::Replay("gmm learners (CoinPress"),
    ),
    (
        "gmm-clip-unused",
        "clipped copy made, raw data used",
        Check::Replay("gmm learners (CoinPress"),
    ),
    (
        "gmm-halves-overlap",
        "the second half holds all records",
        Check::Replay("gmm on groups (halves"),
    ),
    (
        "vote-refine-moments-unclipped",
        "moments of records that were not clipped",
        Check::Replay("vote-refine"),
    ),
    (
        "vote-refine-votes-twice",
        "each record votes twice",
        Check::Replay("vote-refine"),
    ),
    (
        "tuple-equal-points-passed",
        "a tuple with two equal points passed",
        Check::Law("equal points make a tuple void", theorems::equal_points),
    ),
];

/// Names of all faults planted in the sources under `crates`.
///
/// # Errors
///
/// If they cannot be read.
pub fn planted() -> Result<Vec<String>, String> {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut names = std::collections::BTreeSet::new();
    let mut folders = vec![crates];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path)
                    .map_err(|e| format!("{}: {e}", path.display()))?;
                names.extend(names_in(&text));
            }
        }
    }
    // The macro's own documentation.
    names.remove("name");
    Ok(names.into_iter().collect())
}

fn names_in(text: &str) -> impl Iterator<Item = String> {
    text.split("planted!(").skip(1).filter_map(|after| {
        let (name, _) = after.trim_start().strip_prefix('"')?.split_once('"')?;
        Some(name.to_owned())
    })
}

/// Plants every fault whose name begins with `prefix` and runs its check; one line `fault | check | caught` or `missed` each.
///
/// # Errors
///
/// Names of what was missed, or of a check that fails without any fault.
#[cfg(dp_faults)]
pub fn run(prefix: &str, say: &mut dyn FnMut(&str)) -> Result<usize, Vec<String>> {
    use dp_core::faults::plant;
    let mut problems = Vec::new();
    let chosen: Vec<_> = ZOO
        .iter()
        .filter(|(fault, ..)| fault.starts_with(prefix))
        .collect();
    if chosen.is_empty() {
        problems.push(format!("no fault begins with {prefix}"));
    }
    for (fault, _, check) in &chosen {
        plant(None);
        if let Err(what) = check.run() {
            problems.push(format!("{} fails without a fault: {what}", check.name()));
        }
        plant(Some(fault));
        let caught = check.run().is_err();
        plant(None);
        say(&format!(
            "{fault} | {} | {}",
            check.name(),
            if caught { "caught" } else { "missed" }
        ));
        if !caught {
            problems.push(format!("{fault} was missed"));
        }
    }
    match planted() {
        Ok(names) => {
            for name in names {
                if !ZOO.iter().any(|(fault, ..)| *fault == name) {
                    say(&format!("{name} | no check | missed"));
                    problems.push(format!("{name} has no check"));
                }
            }
        }
        Err(what) => problems.push(what),
    }
    if problems.is_empty() {
        Ok(chosen.len())
    } else {
        Err(problems)
    }
}
