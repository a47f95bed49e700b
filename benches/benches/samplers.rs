//! The exact samplers against OpenDP's, one thread each.
//!
//! OpenDP lives in a package of its own (`benches/peers/samplers`) and runs as a child process; the two take
//! turns, round by round. The figure of a case is the least of its rounds in nanoseconds per draw (the median
//! is printed beside it), and the ratio is theirs over ours.
//!
//! `cargo xtask bench samplers [--csv FILE]`; the options are listed by `--help`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench looks at clocks and prints a table"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, hint};

use dp_core::rng::SecureRng;
use dp_core::sampler::{DiscreteGaussian, DiscreteLaplace, SCALE_BITS, scale_up_f64};
use workspace_benches::turns::{self, Figures, Peer, Result, Table};

const HELP: &str = "\
Usage: samplers [options]
  --peer FILE    a peer program that is built already; default: builds benches/peers/samplers
  --rounds R     rounds of each case; default 15
  --draws N      draws a round, ours; the peer makes a tenth of them; default 200000
  --case TEXT    only cases whose name contains TEXT
  --csv FILE     writes case,ours,peer,ratio (nanoseconds per draw)";

/// Something that fills a buffer with noise.
type Fill = Box<dyn Fn(&mut SecureRng, &mut [i128])>;

struct Options {
    peer: Option<PathBuf>,
    rounds: usize,
    draws: usize,
    case: String,
    csv: Option<PathBuf>,
}

impl Options {
    /// `None` if help was asked for.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Self>> {
        let mut options = Self {
            peer: None,
            rounds: 15,
            draws: 200_000,
            case: String::new(),
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
                "--peer" => options.peer = Some(value()?.into()),
                "--rounds" => options.rounds = value()?.parse()?,
                "--draws" => options.draws = value()?.parse()?,
                "--case" => options.case = value()?,
                "--csv" => options.csv = Some(value()?.into()),
                _ => return Err(format!("{word}: no such option\n{HELP}").into()),
            }
        }
        if options.rounds == 0 || options.draws < 10_000 {
            return Err("at least one round of 10000 draws".into());
        }
        Ok(Some(options))
    }
}

#[derive(Clone, Copy)]
enum Law {
    Laplace,
    Gaussian,
}

/// One line of the table: a law and its scale, a power of ten.
#[derive(Clone, Copy)]
struct Case {
    law: Law,
    power: i32,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        [Law::Laplace, Law::Gaussian]
            .into_iter()
            .flat_map(|law| [1, 3, 6].map(|power| Self { law, power }))
    }

    const fn law_name(self) -> &'static str {
        match self.law {
            Law::Laplace => "laplace",
            Law::Gaussian => "gaussian",
        }
    }

    fn name(self) -> String {
        format!("{}-1e{}", self.law_name(), self.power)
    }

    fn scale(self) -> f64 {
        10_f64.powi(self.power)
    }

    /// The variance, but for terms of order 1/scale².
    fn variance(self) -> f64 {
        match self.law {
            Law::Laplace => 2.0 * self.scale() * self.scale(),
            Law::Gaussian => self.scale() * self.scale(),
        }
    }

    fn sampler(self) -> Result<Fill> {
        let scale = scale_up_f64(self.scale(), SCALE_BITS)?;
        Ok(match self.law {
            Law::Laplace => {
                let law = DiscreteLaplace::new(scale)?;
                Box::new(move |rng, out| law.fill(rng, out))
            }
            Law::Gaussian => {
                let law = DiscreteGaussian::new(&scale * &scale)?;
                Box::new(move |rng, out| law.fill(rng, out))
            }
        })
    }
}

/// The peer's nanoseconds per draw, and the mean square of its draws.
fn peer_round(peer: &mut Peer, case: Case, draws: usize) -> Result<(f64, f64)> {
    let answer = peer.ask(&format!("{} {} {draws}", case.law_name(), case.scale()))?;
    let (elapsed, squares) = answer.trim().split_once(' ').ok_or("the peer ended")?;
    let (elapsed, squares): (f64, f64) = (elapsed.parse()?, squares.parse()?);
    Ok((elapsed / draws as f64, squares / draws as f64))
}

/// Nanoseconds per draw of the rounds of one case.
fn run(case: Case, options: &Options, peer: &mut Peer, rng: &mut SecureRng) -> Result<Figures> {
    let fill = case.sampler()?;
    let mut noise = vec![0_i128; options.draws];
    let mut figures = Figures::default();
    // The first round warms up both.
    for round in 0..=options.rounds {
        let start = Instant::now();
        fill(rng, hint::black_box(&mut noise));
        let ours = start.elapsed().as_secs_f64() * 1e9 / options.draws as f64;
        let squares = noise.iter().map(|&x| (x as f64) * (x as f64)).sum::<f64>();
        let (theirs, their_squares) = peer_round(peer, case, options.draws / 10)?;
        // Both sides must have drawn from the law; factors like these are far beyond chance here.
        for mean_square in [squares / options.draws as f64, their_squares] {
            let ratio = mean_square / case.variance();
            if !(0.7..1.4).contains(&ratio) {
                return Err(format!("{}: variance off by a factor {ratio}", case.name()).into());
            }
        }
        if round > 0 {
            figures.ours.push(ours);
            figures.peer.push(theirs);
        }
    }
    Ok(figures)
}

/// Builds the peer from its own lock file, which takes a minute the first time.
fn build(peers: &Path) -> Result<PathBuf> {
    let target = peers.join("target");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "--manifest-path",
        ])
        .arg(peers.join("samplers/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()?;
    if !status.success() {
        return Err("the peer could not be built; see --peer".into());
    }
    let name = format!("peer-samplers{}", env::consts::EXE_SUFFIX);
    Ok(target.join("release").join(name))
}

fn main() -> ExitCode {
    turns::exit("samplers", bench)
}

fn bench() -> Result<()> {
    let Some(options) = Options::parse(env::args().skip(1))? else {
        println!("{HELP}");
        return Ok(());
    };
    let program = match &options.peer {
        Some(program) => program.clone(),
        None => build(&Path::new(env!("CARGO_MANIFEST_DIR")).join("peers"))?,
    };
    let mut peer = Peer::start(&mut Command::new(program))?;
    let mut rng = SecureRng::from_os()?;
    println!(
        "{} draws a round, {} rounds; ns per draw, least (median)",
        options.draws, options.rounds
    );
    let mut table = Table::new("ns", 1)?;
    for case in Case::all() {
        let name = case.name();
        if !name.contains(&options.case) {
            continue;
        }
        let figures = run(case, &options, &mut peer, &mut rng)?;
        table.row(&name, &figures)?;
    }
    table.save(options.csv.as_ref())
}
