//! Distances on spheres: on the globe, and between directions.

use ndarray::ArrayView2;

use super::{Metric, hull};
use crate::domain::Domain;

/// Mean radius of the earth in meters (IUGG).
pub const EARTH_RADIUS: f64 = 6_371_008.8;

/// Room for rounding: places on the unit sphere are right to 1e-15.
const SLACK: f64 = 1e-9;

/// Great-circle distance in meters; the two columns are latitude and longitude in degrees, in this order.
///
/// A sphere of [`EARTH_RADIUS`]: within 0.6 % of the ellipsoid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Haversine;

impl Metric for Haversine {
    fn name(&self) -> &'static str {
        "haversine"
    }

    fn columns(&self) -> Option<usize> {
        Some(2)
    }

    /// 0 unless both points have two columns.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let (&[lat_a, lon_a], &[lat_b, lon_b]) = (a, b) else {
            return 0.0;
        };
        let (phi_a, phi_b) = (lat_a.to_radians(), lat_b.to_radians());
        let sin_phi = libm::sin((phi_a - phi_b) / 2.0);
        let sin_lambda = libm::sin((lon_a - lon_b).to_radians() / 2.0);
        let h = sin_phi * sin_phi + libm::cos(phi_a) * libm::cos(phi_b) * sin_lambda * sin_lambda;
        2.0 * EARTH_RADIUS * libm::asin(h.clamp(0.0, 1.0).sqrt())
    }

    /// A path straight in the two angles is at least as long as the shortest way: R·√(Δφ² + max cos²φ·Δλ²), at most πR.
    fn reach(&self, domain: &Domain, sites: ArrayView2<'_, f64>) -> f64 {
        let (lo, hi) = hull(domain, sites);
        let half_way_round = std::f64::consts::PI * EARTH_RADIUS * (1.0 + SLACK);
        let (&[south, west], &[north, east]) = (&lo[..], &hi[..]) else {
            return half_way_round;
        };
        let widest = if south <= 0.0 && north >= 0.0 || south < -90.0 || north > 90.0 {
            1.0
        } else {
            let (a, b) = (libm::cos(south.to_radians()), libm::cos(north.to_radians()));
            if a > b { a } else { b }
        };
        let meridian = (north - south).to_radians();
        let parallel = widest * (east - west).to_radians();
        let path = EARTH_RADIUS * libm::hypot(meridian, parallel) * (1.0 + SLACK);
        if path < half_way_round {
            path
        } else {
            half_way_round
        }
    }

    fn picture_columns(&self, _columns: usize) -> Option<usize> {
        Some(3)
    }

    fn picture(&self, point: &[f64], out: &mut [f64]) {
        if let (&[lat, lon], [x, y, z]) = (point, out) {
            let (phi, lambda) = (lat.to_radians(), lon.to_radians());
            *x = libm::cos(phi) * libm::cos(lambda);
            *y = libm::cos(phi) * libm::sin(lambda);
            *z = libm::sin(phi);
        }
    }

    fn picture_radius(&self, radius: f64, _columns: usize) -> f64 {
        chord(radius / EARTH_RADIUS)
    }
}

/// The angle between two vectors, in radians: a metric on directions, unlike cosine distance.
///
/// A vector of length 0 counts as the first axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Angular;

impl Metric for Angular {
    fn name(&self) -> &'static str {
        "angular"
    }

    /// 2·atan2(‖u − v‖, ‖u + v‖) of the unit vectors u and v: exact for small and for large angles (Kahan).
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let (scale_a, scale_b) = (unit(a), unit(b));
        let (mut apart, mut together) = (0.0, 0.0);
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let (u, v) = (scale_a.coordinate(i, x), scale_b.coordinate(i, y));
            apart += (u - v) * (u - v);
            together += (u + v) * (u + v);
        }
        2.0 * libm::atan2(apart.sqrt(), together.sqrt())
    }

    fn reach(&self, _domain: &Domain, _sites: ArrayView2<'_, f64>) -> f64 {
        std::f64::consts::PI * (1.0 + SLACK)
    }

    fn picture_columns(&self, columns: usize) -> Option<usize> {
        Some(columns)
    }

    fn picture(&self, point: &[f64], out: &mut [f64]) {
        let scale = unit(point);
        for (i, (y, &x)) in out.iter_mut().zip(point).enumerate() {
            *y = scale.coordinate(i, x);
        }
    }

    fn picture_radius(&self, radius: f64, _columns: usize) -> f64 {
        chord(radius)
    }
}

/// How a vector becomes a unit vector.
struct Unit {
    largest: f64,
    length: f64,
}

fn unit(vector: &[f64]) -> Unit {
    let largest = vector.iter().fold(
        0.0,
        |most, x: &f64| if x.abs() > most { x.abs() } else { most },
    );
    let squares = vector.iter().map(|x| (x / largest) * (x / largest));
    Unit {
        length: squares.sum::<f64>().sqrt(),
        largest,
    }
}

impl Unit {
    fn coordinate(&self, i: usize, x: f64) -> f64 {
        if self.largest > 0.0 {
            x / self.largest / self.length
        } else {
            f64::from(i == 0)
        }
    }
}

/// The chord of an angle on the unit sphere, with room for rounding.
fn chord(angle: f64) -> f64 {
    let half = (angle / 2.0).clamp(0.0, std::f64::consts::FRAC_PI_2);
    2.0 * libm::sin(half) * (1.0 + SLACK) + SLACK
}
