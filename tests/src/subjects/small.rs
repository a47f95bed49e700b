//! One instance of each algorithm for the black box: as small as it gets, with the worst of neighbors, so that ten million runs take
//! minutes.
//!
//! One column, one cluster where that runs every draw of the algorithm, one round. Few numbers come through the door, and an adversary
//! who sees the first of them sees nearly all there is.

use dp_audit::replay::Promise;
use dp_core::NeighboringRelation;

use super::facade::{Setting, setting};
use super::{Subject, budget, cover, facade, lloyd, mixtures};

/// The setting for an algorithm of the facade; none if the usual ones serve.
fn of_facade(name: &str, relation: NeighboringRelation) -> Option<Setting> {
    match name {
        "dplloyd" | "dplloyd-paper" | "pgkm" => Some(setting(1, 1, 1.0, Some(2)).iterations(1)),
        "ug" | "eug" | "grid-k" | "hybrid" | "hybrid-refine" | "auto" | "vote-refine" => {
            // One more record shows best in a grid of one cell, of which a replaced one shows nothing.
            let size = match relation {
                NeighboringRelation::AddRemove => 20,
                NeighboringRelation::ReplaceOne => 200,
            };
            Some(setting(1, 1, 1.0, Some(size)))
        }
        "grid-sparse" => Some(setting(1, 1, 5.0, Some(10))),
        "gkm" | "gkm-3k" => Some(setting(1, 1, 1.0, Some(1))),
        "ktuple" | "gmm" => Some(setting(1, 1, 1.0, Some(2))),
        _ => None,
    }
}

/// Whether an instance draws the same noise with δ as without: in one column these take Laplace noise.
pub(super) fn ignores_delta(name: &str) -> bool {
    matches!(name, "vote-refine" | "hybrid-refine")
}

/// The subject that stands for `usual` in front of the black box.
pub(super) fn of(usual: &Subject) -> Result<Option<Subject>, String> {
    let promise = usual.promise;
    Ok(match usual.algorithm {
        "dplloyd variants" => Some(lloyd::small(promise)),
        // At a δ that shows.
        "maxcover" => Some(cover::small(Promise {
            budget: budget(2.0, 1e-3),
            ..promise
        })),
        "maxcover candidates" => Some(cover::small_candidates(promise)),
        "gmm learners" => Some(mixtures::small(promise)),
        name => {
            let delta = promise.budget.delta.get();
            let of = |setting| facade::subject(name, &setting, delta, promise.relation);
            let subject = of_facade(name, promise.relation).map(of).transpose()?;
            subject.map(|subject| match name {
                // Above the threshold that hides cells of few records.
                "grid-sparse" => subject.crowd(9),
                // One block, one record: its center is all that there is.
                "gkm" | "gkm-3k" => subject.crowd(1),
                _ => subject,
            })
        }
    })
}
