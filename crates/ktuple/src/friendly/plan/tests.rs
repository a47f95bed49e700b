use metric_space::Lattice;

use super::*;

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(delta).expect("valid"),
    )
}

fn shape(n_clusters: usize, dimension: usize) -> TupleShape {
    TupleShape {
        n_tuples: 0,
        n_clusters,
        dimension,
        lattice: Lattice::default(),
    }
}

fn goals() -> [Goal; 4] {
    let ratio = |ratio| Goal::Tuples(MatchRatio::new(ratio).expect("valid"));
    [ratio(1.0 / 16.0), ratio(0.01), ratio(0.125), Goal::Points]
}

/// The search ends at a number that will do, one less will not, and a third more will.
#[test]
fn the_number_that_is_needed_is_the_smallest() {
    for goal in goals() {
        for filter in [Filter::Proportional, Filter::Gaussian] {
            for (epsilon, delta) in [
                (0.01, 1e-9),
                (0.75, 1e-6),
                (1.0, 1e-2),
                (8.0, 1e-6),
                (90.0, 1e-3),
            ] {
                for shape in [shape(2, 1), shape(8, 32), shape(40, 4)] {
                    let budget = budget(epsilon, delta);
                    let slack = |t| {
                        forecast(goal, filter, shape, budget, t)
                            .expect("feasible")
                            .slack
                    };
                    let needed = match tuples_needed(goal, filter, shape, budget) {
                        Ok(needed) => needed,
                        Err(refused) => {
                            assert_eq!(refused, ParamsError::Infeasible);
                            assert!(slack(MOST_TUPLES) < 0.0);
                            continue;
                        }
                    };
                    assert!(slack(needed) >= 0.0);
                    assert!(needed == LEAST_TUPLES || slack(needed - 1) < 0.0);
                    assert!(slack(needed + needed.div_ceil(3)) >= 0.0);
                }
            }
        }
    }
}

/// No other share of the count leaves more than a hundredth of the tuples more.
#[test]
fn the_share_of_the_count_is_nearly_the_best() {
    for goal in goals() {
        for (epsilon, delta) in [(0.1, 1e-9), (0.75, 1e-6), (1.0, 1e-2), (8.0, 1e-6)] {
            for shape in [shape(2, 1), shape(8, 32)] {
                let budget = budget(epsilon, delta);
                let t = tuples_needed(goal, Filter::Proportional, shape, budget).expect("feasible");
                let inner = proportional(budget, t).expect("feasible");
                let slack = |share: f64| {
                    let (count, spend) = inner.loss.divide(share).expect("feasible");
                    let (_, margin, spread) = count.noise(inner.delta_count).expect("feasible");
                    let rho = spend.rho().get();
                    let parts = match goal {
                        Goal::Tuples(_) => (SCALE_SHARE * rho, (1.0 - SCALE_SHARE) * rho),
                        Goal::Points => (f64::INFINITY, rho),
                    };
                    let least = least_count(goal, shape, parts, inner.delta_scales);
                    t as f64 - margin - spread - least as f64
                };
                let chosen = slack(inner.count_share(goal, shape).expect("feasible"));
                for step in 1..50 {
                    let other = slack(f64::from(step) / 50.0);
                    assert!(
                        other <= chosen + 1.0 + t as f64 / 100.0,
                        "{other} {chosen} of {t}"
                    );
                }
            }
        }
    }
}

/// What the parts may lose adds up to the budget: ε by Lemma 2, δ by its terms.
#[test]
fn the_parts_add_up_to_the_budget() {
    for t in [8, 100, 5_001] {
        for (epsilon, delta) in [(0.01, 1e-9), (1.0, 1e-6), (12.0, 1e-3)] {
            let inner = proportional(budget(epsilon, delta), t).expect("feasible");
            let InnerLoss::Approx(average, for_noise) = inner.loss else {
                panic!("not by epsilon");
            };
            let whole = filtered(
                ApproxLoss {
                    epsilon: average,
                    delta: inner.delta_count + inner.delta_scales + for_noise,
                },
                t,
            );
            assert!(whole.epsilon <= epsilon && whole.epsilon > 0.999 * epsilon);
            assert!(whole.delta <= delta && whole.delta > 0.99 * delta);
            for share in [0.02, 0.3, 0.9] {
                let (Count::Epsilon(count), noise) = inner.loss.divide(share).expect("feasible")
                else {
                    panic!("not by epsilon");
                };
                let noise = conversion::epsilon_of_gaussians(noise.rho().get(), for_noise);
                assert!(count + noise <= average);
            }
        }
    }
}
