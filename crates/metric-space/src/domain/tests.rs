#![expect(clippy::float_cmp, reason = "the expected values are exact")]

use proptest::prelude::*;

use super::*;

fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -3.0..3.0_f64,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX)
    ]
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[test]
fn bounds_that_bound_nothing_are_refused() {
    let refused = |lo: f64, hi: f64| BoxDomain::new(vec![0.0, lo], vec![1.0, hi]).unwrap_err();
    for (lo, hi) in [
        (1.0, 1.0),
        (2.0, 1.0),
        (0.0, f64::INFINITY),
        (-f64::MAX, f64::MAX),
        (0.0, 5e-324),
    ] {
        assert_eq!(refused(lo, hi), DomainError::Bounds { column: 1, lo, hi });
    }
    assert!(matches!(
        refused(f64::NAN, 1.0),
        DomainError::Bounds { column: 1, .. }
    ));
    assert_eq!(BoxDomain::new(vec![], vec![]), Err(DomainError::NoColumns));
    assert_eq!(
        BoxDomain::new(vec![0.0], vec![]),
        Err(DomainError::Lengths { lo: 1, hi: 0 })
    );
}

#[test]
fn balls_need_a_finite_center_and_a_positive_radius() {
    for got in [0.0, -1.0, f64::INFINITY, 5e-324] {
        assert_eq!(
            BallDomain::new(vec![0.0], got),
            Err(DomainError::Radius { got })
        );
    }
    assert!(BallDomain::new(vec![0.0], f64::NAN).is_err());
    assert!(matches!(
        BallDomain::new(vec![0.0, f64::NAN], 1.0),
        Err(DomainError::Center { column: 1, .. })
    ));
    assert!(BallDomain::new(vec![f64::MAX], f64::MAX).is_err());
    assert_eq!(BallDomain::new(vec![], 1.0), Err(DomainError::NoColumns));
}

#[test]
fn a_coordinate_that_is_no_number_becomes_the_middle() {
    let domain = Domain::from(BoxDomain::new(vec![0.0; 4], vec![8.0; 4]).unwrap());
    let mut out = [9.0; 4];
    domain.to_scaled_record(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 6.0], &mut out);
    assert_eq!(out, [0.0, 0.0, 0.0, 0.5]);
}

#[test]
fn diameters_are_those_of_cube_and_ball() {
    let cube = Domain::from(BoxDomain::unit(4).unwrap());
    let ball = Domain::from(BallDomain::new(vec![3.0; 4], 7.0).unwrap());
    assert_eq!((cube.diameter_scaled(), ball.diameter_scaled()), (4.0, 2.0));
}

proptest! {
    #[test]
    fn clipping_a_box_takes_any_floats(x in proptest::collection::vec(any_float(), 3)) {
        let domain = Domain::from(BoxDomain::unit(3).unwrap());
        let mut scaled = vec![0.0; 3];
        domain.to_scaled_record(&x, &mut scaled);
        prop_assert!(scaled.iter().all(|v| v.is_finite()));
        domain.clip_scaled(&mut scaled);
        prop_assert!(scaled.iter().all(|v| v.abs() <= 1.0));
    }

    #[test]
    fn clipping_a_ball_takes_any_floats(mut x in proptest::collection::vec(any_float(), 1..5)) {
        let domain = Domain::from(BallDomain::new(vec![0.0; x.len()], 1.0).unwrap());
        domain.clip_scaled(&mut x);
        prop_assert!(length(&x) <= 1.0 + 1e-12);
    }

    #[test]
    fn clipping_a_ball_keeps_the_direction(x in proptest::collection::vec(-9.0..9.0_f64, 3)) {
        let domain = Domain::from(BallDomain::new(vec![0.0; 3], 1.0).unwrap());
        let mut y = x.clone();
        domain.clip_scaled(&mut y);
        let shrink = if length(&x) > 1.0 { 1.0 / length(&x) } else { 1.0 };
        for (a, b) in x.iter().zip(&y) {
            prop_assert!((a * shrink - b).abs() < 1e-12);
        }
    }

    #[test]
    fn original_units_come_back_inside_the_bounds(
        lo in -1e6..1e6_f64, width in 1e-9..1e6_f64, s in proptest::collection::vec(any_float(), 2)
    ) {
        prop_assume!(lo + width > lo);
        let domains = [
            Domain::from(BoxDomain::new(vec![lo; 2], vec![lo + width; 2]).unwrap()),
            Domain::from(BallDomain::new(vec![lo; 2], width).unwrap()),
        ];
        for domain in domains {
            let x = domain.to_original(&s);
            prop_assert!(domain.contains(&x), "{domain:?} {s:?} {x:?}");
        }
    }

    #[test]
    fn scaling_there_and_back_is_the_identity(t in -1.0..1.0_f64, u in -0.7..0.7_f64) {
        let domains = [
            Domain::from(BoxDomain::new(vec![-3.0, 10.0], vec![5.0, 1000.0]).unwrap()),
            Domain::from(BallDomain::new(vec![-3.0, 10.0], 40.0).unwrap()),
        ];
        for domain in domains {
            let inside = [t * 0.7, u];
            let mut back = [0.0; 2];
            domain.to_scaled_record(&domain.to_original(&inside), &mut back);
            prop_assert!((back[0] - inside[0]).abs() < 1e-12 && (back[1] - inside[1]).abs() < 1e-12);
        }
    }
}
