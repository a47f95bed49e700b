use super::*;

#[test]
fn there_are_as_many_thresholds_as_the_formula_says() {
    for (n, power, quality) in [
        (5000.0, 1.0, 0.3),
        (5000.0, 2.0, 0.3),
        (100.0, 1.5, 0.05),
        (2.0, 3.0, 0.2),
    ] {
        let thresholds = Thresholds::new(7.0, n, Power::new(power).expect("valid"), quality);
        let expected = (f64::ln(n) / f64::ln(1.0 + quality) / power).ceil() + 1.0;
        assert!(
            (thresholds.len() as f64 - expected).abs() < 0.5,
            "{n} {power} {quality}"
        );
    }
    // A whole number of steps is not rounded up by an error of the logarithm.
    assert_eq!(Thresholds::new(1.0, 8.0, Power::MEDIANS, 1.0).len(), 4);
}

#[test]
fn thresholds_start_at_the_diameter_over_n_and_grow_up_to_it() {
    let thresholds = Thresholds::new(10.0, 1000.0, Power::MEANS, 0.25);
    assert!((thresholds.first() * thresholds.first() - 100.0 / 1000.0).abs() < 1e-12);
    let radii = thresholds.radii();
    for pair in radii[..radii.len() - 1].windows(2) {
        assert!((pair[1] / pair[0] - 1.25).abs() < 1e-12);
    }
    // One threshold fewer (the paper's count) would end before the diameter.
    assert!(radii[radii.len() - 2] < 10.0 && radii[radii.len() - 2] * 1.25 >= 10.0 * (1.0 - 1e-9));
    assert!(radii[radii.len() - 1].is_infinite());
}

#[test]
fn degenerate_spaces_have_one_threshold() {
    assert_eq!(
        Thresholds::new(0.0, 1000.0, Power::MEDIANS, 0.3).radii(),
        [f64::INFINITY]
    );
    assert_eq!(Thresholds::new(5.0, 1.0, Power::MEDIANS, 0.3).len(), 1);
}

#[test]
fn qualities_end_where_the_divisor_of_the_bound_is_zero() {
    for (power, limit) in [
        (1.0, 0.618),
        (2.0, 0.4656),
        (3.0, 0.3803),
        (4.0, 0.3247),
        (5.0, 0.2852),
    ] {
        let found = quality_limit(Power::new(power).expect("valid"));
        assert!((found - limit).abs() < 1e-3, "{power}: {found}");
    }
}

#[test]
fn picks_per_threshold_follow_the_formula() {
    assert_eq!(picks_per_threshold(20, 0.3), 49);
    assert_eq!(picks_per_threshold(1, 0.9), 1);
}
