use dp_core::rng::InsecureSeededRng;
use dp_core::tape::Edit;
use metric_space::{BoxDomain, Euclidean, Power};
use ndarray::Axis;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::black_box::FreeLloyd;
use crate::{MaxCoverParams, ThroughCandidates};

fn budget() -> Budget {
    Budget::approx(
        Epsilon::new(2.0).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    )
}

fn domain(d: usize) -> Domain {
    Domain::from(BoxDomain::new(vec![-3.0; d], vec![5.0; d]).expect("valid"))
}

fn records(n: usize, d: usize) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    Array2::from_shape_fn((n, d), |(i, j)| {
        let center = if (i + j) % 3 == 0 { -1.0 } else { 3.0 };
        if i == 5 {
            f64::NAN
        } else {
            center + rng.random_range(-0.2..0.2)
        }
    })
}

fn through(source: Source) -> ThroughCandidates {
    let params = MaxCoverParams::new(3, budget(), Power::MEANS);
    ThroughCandidates::new(source, 256, params).expect("valid")
}

#[test]
fn every_source_releases_within_its_plan_under_both_relations() {
    for source in Source::ALL {
        for (n, d) in [(0, 1), (40, 2), (6000, 2), (6000, 10)] {
            for relation in NeighboringRelation::ALL {
                let mut noise = InsecureSeededRng::new(3);
                let mut session = Session::new(budget(), relation, &mut noise);
                let mut public = ChaCha8Rng::seed_from_u64(2);
                let (domain, black_box) = (domain(d), FreeLloyd::default());
                let fitted = through(source)
                    .fit(
                        &Euclidean,
                        &domain,
                        &records(n, d),
                        &black_box,
                        &mut session,
                        &mut public,
                    )
                    .expect("a release");
                assert_eq!(fitted.centers.dim(), (3, d), "{source:?}");
                assert!(
                    fitted
                        .centers
                        .rows()
                        .into_iter()
                        .all(|c| domain.contains(&c.to_vec()))
                );
                let guarantee = session.guarantee();
                assert!(
                    guarantee.epsilon <= 2.0 && guarantee.delta <= 1e-6,
                    "{source:?} {guarantee:?}"
                );
            }
        }
    }
}

#[test]
fn candidates_replay_on_a_neighbor() {
    let all = records(3000, 2);
    let kept: Vec<usize> = (0..3000).filter(|&i| i != 17).collect();
    let smaller = all.select(Axis(0), &kept);
    let two_fewer = all.select(Axis(0), &kept[1..]);
    for source in [Source::Lsh, Source::Partition, Source::Tree] {
        let replays = |neighbor: &Array2<f64>| {
            let fit = |records: &Array2<f64>, session: &mut Session<'_>| {
                let mut public = ChaCha8Rng::seed_from_u64(2);
                through(source)
                    .fit(
                        &Euclidean,
                        &domain(2),
                        records,
                        &FreeLloyd::default(),
                        session,
                        &mut public,
                    )
                    .expect("a release")
            };
            let mut noise = InsecureSeededRng::new(5);
            let mut session =
                Session::new(budget(), NeighboringRelation::AddRemove, &mut noise).recorded();
            fit(&all, &mut session);
            let tape = session.into_tape().expect("was recorded");
            let mut noise = InsecureSeededRng::new(6);
            let session = Session::new(budget(), NeighboringRelation::AddRemove, &mut noise);
            let mut session = session.replayed(&tape, Edit::Removed(17));
            fit(neighbor, &mut session);
            session
                .into_report()
                .expect("was replayed")
                .differences
                .is_empty()
        };
        assert!(replays(&smaller), "{source:?}");
        assert!(
            !replays(&two_fewer),
            "{source:?}: the twin with two records fewer"
        );
    }
}

#[test]
fn private_candidates_come_near_the_clusters() {
    let (domain, records) = (domain(2), records(20_000, 2));
    for source in [Source::Lsh, Source::Partition, Source::Tree] {
        let mut noise = InsecureSeededRng::new(3);
        let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut noise);
        let candidates = Candidates::new(source, budget(), 256).expect("valid");
        let mut public = ChaCha8Rng::seed_from_u64(4);
        let found = candidates
            .draw(&domain, &records, &mut session, &mut public)
            .expect("a release")
            .points;
        for cluster in [[-1.0, 3.0], [3.0, 3.0], [3.0, -1.0]] {
            let nearest = found
                .rows()
                .into_iter()
                .map(|row| metric_space::euclidean(&row.to_vec(), &cluster));
            let nearest = nearest.fold(f64::INFINITY, |a, b| if b < a { b } else { a });
            assert!(nearest < 0.5, "{source:?}: {nearest} from {cluster:?}");
        }
    }
}

