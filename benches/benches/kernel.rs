//! The nearest-center kernel against scikit-learn's own Lloyd iteration.
//!
//! Two processes hold the same records and take turns, round by round: ours, theirs. The figure of a case is the
//! least of its rounds (the median is printed beside it), and the ratio is theirs over ours.
//!
//! `cargo xtask bench kernel [--csv FILE]`; the options are listed by `--help`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench looks at the clock and prints what it saw"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs, hint, thread};

use metric_space::nearest::{Isa, PackedCenters, Scalar, lloyd_step};
use ndarray::Array2;
use workspace_benches::turns::{self, Figures, Peer, Result, Table};

const HELP: &str = "\
Usage: kernel [options]
  --python FILE  a Python with scikit-learn; default: an environment made in benches/peers/.venv
  --rounds R     rounds of each case; default 15
  --records N    records; default 1000000
  --case TEXT    only cases whose name contains TEXT
  --isa NAME     avx512, avx2 or portable; default: the best there is
  --csv FILE     writes case,ours,peer,ratio (milliseconds)";

struct Options {
    python: Option<PathBuf>,
    rounds: usize,
    records: usize,
    case: String,
    isa: Isa,
    csv: Option<PathBuf>,
}

impl Options {
    /// `None` if help was asked for.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Self>> {
        let mut options = Self {
            python: None,
            rounds: 15,
            records: 1_000_000,
            case: String::new(),
            isa: Isa::detect(),
            csv: None,
        };
        while let Some(word) = words.next() {
            if word == "--help" {
                return Ok(None);
            }
            if word == "--bench" {
                continue; // cargo's own
            }
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--python" => options.python = Some(value()?.into()),
                "--rounds" => options.rounds = value()?.parse()?,
                "--records" => options.records = value()?.parse()?,
                "--case" => options.case = value()?,
                "--csv" => options.csv = Some(value()?.into()),
                "--isa" => {
                    options.isa = match value()?.as_str() {
                        "avx512" => Isa::Avx512,
                        "avx2" => Isa::Avx2,
                        "portable" => Isa::Portable,
                        other => return Err(format!("--isa {other}: no such path").into()),
                    }
                }
                _ => return Err(format!("{word}: no such option\n{HELP}").into()),
            }
        }
        if options.rounds == 0 || !options.isa.is_available() {
            return Err("no rounds, or this machine lacks the instruction set".into());
        }
        Ok(Some(options))
    }
}

/// Between turns: idle threads of either side spin for a while before they sleep, which would slow the other.
const PAUSE: Duration = Duration::from_millis(20);

/// One line of the table.
#[derive(Clone, Copy)]
struct Case {
    dimension: usize,
    n_clusters: usize,
    double: bool,
    threads: usize,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for double in [false, true] {
            for size in [16, 64] {
                for threads in [1, 2] {
                    cases.push(Self {
                        dimension: size,
                        n_clusters: size,
                        double,
                        threads,
                    });
                }
            }
        }
        cases
    }

    fn name(self) -> String {
        let Self {
            dimension,
            n_clusters,
            threads,
            ..
        } = self;
        format!("d{dimension}-k{n_clusters}-{}-t{threads}", self.scalar())
    }

    fn scalar(self) -> &'static str {
        if self.double { "f64" } else { "f32" }
    }
}

/// The sequence of the peer: multiples of 2⁻²² within [−1, 1), a hash of the position.
fn lattice_value(position: u64) -> f64 {
    let mut z = position.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 41) as f64 / f64::from(1 << 22) - 1.0
}

/// Milliseconds of the rounds of one case.
fn run<T: Scalar>(
    case: Case,
    options: &Options,
    peer: &mut Peer,
    from_f64: impl Fn(f64) -> T,
) -> Result<Figures> {
    let (n, d, k) = (options.records, case.dimension, case.n_clusters);
    let array = |rows, first| {
        Array2::from_shape_fn((rows, d), |(i, j)| {
            from_f64(lattice_value((first + i * d + j) as u64))
        })
    };
    let centers = array(k, 0);
    let records = array(n, k * d);
    let centers = PackedCenters::new(centers.view())?.on(options.isa);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(case.threads)
        .build()?;
    peer.ask(&format!(
        "case {} {n} {d} {k} {}",
        case.scalar(),
        case.threads
    ))?;

    let mut figures = Figures::default();
    // The first round warms up both.
    for round in 0..=options.rounds {
        thread::sleep(PAUSE);
        let start = Instant::now();
        let sums = pool.install(|| lloyd_step(hint::black_box(records.view()), &centers));
        let ours = start.elapsed().as_secs_f64() * 1e3;
        thread::sleep(PAUSE);
        let theirs: f64 = peer.ask("round")?.trim().parse()?;
        if round == 0 {
            check(sums.counts(), &peer.ask("counts")?, n)?;
        } else {
            figures.ours.push(ours);
            figures.peer.push(theirs / 1e6);
        }
    }
    Ok(figures)
}

/// Both sides must have done the same work: cluster sizes agree but for near-ties, one record in ten thousand.
fn check(ours: &[u64], theirs: &str, n: usize) -> Result<()> {
    let theirs: Vec<u64> = theirs
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let moved: u64 = ours.iter().zip(&theirs).map(|(&a, &b)| a.abs_diff(b)).sum();
    if ours.len() != theirs.len() || moved > n as u64 / 5_000 {
        return Err(format!("the two sides disagree: {moved} records counted elsewhere").into());
    }
    Ok(())
}

/// The peers' Python, with the pinned packages installed on first use.
fn environment(peers: &Path) -> Result<PathBuf> {
    let folder = peers.join(".venv");
    let python = folder.join("bin/python");
    if !folder.join("complete").exists() {
        let steps = [
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(&folder)
                .status(),
            Command::new(&python)
                .args(["-m", "pip", "install", "--quiet", "-r"])
                .arg(peers.join("requirements.txt"))
                .status(),
        ];
        for status in steps {
            if !status?.success() {
                return Err("the peer's Python environment could not be made; see --python".into());
            }
        }
        fs::write(folder.join("complete"), "")?;
    }
    Ok(python)
}

fn main() -> ExitCode {
    turns::exit("kernel", bench)
}

fn bench() -> Result<()> {
    let Some(options) = Options::parse(env::args().skip(1))? else {
        println!("{HELP}");
        return Ok(());
    };
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let python = match &options.python {
        Some(python) => python.clone(),
        None => environment(&peers)?,
    };
    let mut peer = Peer::start(Command::new(python).arg(peers.join("kernel_sklearn.py")))?;
    println!(
        "{:?}, n = {}, {} rounds; ms, least (median)",
        options.isa, options.records, options.rounds
    );
    let mut table = Table::new("ms", 2)?;
    for case in Case::all() {
        let name = case.name();
        if !name.contains(&options.case) {
            continue;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the values fit 24 bits")]
        let figures = if case.double {
            run(case, &options, &mut peer, |x| x)?
        } else {
            run(case, &options, &mut peer, |x| x as f32)?
        };
        table.row(&name, &figures)?;
    }
    table.save(options.csv.as_ref())
}
