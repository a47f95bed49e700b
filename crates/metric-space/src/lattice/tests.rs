use proptest::prelude::*;

use super::*;

#[test]
fn bits_out_of_range_are_refused() {
    assert_eq!(Lattice::new(0), Err(LatticeError::Bits { got: 0 }));
    assert_eq!(Lattice::new(23), Err(LatticeError::Bits { got: 23 }));
    assert!(Lattice::new(1).is_ok() && Lattice::new(22).is_ok());
}

#[test]
fn ties_go_to_the_even_unit() {
    let lattice = Lattice::new(1).unwrap();
    assert_eq!(
        [0.25, 0.75, -0.25, -0.75].map(|x| lattice.quantize(x)),
        [0, 2, 0, -2]
    );
}

#[test]
fn ends_of_the_domain_are_lattice_points_and_odd_floats_fall_inside() {
    for bits in 1..=MAX_BITS {
        let lattice = Lattice::new(bits).unwrap();
        let one = 1 << bits;
        for round in [Lattice::quantize, Lattice::quantize_toward_zero] {
            assert_eq!(
                [1.0, -1.0, 0.0, f64::NAN].map(|x| round(lattice, x)),
                [one, -one, 0, 0]
            );
            assert_eq!(
                [f64::INFINITY, -1e300].map(|x| round(lattice, x)),
                [one, -one]
            );
        }
    }
}

proptest! {
    #[test]
    fn rounding_to_nearest_moves_by_half_a_step_at_most(x in -1.0..=1.0_f64, bits in 1..=MAX_BITS) {
        let lattice = Lattice::new(bits).unwrap();
        let q = lattice.to_f64(i64::from(lattice.quantize(x)));
        prop_assert!((q - x).abs() <= lattice.step() / 2.0);
    }

    #[test]
    fn rounding_toward_zero_never_lengthens(x in -1.0..=1.0_f64, bits in 1..=MAX_BITS) {
        let lattice = Lattice::new(bits).unwrap();
        let q = lattice.to_f64(i64::from(lattice.quantize_toward_zero(x)));
        prop_assert!(q.abs() <= x.abs() && (q - x).abs() < lattice.step() && q * x >= 0.0);
    }

    #[test]
    fn every_unit_is_a_float_and_comes_back(bits in 1..=MAX_BITS, t in -1.0..=1.0_f64) {
        let lattice = Lattice::new(bits).unwrap();
        let units = lattice.quantize(t);
        #[expect(clippy::cast_possible_truncation, reason = "lattice values are floats exactly")]
        let stored = lattice.to_f64(i64::from(units)) as f32;
        prop_assert_eq!(lattice.units(stored), units);
        prop_assert_eq!(lattice.quantize(f64::from(stored)), units);
        prop_assert_eq!(lattice.quantize_toward_zero(f64::from(stored)), units);
    }
}
