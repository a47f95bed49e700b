//! Bytes from anywhere, as fuzz targets and tests of the committed corpora feed them in: whatever they are, the answer is a
//! value or a typed error, never a panic, and a fit never fails on what records hold.

use dp_cluster::algorithm;
use dp_cluster::{
    FitRequest, Model, NeighboringRelation, Options, Synopsis, fit as fit_request, plan,
};
use dp_core::rng::InsecureSeededRng;
use metric_space::{BoxDomain, Domain, MatrixMetric, Metric};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::subjects::budget;

/// A model or a synopsis in either form: what loads is valid, and comes back the same from both forms.
///
/// # Panics
///
/// If it does not: that is what is looked for.
pub fn model(bytes: &[u8]) {
    if let Ok(model) = Model::load(bytes) {
        let json = model.to_json().expect("a loaded model has a form in JSON");
        let binary = model.to_binary().expect("a loaded model has a binary form");
        assert_eq!(Model::load(json.as_bytes()).as_ref(), Ok(&model));
        assert_eq!(Model::load(&binary).as_ref(), Ok(&model));
        assert_eq!(
            model.centers_array().ncols() * model.n_clusters(),
            model.centers_array().len()
        );
    }
    if let Ok(synopsis) = Synopsis::load(bytes) {
        let json = synopsis
            .to_json()
            .expect("a loaded synopsis has a form in JSON");
        assert_eq!(Synopsis::load(json.as_bytes()).as_ref(), Ok(&synopsis));
    }
}

/// A matrix of distances: what is accepted has distances that are finite, not negative and symmetric, for any numbers as places.
///
/// # Panics
///
/// If it does not: that is what is looked for.
pub fn matrix(bytes: &[u8]) {
    let numbers = floats(bytes);
    let side = (1..=64_usize)
        .take_while(|side| side * side <= numbers.len())
        .last()
        .unwrap_or(0);
    let entries = numbers[..side * side].to_vec();
    let Ok(entries) = Array2::from_shape_vec((side, side), entries) else {
        return;
    };
    let Ok(metric) = MatrixMetric::new(entries) else {
        return;
    };
    // Finds or does not find a broken triangle; either is an answer.
    let _ = metric.check_triangles();
    let domain = Domain::from(BoxDomain::new(vec![0.0], vec![side as f64]).expect("in order"));
    for &a in &numbers {
        for &b in numbers.iter().take(16) {
            let there = metric.distance(&[a], &[b]);
            assert!(there >= 0.0 && there.is_finite());
            assert_eq!(there.to_bits(), metric.distance(&[b], &[a]).to_bits());
        }
    }
    let reach = metric.reach(&domain, Array2::zeros((1, 1)).view());
    assert!(reach.is_finite());
}

/// A fit with hostile bounds and records. The first bytes choose algorithm, clusters, columns, relation and budget, the next two
/// numbers are the bounds, the rest are records.
///
/// # Panics
///
/// If a request that was accepted fails, or releases a center outside of its bounds: that is what is looked for.
pub fn fit(bytes: &[u8]) {
    let Some((head, rest)) = bytes.split_at_checked(5) else {
        return;
    };
    let names: Vec<&str> = algorithm::all()
        .map(algorithm::Algorithm::facts)
        .filter(|facts| facts.private)
        .map(|facts| facts.name)
        .collect();
    let name = names[usize::from(head[0]) % names.len()];
    let (clusters, columns) = (usize::from(head[1] % 6), usize::from(head[2] % 4));
    let relation = NeighboringRelation::ALL[usize::from(head[3] % 2)];
    let epsilon = [1e-3, 1.0, 50.0][usize::from(head[4] % 3)];
    let facts = algorithm::find(name).map(algorithm::Algorithm::facts);
    let pure = facts.is_ok_and(|facts| facts.delta == algorithm::DeltaNeed::None);
    let numbers = floats(rest);
    let [lo, hi] = [0, 1].map(|i| numbers.get(i).copied().unwrap_or(i as f64));
    let names = (0..columns).map(|i| format!("x{i}")).collect();
    let request = FitRequest::new(name, names, vec![[lo, hi]; columns], clusters, relation)
        .budget(budget(epsilon, if pure { 0.0 } else { 1e-6 }))
        .n_hint(20)
        .options(Options::default());
    if request.check().is_err() || plan(&request).is_err() {
        return;
    }
    let records = numbers.get(2..).unwrap_or_default();
    let rows = (records.len() / columns).min(64);
    let records = Array2::from_shape_vec((rows, columns), records[..rows * columns].to_vec());
    let records = records.expect("as many numbers as cells");
    let mut noise = InsecureSeededRng::new(1);
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let fitted = fit_request(&request, &records, &mut noise, &mut public)
        .unwrap_or_else(|error| panic!("{name} failed on data: {error}"));
    for &x in &fitted.model.centers_array() {
        assert!(
            (lo..=hi).contains(&x),
            "{name} released {x} outside of [{lo}, {hi}]"
        );
    }
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers
        .iter()
        .map(|&number| f64::from_le_bytes(number))
        .collect()
}
