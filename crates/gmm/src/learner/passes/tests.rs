use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::Array2;
use proptest::num::f64::ANY;
use proptest::prelude::*;

use super::*;

fn frame(d: usize) -> Frame {
    Frame::new(BoxDomain::unit(d).expect("columns"), Lattice::default())
}

fn views(d: usize, stretch: f64) -> Vec<View> {
    let view = |place: f64| View {
        center: Array1::from_elem(d, place),
        map: Array2::from_shape_fn(
            (d, d),
            |(i, j)| if i == j { stretch } else { 0.1 * stretch },
        ),
    };
    vec![view(-0.5), view(0.4)]
}

fn moments(records: &Array2<f64>, stretch: f64) -> ClusterMoments {
    let frame = frame(records.ncols());
    let source = FramedSource::new(records, &frame);
    Passes::new(&source)
        .moments(&views(records.ncols(), stretch))
        .expect("in memory")
}

fn sq_move(a: &[i64], b: &[i64]) -> u128 {
    a.iter()
        .zip(b)
        .map(|(a, b)| u128::from(a.abs_diff(*b)).pow(2))
        .sum()
}

fn stays_within(
    first: &ClusterMoments,
    second: &ClusterMoments,
    relation: NeighboringRelation,
) -> bool {
    [
        (Moved::Counts, &first.counts, &second.counts),
        (Moved::Sums, &first.sums, &second.sums),
        (Moved::Products, &first.products, &second.products),
    ]
    .into_iter()
    .all(|(moved, a, b)| {
        let bound = moved.sensitivity(relation).expect("positive").squared();
        sq_move(a, b) <= bound
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// One record more, or another one in its place, for records of any floats and views from blunt to sharp.
    #[test]
    fn one_record_moves_the_moments_by_no_more_than_claimed(
        (d, rows) in (1_usize..5).prop_flat_map(|d| (Just(d), prop::collection::vec(prop::collection::vec(prop_oneof![ANY, -1.0..1.0], d), 1..6))),
        other in prop::collection::vec(prop_oneof![ANY, -1.0..1.0], 4),
        stretch in prop_oneof![Just(0.3), Just(3.0), Just(1e6)],
    ) {
        let all = Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][j]);
        let mut fewer = all.clone();
        fewer.remove_index(ndarray::Axis(0), 0);
        let mut replaced = all.clone();
        for j in 0..d {
            replaced[[0, j]] = other[j];
        }
        let whole = moments(&all, stretch);
        prop_assert!(stays_within(&whole, &moments(&fewer, stretch), NeighboringRelation::AddRemove));
        prop_assert!(stays_within(&whole, &moments(&replaced, stretch), NeighboringRelation::ReplaceOne));
    }

    #[test]
    fn clipped_vectors_are_never_longer_than_allowed(white in prop::collection::vec(prop_oneof![ANY, -3e4..3e4], 1..20)) {
        let mut units = vec![0; white.len()];
        clip(&white, &mut units);
        let squared: i64 = units.iter().map(|&x| i64::from(x) * i64::from(x)).sum();
        prop_assert!(squared <= i64::from(CLIP_UNITS).pow(2));
    }
}

/// The claims are tight: a smaller one would be wrong.
#[test]
fn the_claimed_moves_are_reached() {
    let far = Array2::from_elem((1, 1), 1.0);
    let none = Array2::zeros((0, 1));
    let opposite = Array2::from_elem((1, 1), -1.0);
    let sharp = 1e6;
    let (with, without) = (moments(&far, sharp), moments(&none, sharp));
    let length = u128::from(CLIP_UNITS.unsigned_abs());
    assert_eq!(sq_move(&with.sums, &without.sums), length.pow(2));
    assert_eq!(sq_move(&with.products, &without.products), length.pow(4));
    // Another cluster: two counts, two products.
    let moved = moments(&opposite, sharp);
    assert_eq!(sq_move(&with.counts, &moved.counts), 2);
    assert_eq!(sq_move(&with.products, &moved.products), 2 * length.pow(4));
    // The opposite end of the same cluster: twice the length.
    let [left, right] = [0.3, 0.9].map(|x| moments(&Array2::from_elem((1, 1), x), sharp));
    assert_eq!(sq_move(&left.sums, &right.sums), 4 * length.pow(2));
}

#[test]
fn moments_are_those_of_the_textbook() {
    let records = ndarray::array![[-0.4, -0.6], [-0.5, -0.45], [0.5, 0.3], [f64::NAN, 0.5]];
    let moments = moments(&records, 0.5);
    assert_eq!(moments.counts, [2, 2]);
    // First cluster: differences (0.1, -0.1) and (0, 0.05), mapped by [[0.5, 0.05], [0.05, 0.5]].
    let white = [[0.045, -0.045], [0.0025, 0.025]];
    let unit = f64::from(CLIP_UNITS);
    let sum: Vec<f64> = moments.sums[..2].iter().map(|&x| x as f64 / unit).collect();
    assert!(
        (sum[0] - 0.0475).abs() < 3e-4 && (sum[1] + 0.02).abs() < 3e-4,
        "{sum:?}"
    );
    let product: f64 = white.iter().map(|w| w[0] * w[1]).sum();
    assert!((moments.products[1] as f64 / (unit * unit) - product).abs() < 1e-5);
}

/// What a record adds depends on the record alone: order and company change nothing.
#[test]
fn records_add_the_same_wherever_they_stand() {
    let records = Array2::from_shape_fn((500, 3), |(i, j)| {
        ((i * 7 + j * 13) % 101) as f64 / 50.0 - 1.0
    });
    let mut reversed = records.clone();
    reversed.invert_axis(ndarray::Axis(0));
    let reversed = reversed.as_standard_layout().to_owned();
    assert_eq!(moments(&records, 2.0), moments(&reversed, 2.0));
}

#[test]
fn beyond_the_last_cell_is_the_last_cell() {
    let records = Array2::from_elem((5, 1), 0.7);
    let frame = frame(1);
    let source = FramedSource::new(&records, &frame);
    let cells = Passes::new(&source)
        .cells(&views(1, 1.0), 3, &|_, _| 99)
        .expect("in memory");
    assert_eq!(cells, [0, 0, 0, 0, 0, 5]);
}
