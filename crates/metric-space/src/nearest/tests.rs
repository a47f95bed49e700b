use ndarray::{Array2, Axis, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Both types, for tests written once.
trait TestScalar: Scalar {
    fn of(value: f64) -> Self;
}

impl TestScalar for f32 {
    fn of(value: f64) -> Self {
        Kernel::from_f64(value)
    }
}

impl TestScalar for f64 {
    fn of(value: f64) -> Self {
        value
    }
}

/// The paths this machine can run. The portable one is always there, and is the reference.
fn paths() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available())
}

fn packed<T: Scalar>(centers: &Array2<T>, isa: Isa) -> PackedCenters<T> {
    PackedCenters::new(centers.view()).unwrap().on(isa)
}

fn labels_of<T: Scalar>(records: &Array2<T>, centers: &PackedCenters<T>) -> Vec<u32> {
    let mut labels = vec![u32::MAX; records.nrows()];
    centers.assign(records.as_slice().unwrap(), &mut labels);
    labels
}

/// Small integers: every score is exact, and ties are many.
fn integers<T: TestScalar>(rng: &mut ChaCha8Rng, rows: usize, d: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, d), |_| T::of(f64::from(rng.random_range(-3..=3))))
}

/// Values on the lattice of step 2⁻ᵇ within [−1, 1].
fn lattice<T: TestScalar>(rng: &mut ChaCha8Rng, rows: usize, d: usize, bits: i32) -> Array2<T> {
    let top = 1_i32 << bits;
    Array2::from_shape_fn((rows, d), |_| {
        T::of(f64::from(rng.random_range(-top..=top)) * f64::from(-bits).exp2())
    })
}

/// Values of all sizes, one in sixteen of them special.
fn odd_values<T: TestScalar>(rng: &mut ChaCha8Rng, rows: usize, d: usize) -> Array2<T> {
    const SPECIAL: [f64; 8] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1e-40,
        3e38,
        -3e38,
    ];
    Array2::from_shape_fn((rows, d), |_| {
        T::of(if rng.random_range(0..16 * d) < d {
            SPECIAL[rng.random_range(0..SPECIAL.len())]
        } else {
            rng.random_range(-1.0..1.0)
        })
    })
}

/// Centers a few units in the last place apart: which score is least is decided by rounding.
fn near_ties<T: TestScalar>(rng: &mut ChaCha8Rng, k: usize, d: usize) -> Array2<T> {
    let base: Vec<f64> = (0..d).map(|_| rng.random_range(0.5..1.0)).collect();
    let ulp: f64 = if size_of::<T>() == 4 {
        2_f64.powi(-24)
    } else {
        2_f64.powi(-53)
    };
    Array2::from_shape_fn((k, d), |(_, i)| {
        T::of(base[i] + ulp * f64::from(rng.random_range(-2..=2)))
    })
}

fn uniform<T: TestScalar>(rng: &mut ChaCha8Rng, rows: usize, d: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, d), |_| T::of(rng.random_range(-1.0..1.0)))
}

/// The nearest center in integer arithmetic, lowest index first.
fn exact_label<T: Scalar>(record: &[T], centers: &Array2<T>) -> u32 {
    let distance = |center: ndarray::ArrayView1<'_, T>| -> i64 {
        let squares = record.iter().zip(center).map(|(&x, &c)| {
            let (x, c): (f64, f64) = (x.into(), c.into());
            #[expect(clippy::cast_possible_truncation, reason = "small integers")]
            let difference = (x - c) as i64;
            difference * difference
        });
        squares.sum()
    };
    let by_distance = centers.outer_iter().map(distance).zip(0..);
    by_distance.min().unwrap().1
}

fn labels_are_exact_and_ties_go_to_the_lowest_index<T: TestScalar>() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for k in (1..=70).chain([127, 300]) {
        for d in [1, 2, 3, 5, 16, 33] {
            let centers: Array2<T> = integers(&mut rng, k, d);
            let records = integers(&mut rng, 37, d);
            for isa in paths() {
                let labels = labels_of(&records, &packed(&centers, isa));
                for (record, label) in records.outer_iter().zip(labels) {
                    let expected = exact_label(record.as_slice().unwrap(), &centers);
                    assert_eq!(label, expected, "k {k}, d {d}, {isa:?}");
                }
            }
        }
    }
}

