//! Many small jobs on all cores, each on one thread.
//!
//! Algorithms are parallel inside. On tiny inputs that is nothing but a wake-up of other threads, which takes longer than the work; so
//! each worker has a pool of one thread, in which nothing is handed over.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Runs `job` for each number below `jobs`, on as many threads as the surrounding pool has; what they return is merged in any order.
///
/// # Errors
///
/// An error of a job (the one with the lowest number of those that ran); the others stop early.
pub fn spread<T: Send, E: Send>(
    jobs: u64,
    job: impl Fn(u64) -> Result<T, E> + Sync,
    merge: impl Fn(T, T) -> T + Sync,
) -> Result<Option<T>, E> {
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        let mut merged: Option<T> = None;
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs {
                break;
            }
            match job(number) {
                Ok(value) => {
                    merged = Some(match merged.take() {
                        Some(so_far) => merge(so_far, value),
                        None => value,
                    });
                }
                Err(error) => {
                    failed.store(true, Ordering::Relaxed);
                    return Err((number, error));
                }
            }
        }
        Ok(merged)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..rayon::current_num_threads())
            .map(|_| {
                scope.spawn(|| {
                    let alone = rayon::ThreadPoolBuilder::new().num_threads(1);
                    alone.build().expect("a thread").install(work)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a job that does not panic"))
            .collect()
    });
    let mut merged = None;
    let mut first: Option<(u64, E)> = None;
    for result in results {
        match result {
            Ok(None) => {}
            Ok(Some(value)) => {
                merged = Some(match merged.take() {
                    Some(so_far) => merge(so_far, value),
                    None => value,
                });
            }
            Err((number, error)) => {
                if first.as_ref().is_none_or(|(lowest, _)| number < *lowest) {
                    first = Some((number, error));
                }
            }
        }
    }
    first.map_or(Ok(merged), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_runs_once() {
        let sum = spread(1000, Ok::<_, ()>, |a, b| a + b);
        assert_eq!(sum, Ok(Some(499_500)));
        assert_eq!(spread(0, Ok::<_, ()>, |a, b| a + b), Ok(None));
    }

    #[test]
    fn a_failure_comes_through() {
        let run = |i: u64| if i == 40 { Err(i) } else { Ok(()) };
        assert_eq!(spread(1000, run, |(), ()| ()), Err(40));
    }
}
