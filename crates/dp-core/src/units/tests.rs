use super::*;

#[test]
fn epsilon_and_rho_refuse_what_is_not_a_positive_number() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0] {
        assert!(Epsilon::new(bad).is_err(), "{bad} was accepted");
        assert!(Rho::new(bad).is_err(), "{bad} was accepted");
    }
    assert!(Epsilon::new(f64::MIN_POSITIVE).is_ok());
    assert!(Rho::new(f64::MAX).is_ok());
}

#[test]
fn delta_is_a_probability_below_one() {
    for bad in [f64::NAN, f64::INFINITY, 1.0, -1e-300, 2.0] {
        assert!(Delta::new(bad).is_err(), "{bad} was accepted");
    }
    assert!(Delta::new(0.0).is_ok_and(Delta::is_zero));
    assert!(Delta::new(1e-300).is_ok_and(|delta| !delta.is_zero()));
}

#[test]
fn a_file_cannot_bring_in_a_bad_unit() {
    assert!(serde_json::from_str::<Epsilon>("-1.0").is_err());
    assert!(serde_json::from_str::<Epsilon>("0.5").is_ok());
    assert!(serde_json::from_str::<Delta>("1.0").is_err());
    assert!(serde_json::from_str::<Rho>("0").is_err());
}