/// 30,000 records of `d` columns: thirds around −1, 1 and 3 in every column; and the candidates for them.
fn drawn(source: Source, d: usize, limit: usize) -> Drawn {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let records = Array2::from_shape_fn((30_000, d), |(i, _)| {
        [-1.0, 1.0, 3.0][i % 3] + rng.random_range(-0.2..0.2)
    });
    let mut noise = InsecureSeededRng::new(3);
    let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut noise);
    let candidates = Candidates::new(source, budget(), limit).expect("valid");
    let mut public = ChaCha8Rng::seed_from_u64(4);
    candidates
        .draw(&domain(d), &records, &mut session, &mut public)
        .expect("a release")
}

/// The largest distance, as a mean over columns, of a cluster's middle to the nearest candidate.
fn worst(drawn: &Drawn) -> f64 {
    let d = drawn.points.ncols();
    let mut worst = 0.0;
    for middle in [-1.0, 1.0, 3.0] {
        let away = |row: ndarray::ArrayView1<'_, f64>| {
            metric_space::euclidean(&row.to_vec(), &vec![middle; d]) / (d as f64).sqrt()
        };
        let rows = drawn.points.rows().into_iter();
        let nearest = rows
            .map(away)
            .fold(f64::INFINITY, |a, b| if b < a { b } else { a });
        if nearest > worst {
            worst = nearest;
        }
    }
    worst
}

#[test]
fn a_halving_of_many_columns_goes_through_a_projection() {
    let drawn = drawn(Source::Partition, 20, 64);
    // A cut at every column in turn would come to an end before it told any cluster from the next.
    assert!(worst(&drawn) < 0.7, "{}", worst(&drawn));
    let few = Candidates::new(Source::Partition, budget(), 64).expect("valid");
    let events = |d| {
        few.plan(NeighboringRelation::AddRemove, d)
            .expect("a plan")
            .len()
    };
    assert_eq!((events(8), events(9)), (1, 2), "means cost budget");
}

#[test]
fn leaves_are_a_weighted_coreset_of_nearly_all_records() {
    for (source, d) in [(Source::Tree, 2), (Source::Partition, 20), (Source::Lsh, 2)] {
        let drawn = drawn(source, d, 64);
        let weights = drawn.weights.expect("counted");
        assert_eq!(weights.len(), drawn.points.nrows());
        // At most 64 counts of scale below 20, and what small halves take along.
        let all: f64 = weights.iter().sum();
        assert!((20_000.0..32_000.0).contains(&all), "{source:?}: {all}");
    }
}

#[test]
fn a_tree_that_ends_early_gives_the_leaves_where_it_ended() {
    // Twenty levels at this budget keep no node of fewer than about 80 records: without leaves inside there would be hardly any.
    let drawn = drawn(Source::Tree, 2, 1 << 20);
    assert!(drawn.points.nrows() > 3, "{}", drawn.points.nrows());
    assert!(worst(&drawn) < 0.5, "{}", worst(&drawn));
}

#[test]
fn public_sources_fill_the_domain_and_cost_nothing() {
    let domain = domain(3);
    for source in [Source::Lattice, Source::Uniform] {
        let candidates = Candidates::new(source, budget(), 1000).expect("valid");
        assert!(
            candidates
                .plan(NeighboringRelation::AddRemove, 3)
                .expect("a plan")
                .is_empty()
        );
        let mut noise = InsecureSeededRng::new(3);
        let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut noise);
        let mut public = ChaCha8Rng::seed_from_u64(4);
        let found = candidates
            .draw(&domain, &records(10, 3), &mut session, &mut public)
            .expect("a release");
        assert_eq!(found.points.nrows(), 1000);
        assert_eq!(found.weights, None);
        assert!(session.ledger().events().is_empty());
    }
    assert!(Candidates::new(Source::Lattice, budget(), 0).is_err());
    let pure = Budget::pure(Epsilon::new(1.0).expect("valid"));
    assert_eq!(
        Candidates::new(Source::Lsh, pure, 10),
        Err(ParamsError::NoDelta)
    );
}

/// Squares of such distances are beyond the range of numbers: bounds are public, so that is seen before anything is spent.
#[test]
fn a_domain_too_wide_for_its_metric_is_refused_before_anything_is_spent() {
    let wide = Domain::from(BoxDomain::new(vec![0.0; 2], vec![1e300; 2]).expect("valid"));
    for source in Source::ALL {
        let mut noise = InsecureSeededRng::new(1);
        let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut noise);
        let refused = through(source).fit(
            &Euclidean,
            &wide,
            &records(50, 2),
            &FreeLloyd::default(),
            &mut session,
            &mut ChaCha8Rng::seed_from_u64(1),
        );
        assert!(matches!(
            refused,
            Err(FitError::Params(ParamsError::Unbounded))
        ));
        assert!(session.ledger().events().is_empty(), "{}", source.name());
    }
}
