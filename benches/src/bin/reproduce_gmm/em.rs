//! Speed: a whole private fit, and an iteration of EM beside a peer's.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use gmm::{EmParams, GaussianMixture};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::truth::{Failure, private, separated, theory};
use workspace_benches::program::{option, say};

pub(crate) fn speed(arguments: &[String]) -> Result<(), Failure> {
    let n: usize = option(arguments, "--records").unwrap_or(1_000_000);
    let (k, d) = (8, 16);
    let truth = separated(k, d, 2.0 * theory(n), 1)?;
    let (records, _) = truth.mixture.sample(n, &mut ChaCha8Rng::seed_from_u64(1));
    let before = peak();
    let start = Instant::now();
    let found = private(&truth, &records, 1)?;
    let seconds = start.elapsed().as_secs_f64();
    let outcome = if found.is_some() {
        "released"
    } else {
        "refused"
    };
    let data = (n * d * 8) >> 20;
    say(&format!(
        "n = {n}, d = {d}, k = {k}: {outcome} in {seconds:.2} s; data {data} MiB, peak {} MiB before and {} MiB after",
        before >> 10,
        peak() >> 10
    ));
    Ok(())
}

/// Peak of resident memory so far, KiB; 0 where it cannot be read.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

/// Rounds from the same start, ours and the peer's in turn; the best of each counts, as others share the machine.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let peer: Option<String> = option(arguments, "--peer");
    say("| n | d | k | ours | peer | ratio |");
    say("|---|---|---|---|---|---|");
    for (n, d, k) in [(100_000, 4, 8), (200_000, 16, 8), (50_000, 50, 4)] {
        let truth = separated(k, d, 12.0, 1)?;
        let (records, _) = truth.mixture.sample(n, &mut ChaCha8Rng::seed_from_u64(1));
        let em = EmParams::new(k).max_iterations(1).check()?;
        let mut theirs = match &peer {
            Some(command) => Some(Peer::start(command, &truth.mixture, n)?),
            None => None,
        };
        let (mut ours, mut best) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..10 {
            let start = Instant::now();
            let solution = em.fit_from(records.view(), truth.mixture.clone());
            let seconds = start.elapsed().as_secs_f64();
            if !solution.mean_log_likelihood.is_finite() {
                return Err("no likelihood".into());
            }
            ours = if seconds < ours { seconds } else { ours };
            if let Some(peer) = &mut theirs {
                let seconds = peer.round()?;
                best = if seconds < best { seconds } else { best };
            }
        }
        say(&format!(
            "| {n} | {d} | {k} | {:.1} ms | {:.1} ms | {:.2} |",
            1e3 * ours,
            1e3 * best,
            best / ours
        ));
    }
    Ok(())
}

/// A process that answers each line with one.
struct Peer {
    child: std::process::Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Peer {
    fn start(command: &str, mixture: &GaussianMixture, n: usize) -> Result<Self, Failure> {
        let mut words = command.split_whitespace();
        let mut child = Command::new(words.next().ok_or("an empty command")?)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut peer = Self { child, answers };
        let (k, d) = mixture.means().dim();
        let text = |numbers: &mut dyn Iterator<Item = &f64>| {
            let words: Vec<String> = numbers.map(|x| format!(" {x}")).collect();
            words.concat()
        };
        peer.ask(&format!("case {n} {d} {k}"))?;
        peer.ask(&format!("means{}", text(&mut mixture.means().iter())))?;
        peer.ask(&format!(
            "covariances{}",
            text(&mut mixture.covariances().iter())
        ))?;
        Ok(peer)
    }

    fn ask(&mut self, line: &str) -> Result<String, Failure> {
        let input = self.child.stdin.as_mut().ok_or("no input")?;
        writeln!(input, "{line}")?;
        input.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer)
    }

    /// Seconds of one round.
    fn round(&mut self) -> Result<f64, Failure> {
        Ok(self.ask("round")?.trim().parse::<f64>()? / 1e9)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
