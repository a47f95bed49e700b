#![expect(clippy::float_cmp, reason = "the expected values are exact")]

use ndarray::{Array2, s};
use proptest::prelude::*;

use super::*;
use crate::domain::{BallDomain, BoxDomain};

fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -9.0..9.0_f64,
        Just(f64::NAN),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX)
    ]
}

fn frames(d: usize, bits: u32) -> [Frame; 2] {
    let lattice = Lattice::new(bits).unwrap();
    [
        Frame::new(
            BoxDomain::new(vec![-2.0; d], vec![6.0; d]).unwrap(),
            lattice,
        ),
        Frame::new(BallDomain::new(vec![2.0; d], 4.0).unwrap(), lattice),
    ]
}

fn quantized<'a>(frame: &Frame, rows: impl Into<Records<'a>>) -> Vec<f32> {
    let rows = rows.into();
    let mut out = vec![f32::NAN; rows.len() * rows.dimension()];
    frame.quantize_rows(rows, &mut out).unwrap();
    out
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let [frame, _] = frames(2, 20);
    let rows = Array2::<f64>::zeros((3, 2));
    let short = frame.quantize_rows(Records::from(&rows), &mut [0.0; 5]);
    assert!(matches!(
        short,
        Err(ShapeError::Length {
            expected: 6,
            found: 5,
            ..
        })
    ));
    let wide = Array2::<f32>::zeros((1, 3));
    let columns = frame.quantize_rows(Records::from(&wide), &mut [0.0; 3]);
    assert_eq!(
        columns,
        Err(ShapeError::Columns {
            expected: 2,
            found: 3
        })
    );
}

#[test]
fn a_vector_that_came_out_too_long_loses_single_units() {
    let mut row = [3.0, -5.0, 4.0];
    shorten_to(&mut row, 6.0);
    assert_eq!(row, [3.0, -3.0, 4.0]);
    let mut fits = [3.0, 4.0];
    shorten_to(&mut fits, 5.0);
    assert_eq!(fits, [3.0, 4.0]);
}

#[test]
fn wide_records_and_every_memory_layout_give_the_same_lattice_records() {
    for d in [1, 3, 511, 700] {
        let rows = Array2::from_shape_fn((9, d), |(i, j)| ((i * 31 + j * 17) % 23) as f64 - 8.0);
        let columns_first = rows.t().as_standard_layout().into_owned();
        let padded =
            Array2::from_shape_fn(
                (18, d + 2),
                |(i, j)| {
                    if j < d { rows[[i / 2, j]] } else { f64::NAN }
                },
            );
        let single = rows.mapv(|x| {
            #[expect(clippy::cast_possible_truncation, reason = "small integers")]
            let x = x as f32;
            x
        });
        for frame in frames(d, 20) {
            let expected = quantized(&frame, &rows);
            assert_eq!(quantized(&frame, columns_first.t()), expected);
            assert_eq!(quantized(&frame, padded.slice(s![..;2, ..d])), expected);
            assert_eq!(quantized(&frame, &single), expected);
        }
    }
}

proptest! {
    #[test]
    fn any_floats_become_lattice_points_of_the_domain(
        x in proptest::collection::vec(any_float(), 12), bits in 1..=22_u32
    ) {
        let rows = Array2::from_shape_vec((4, 3), x).unwrap();
        let [cube, ball] = frames(3, bits);
        let one = cube.lattice().units_per_one();
        for frame in [&cube, &ball] {
            for q in quantized(frame, &rows) {
                let units = f64::from(q) * f64::from(1 << bits);
                prop_assert!(q.abs() <= 1.0 && units.fract() == 0.0);
            }
        }
        for row in quantized(&ball, &rows).chunks(3) {
            let sq: i64 = row.iter().map(|&q| i64::from(ball.lattice().units(q)).pow(2)).sum();
            prop_assert!(sq <= one * one);
        }
    }

    #[test]
    fn unit_vectors_of_many_columns_never_leave_the_ball(
        x in proptest::collection::vec(-1.0..1.0_f64, 300), bits in 18..=22_u32
    ) {
        let d = x.len();
        let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        let rows = Array2::from_shape_fn((1, d), |(_, j)| 2.0 + 4.0 * x[j] / length);
        let [_, ball] = frames(d, bits);
        let sq: i64 = (quantized(&ball, &rows).iter())
            .map(|&q| i64::from(ball.lattice().units(q)).pow(2)).sum();
        prop_assert!(sq <= ball.lattice().units_per_one().pow(2));
    }

    #[test]
    fn a_lattice_record_is_a_function_of_its_record_alone(
        x in proptest::collection::vec(any_float(), 7 * 4), shift in 0..7_usize
    ) {
        let rows = Array2::from_shape_vec((7, 4), x).unwrap();
        for frame in frames(4, 20) {
            let all = quantized(&frame, &rows);
            let tail = quantized(&frame, rows.slice(s![shift.., ..]));
            prop_assert_eq!(&all[shift * 4..], &tail[..]);
        }
    }

    #[test]
    fn inside_the_box_a_record_moves_by_half_a_step_at_most(x in -2.0..6.0_f64) {
        let [frame, _] = frames(1, 20);
        let q = frame.quantize_center(&[(x - 2.0) / 4.0])[0];
        let row = quantized(&frame, &Array2::from_elem((1, 1), x));
        prop_assert_eq!(frame.lattice().units(row[0]), q);
        prop_assert!((f64::from(row[0]) - (x - 2.0) / 4.0).abs() <= frame.lattice().step() / 2.0);
    }

    #[test]
    fn inside_the_ball_no_coordinate_grows(x in proptest::collection::vec(-0.5..0.5_f64, 3)) {
        let [_, frame] = frames(3, 6);
        for (q, v) in frame.center_to_f32(&x).iter().zip(&x) {
            prop_assert!(f64::from(q.abs()) <= v.abs() && (f64::from(*q) - v).abs() < frame.lattice().step());
        }
    }
}