#[test]
fn labels_are_exact_and_ties_go_to_the_lowest_index_in_f32() {
    labels_are_exact_and_ties_go_to_the_lowest_index::<f32>();
}

#[test]
fn labels_are_exact_and_ties_go_to_the_lowest_index_in_f64() {
    labels_are_exact_and_ties_go_to_the_lowest_index::<f64>();
}

/// Labels and sums of all paths on one input; n is no multiple of any tile.
fn paths_agree<T: TestScalar>(records: &Array2<T>, centers: &Array2<T>) {
    let run = |isa| {
        let centers = packed(centers, isa);
        let mut labels = vec![u32::MAX; records.nrows()];
        let mut sums = ClusterSums::new(centers.n_clusters(), centers.dimension());
        centers.assign_and_sum(records.as_slice().unwrap(), &mut labels, &mut sums);
        assert!(
            labels
                .iter()
                .all(|&label| (label as usize) < centers.n_clusters())
        );
        let bits: Vec<u64> = sums
            .sums()
            .flatten()
            .map(|&sum| canonical_bits(sum))
            .collect();
        (labels, bits, sums.counts().to_vec())
    };
    let expected = run(Isa::Portable);
    for isa in paths() {
        assert_eq!(run(isa), expected, "{isa:?}, centers {:?}", centers.dim());
    }
}

/// The bits of a number; one pattern for all NaN, whose sign and payload are not specified.
fn canonical_bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    }
}

fn every_path_gives_the_same_bits<T: TestScalar>() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let shapes = (1..=70).flat_map(|k| [1, 2, 3, 7, 16].map(|d| (k, d)));
    for (k, d) in shapes.chain([
        (1, 500),
        (5, 500),
        (70, 500),
        (64, 64),
        (1000, 2),
        (513, 31),
    ]) {
        let (uniform_centers, close) = (uniform(&mut rng, k, d), near_ties(&mut rng, k, d));
        paths_agree::<T>(&uniform(&mut rng, 59, d), &uniform_centers);
        paths_agree::<T>(&uniform(&mut rng, 59, d), &close);
        paths_agree::<T>(&odd_values(&mut rng, 59, d), &uniform_centers);
        paths_agree::<T>(&odd_values(&mut rng, 59, d), &odd_values(&mut rng, k, d));
    }
}

#[test]
fn every_path_gives_the_same_bits_in_f32() {
    every_path_gives_the_same_bits::<f32>();
}

#[test]
fn every_path_gives_the_same_bits_in_f64() {
    every_path_gives_the_same_bits::<f64>();
}

/// Whether each record keeps its label when it stands alone, in any slice, or among permuted rows.
fn labels_ignore_position<T: Scalar>(
    records: &Array2<T>,
    rng: &mut ChaCha8Rng,
    assign: impl Fn(&Array2<T>) -> Vec<u32>,
) -> bool {
    let n = records.nrows();
    let labels = assign(records);
    let alone = (0..n).all(|i| assign(&records.slice(s![i..=i, ..]).to_owned()) == labels[i..=i]);
    let sliced = (0..40).all(|_| {
        let start = rng.random_range(0..n);
        let end = rng.random_range(start..n) + 1;
        assign(&records.slice(s![start..end, ..]).to_owned()) == labels[start..end]
    });
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let permuted = assign(&records.select(Axis(0), &order));
    alone
        && sliced
        && order
            .iter()
            .zip(permuted)
            .all(|(&i, label)| labels[i] == label)
}

fn labels_do_not_depend_on_the_row<T: TestScalar>() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (k, d) in [
        (1, 3),
        (2, 1),
        (3, 3),
        (16, 16),
        (17, 7),
        (40, 3),
        (64, 64),
        (70, 500),
    ] {
        let centers = near_ties::<T>(&mut rng, k, d);
        let records = uniform(&mut rng, 131, d);
        for isa in paths() {
            let centers = packed(&centers, isa);
            let kept = labels_ignore_position(&records, &mut rng, |part| labels_of(part, &centers));
            assert!(kept, "k {k}, d {d}, {isa:?}");
        }
    }
}

#[test]
fn labels_do_not_depend_on_the_row_in_f32() {
    labels_do_not_depend_on_the_row::<f32>();
}

