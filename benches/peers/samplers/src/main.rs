//! Draws from OpenDP's samplers on request: a peer of `benches/benches/samplers.rs`.
//!
//! Reads lines `LAW SCALE COUNT` (`laplace 10 1000`; the scale is a whole number, σ for `gaussian`) and answers each
//! with a line `NANOSECONDS CHECK`, where the check is the sum of the squared draws.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use dashu::integer::IBig;
use dashu::rational::RBig;
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

fn main() -> Result<(), Box<dyn Error>> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [law, scale, count] = words[..] else {
            return Err(format!("expected LAW SCALE COUNT, got {line:?}").into());
        };
        let sample = match law {
            "laplace" => sample_discrete_laplace,
            "gaussian" => sample_discrete_gaussian,
            _ => return Err(format!("no such law: {law}").into()),
        };
        let scale: RBig = scale.parse::<IBig>()?.into();
        let count: u64 = count.parse()?;

        let mut check = IBig::ZERO;
        let start = Instant::now();
        for _ in 0..count {
            let draw = sample(scale.clone()).map_err(|error| error.to_string())?;
            check += &draw * &draw;
        }
        let elapsed = start.elapsed().as_nanos();
        writeln!(output, "{elapsed} {check}")?;
        output.flush()?;
    }
    Ok(())
}
