//! Labels and costs d^p in a model's own metric.

use dp_core::Value;
use metric_space::evaluation::{Assignment, Labeler};
use metric_space::metric::nearest_site;
use metric_space::{Metric, Power};

use crate::algorithms::MetricChoice;
use crate::model::{Model, ModelError};

/// Nearest center in the model's metric, ties to the lowest index; records are not clipped.
struct NearestIn {
    distances: Distances,
    power: Power,
    n_clusters: usize,
    /// What a coordinate that is not finite counts as.
    middle: Vec<f64>,
}

enum Distances {
    Metric(Box<dyn Metric>, Vec<f64>),
    /// Per center, the distances to all places.
    Table(Vec<Vec<f64>>),
}

/// The labeler of a model that names a metric.
pub(super) fn labeler(model: &Model, name: &str) -> Result<Box<dyn Labeler>, ModelError> {
    let wrong = ModelError::Contradiction("`metric`, `power` and `parameters` do not go together");
    let power = model.power.unwrap_or(1.0);
    let power = Power::new(power).map_err(|_| ModelError::Number { key: "power" })?;
    let distances = if let Some(choice) = MetricChoice::of_name(name) {
        let metric = choice.metric().map_err(ModelError::Columns)?;
        if metric
            .columns()
            .is_some_and(|columns| columns != model.dimension())
        {
            return Err(wrong);
        }
        Distances::Metric(metric, model.centers.iter().flatten().copied().collect())
    } else {
        let table = model.parameters.get("center_distances").and_then(table);
        let table =
            table.filter(|table| table.len() == model.n_clusters() && model.dimension() == 1);
        Distances::Table(table.ok_or(wrong)?)
    };
    Ok(Box::new(NearestIn {
        distances,
        power,
        n_clusters: model.n_clusters(),
        middle: model
            .bounds
            .iter()
            .map(|&[lo, hi]| lo / 2.0 + hi / 2.0)
            .collect(),
    }))
}

fn table(value: &Value) -> Option<Vec<Vec<f64>>> {
    let list = |value: &Value| match value {
        Value::List(values) => Some(values.clone()),
        _ => None,
    };
    let number = |value: &Value| match value {
        Value::Real(x) => Some(*x),
        Value::Whole(x) => Some(*x as f64),
        _ => None,
    };
    let row = |value: &Value| {
        list(value)?
            .iter()
            .map(number)
            .collect::<Option<Vec<f64>>>()
            .filter(|row| !row.is_empty())
    };
    list(value)?.iter().map(row).collect()
}

impl Labeler for NearestIn {
    fn dimension(&self) -> usize {
        self.middle.len()
    }

    fn n_clusters(&self) -> usize {
        self.n_clusters
    }

    fn assign(&self, record: &[f64]) -> Assignment {
        let x: Vec<f64> = (record.iter().zip(&self.middle))
            .map(|(&x, &middle)| if x.is_finite() { x } else { middle })
            .collect();
        let (label, distance) = match &self.distances {
            Distances::Metric(metric, centers) => nearest_site(metric, &x, centers, x.len()),
            Distances::Table(table) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a cast saturates, and the last place bounds it"
                )]
                let place = x.first().copied().unwrap_or(0.0).round() as usize;
                let at = |row: &Vec<f64>| {
                    row.get(place.min(row.len() - 1))
                        .copied()
                        .unwrap_or(f64::INFINITY)
                };
                let distances = table.iter().map(at).enumerate();
                distances
                    .min_by(|a, b| a.1.total_cmp(&b.1))
                    .unwrap_or((0, f64::INFINITY))
            }
        };
        let cost = self.power.of(distance);
        Assignment {
            label: u32::try_from(label).unwrap_or(u32::MAX),
            cost,
            cost_original: cost,
            log_likelihood: None,
        }
    }
}