#[test]
fn labels_do_not_depend_on_the_row_in_f64() {
    labels_do_not_depend_on_the_row::<f64>();
}

/// The planted fault: the rows left over by tiles of twelve are labeled with products rounded on their own.
#[test]
fn a_tail_that_rounds_differently_is_caught() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (k, d) = (17, 7);
    let centers = near_ties::<f32>(&mut rng, k, d);
    let records = uniform(&mut rng, 131, d);
    let packed = packed(&centers, Isa::detect());
    let rounds_apart = |record: &[f32]| {
        let score = |center: &[f32]| {
            let norm = center.iter().fold(0.0, |sum, c| c.mul_add(*c, sum));
            let products = record.iter().zip(center).map(|(x, c)| -2.0 * c * x);
            products.fold(norm, |sum: f32, product| sum + product)
        };
        let scores = centers
            .outer_iter()
            .map(|c| score(c.as_slice().unwrap()))
            .zip(0..);
        scores.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
    };
    let with_fault = |part: &Array2<f32>| {
        let mut labels = labels_of(part, &packed);
        let body = labels.len() / 12 * 12;
        for (record, label) in part.outer_iter().zip(&mut labels).skip(body) {
            *label = rounds_apart(record.as_slice().unwrap());
        }
        labels
    };
    assert!(!labels_ignore_position(&records, &mut rng, with_fault));
}

fn lattice_sums_are_the_integer_sums<T: TestScalar>() {
    const BITS: i32 = 22;
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (n, d, k) = (40_003, 3, 5);
    let records = lattice::<T>(&mut rng, n, d, BITS);
    let centers = packed(&lattice(&mut rng, k, d, BITS), Isa::detect());
    let mut labels = vec![0; n];
    let sums = lloyd_step_with_labels(records.view(), &centers, &mut labels);

    let mut integers = vec![0_i128; k * d];
    let mut counts = vec![0_u64; k];
    for (record, &label) in records.outer_iter().zip(&labels) {
        counts[label as usize] += 1;
        for (i, &x) in record.iter().enumerate() {
            let x: f64 = x.into();
            #[expect(clippy::cast_possible_truncation, reason = "an integer below 2^23")]
            let units = (x * f64::from(BITS).exp2()) as i128;
            integers[label as usize * d + i] += units;
        }
    }
    assert_eq!(sums.counts(), counts);
    let ours: Vec<i128> = sums.integer_sums(22).into_iter().map(i128::from).collect();
    assert_eq!(ours, integers);
    // No rounding hides in the conversion: the float sums are those integers in lattice steps.
    for (&sum, integer) in sums.sums().flatten().zip(integers) {
        assert_eq!(
            sum.to_bits(),
            (integer as f64 * f64::from(-BITS).exp2()).to_bits()
        );
    }
    // Nor does the order of the records matter.
    let reversed = lloyd_step(records.slice(s![..;-1, ..]), &centers);
    assert_eq!(reversed.integer_sums(22), sums.integer_sums(22));
}

#[test]
fn lattice_sums_are_the_integer_sums_in_f32() {
    lattice_sums_are_the_integer_sums::<f32>();
}

#[test]
fn lattice_sums_are_the_integer_sums_in_f64() {
    lattice_sums_are_the_integer_sums::<f64>();
}

/// The largest sum the documentation promises, without 2³⁰ rows: partial sums near 2³⁰ still hold the last bit.
#[test]
fn the_stated_range_of_exact_sums_is_what_f64_holds() {
    let step = (-22_f64).exp2();
    let largest = 30_f64.exp2();
    assert_eq!(((largest - step) + step).to_bits(), largest.to_bits());
    assert_ne!((largest - step).to_bits(), largest.to_bits());
    let mut sums = ClusterSums::new(1, 1);
    sums.accumulate(&[largest - 1.0], &[0]);
    let mut step_sums = ClusterSums::new(1, 1);
    step_sums.accumulate(&[step], &[0]);
    sums.merge(&step_sums);
    assert_eq!(sums.integer_sums(22), [((1 << 30) - 1) * (1 << 22) + 1]);
}

