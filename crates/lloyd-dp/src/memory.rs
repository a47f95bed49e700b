//! How many numbers the centers may be: refused before anything is spent or taken.

use crate::error::ParamsError;

/// Most numbers in the centers, 512 MiB.
const MOST: u64 = 1 << 26;

/// Refuses numbers of clusters for which no number of columns has room.
pub(crate) fn check_clusters(n_clusters: usize) -> Result<(), ParamsError> {
    if n_clusters == 0 {
        return Err(ParamsError::NoClusters);
    }
    check_centers(n_clusters, 1)
}

/// Refuses more clusters than there is room for in so many columns.
pub(crate) fn check_centers(n_clusters: usize, d: usize) -> Result<(), ParamsError> {
    let numbers = (n_clusters as u64).saturating_mul(d as u64);
    if numbers > MOST {
        return Err(ParamsError::CenterMemory {
            numbers,
            most: MOST,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dp_core::NeighboringRelation;

    use super::*;
    use crate::dplloyd::DpLloydParams;
    use crate::grid::GridParams;
    use crate::hybrid::HybridParams;
    use crate::privgene::PrivGeneParams;
    use crate::sample_aggregate::SampleAggregateParams;
    use crate::testing::{approx, frame};
    use crate::vote_refine::VoteRefineParams;

    #[test]
    fn no_number_of_clusters_overflows() {
        let budget = approx(1.0, 1e-6);
        let relation = NeighboringRelation::AddRemove;
        let frame = frame(3);
        for k in [usize::MAX, usize::MAX / 2, 1 << 40, 1 << 25] {
            let plans = [
                DpLloydParams::new(k, budget)
                    .check()
                    .and_then(|checked| checked.plan(&frame, relation)),
                VoteRefineParams::new(k, budget)
                    .check()
                    .and_then(|checked| checked.plan(&frame, relation)),
                GridParams::eug(k, budget)
                    .check()
                    .and_then(|checked| checked.plan(&frame, relation)),
                HybridParams::new(k, budget)
                    .check()
                    .and_then(|checked| checked.plan(&frame, relation)),
                PrivGeneParams::new(k, budget)
                    .check()
                    .and_then(|checked| checked.plan(&frame, relation)),
                SampleAggregateParams::gkm(k, budget)
                    .check()
                    .and_then(|checked| checked.plan(&frame, relation)),
            ];
            for (i, plan) in plans.into_iter().enumerate() {
                assert!(
                    matches!(plan, Err(ParamsError::CenterMemory { .. })),
                    "{i}: {k} clusters"
                );
            }
        }
    }
}