#[test]
fn sums_of_any_floats_do_not_depend_on_the_thread_count() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let records = uniform::<f64>(&mut rng, 100_001, 2);
    let centers = packed(&uniform(&mut rng, 7, 2), Isa::detect());
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let sums = pool.install(|| lloyd_step(records.view(), &centers));
        sums.sums()
            .flatten()
            .map(|sum| sum.to_bits())
            .collect::<Vec<_>>()
    };
    let expected = with_threads(1);
    for threads in [2, 3, 8] {
        assert_eq!(with_threads(threads), expected, "{threads} threads");
    }
}

#[test]
fn rows_in_any_memory_layout_give_the_same_bits() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let wide = uniform::<f32>(&mut rng, 20_003, 14);
    let strided = wide.slice(s![.., ..;2]);
    let contiguous = strided.to_owned();
    let columns = contiguous.t().as_standard_layout().to_owned();
    let centers = packed(&uniform(&mut rng, 9, 7), Isa::detect());
    let expected = lloyd_step(contiguous.view(), &centers);
    assert_eq!(lloyd_step(strided, &centers), expected);
    assert_eq!(lloyd_step(columns.t(), &centers), expected);
}

#[test]
fn a_record_without_a_nearest_center_gets_label_zero() {
    let centers = ndarray::array![[0.5, 0.5], [-0.5, 0.5], [0.0, 0.0]];
    let records = ndarray::array![[f64::NAN, 0.0], [0.0, f64::NAN], [f64::NAN, f64::NAN]];
    for isa in paths() {
        assert_eq!(labels_of(&records, &packed(&centers, isa)), [0, 0, 0]);
    }
    let nowhere = ndarray::array![[f64::NAN, 0.0], [f64::INFINITY, 0.0]];
    for isa in paths() {
        assert_eq!(labels_of(&records, &packed(&nowhere, isa)), [0, 0, 0]);
    }
}

#[test]
fn distances_are_those_to_the_chosen_center_without_cancellation() {
    // Far from the origin the scores lose all digits of the distance; the reported one keeps them.
    let centers = ndarray::array![[1000.25_f32, 1000.0, 0.0], [-1000.0, 0.0, 0.0]];
    let records = ndarray::array![[1000.0_f32, 1000.0, 0.0], [-1000.0, 0.0, 0.125]];
    let centers = PackedCenters::new(centers.view()).unwrap();
    let (mut labels, mut distances) = ([9; 2], [9.0; 2]);
    centers.assign_with_distance(records.as_slice().unwrap(), &mut labels, &mut distances);
    assert_eq!(labels, [0, 1]);
    assert_eq!(
        distances.map(f32::to_bits),
        [0.0625_f32, 0.015_625].map(f32::to_bits)
    );
}

#[test]
fn distances_are_exact_on_integers_in_every_dimension() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for d in 1..40 {
        let centers = integers::<f64>(&mut rng, 4, d);
        let records = integers::<f64>(&mut rng, 9, d);
        let packed = packed(&centers, Isa::detect());
        let (mut labels, mut distances) = ([0; 9], [0.0; 9]);
        packed.assign_with_distance(records.as_slice().unwrap(), &mut labels, &mut distances);
        for ((record, label), distance) in records.outer_iter().zip(labels).zip(distances) {
            let difference = &record - &centers.row(label as usize);
            assert_eq!(distance.to_bits(), difference.dot(&difference).to_bits());
        }
    }
}

#[test]
fn no_records_give_no_labels_and_zero_sums() {
    let centers = PackedCenters::new(ndarray::array![[0.0_f32]].view()).unwrap();
    centers.assign(&[], &mut []);
    let sums = lloyd_step(Array2::zeros((0, 1)).view(), &centers);
    assert_eq!(sums, ClusterSums::new(1, 1));
}

#[test]
fn unusable_centers_are_refused() {
    let refuse = |k, d| PackedCenters::new(Array2::<f64>::zeros((k, d)).view()).unwrap_err();
    assert_eq!(refuse(0, 3), NearestError::NoCenters);
    assert_eq!(refuse(3, 0), NearestError::NoCoordinates);
}

#[test]
fn debug_shows_the_shape_of_sums_and_nothing_private() {
    let mut sums = ClusterSums::new(2, 3);
    sums.accumulate(&[1234.5, 0.0, 0.0], &[1]);
    let text = format!("{sums:?}");
    assert_eq!(text, "ClusterSums { n_clusters: 2, dimension: 3, .. }");
}
