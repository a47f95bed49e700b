//! Leaves out the empty parts of a dense synopsis: their cells hold nothing but noise, and far from every center noise counts most.
//!
//! Post-processing. A cell is kept if it, or a block around it, holds more than noise would put into the fullest of as many disjoint blocks. Counts
//! of kept cells stay as they are: cutting off negative ones would bias sums.

use crate::grid::{CellCounts, GridSynopsis};

/// Blocks reach up to so many cells to each side.
const REACH: usize = 4;

/// Least number of standard deviations that a block must stand out.
const LEAST: f64 = 2.0;

/// The synopsis without its empty parts; the whole of it if nothing stands out, or if it is sparse already.
pub(super) fn without_empty_parts(synopsis: &GridSynopsis) -> GridSynopsis {
    let CellCounts::Dense(counts) = synopsis.counts() else {
        return synopsis.clone();
    };
    let d = synopsis.dimension();
    let Ok(m) = usize::try_from(synopsis.cells_per_axis()) else {
        return synopsis.clone();
    };
    let std_dev = synopsis.noise_scale() * 2_f64.sqrt();
    let mut kept = vec![false; counts.len()];
    for reach in 0..=REACH.min(m / 2) {
        // What smaller blocks explained does not count again: beside a full cell everything would stand out.
        let rest = |of: &dyn Fn(i64) -> f64| -> Vec<f64> {
            let cells = counts.iter().zip(&kept);
            cells
                .map(|(&count, &kept)| if kept { 0.0 } else { of(count) })
                .collect()
        };
        let (mut sums, mut sizes) = (rest(&|count| count as f64), rest(&|_| 1.0));
        for axis in 0..d {
            window(&mut sums, m, d, axis, reach);
            window(&mut sizes, m, d, axis, reach);
        }
        let mut standing = vec![0.0; counts.len()];
        for ((out, sum), size) in standing.iter_mut().zip(&sums).zip(&sizes) {
            let blocks = counts.len() as f64 / size;
            let least = (2.0 * blocks.ln()).clamp(LEAST * LEAST, f64::MAX).sqrt();
            if *sum > least * std_dev * size.sqrt() {
                *out = 1.0;
            }
        }
        // All cells of a block that stands out are kept.
        for axis in 0..d {
            window(&mut standing, m, d, axis, reach);
        }
        for (kept, standing) in kept.iter_mut().zip(&standing) {
            *kept |= *standing > 0.5;
        }
    }
    let cells: Vec<(Vec<u64>, i64)> = counts
        .iter()
        .enumerate()
        .filter(|(i, _)| kept[*i])
        .map(|(i, &count)| (cell(i, m, d), count))
        .collect();
    if cells.is_empty() {
        return synopsis.clone();
    }
    let sparse = CellCounts::Sparse(cells);
    GridSynopsis::new(d, synopsis.cells_per_axis(), synopsis.noise_scale(), sparse)
        .unwrap_or_else(|_| synopsis.clone())
}

/// Intervals of the cell at a place in the dense order, the first axis the slowest.
fn cell(mut at: usize, m: usize, d: usize) -> Vec<u64> {
    let mut cell = vec![0; d];
    for interval in cell.iter_mut().rev() {
        *interval = (at % m) as u64;
        at /= m;
    }
    cell
}

/// Replaces each value by the sum over `reach` cells to each side along an axis.
fn window(values: &mut [f64], m: usize, d: usize, axis: usize, reach: usize) {
    if reach == 0 {
        return;
    }
    let stride = (axis + 1..d).fold(1, |stride, _| stride * m);
    let mut line = vec![0.0; m + 1];
    for start in 0..values.len() {
        if start / stride % m != 0 {
            continue;
        }
        for i in 0..m {
            line[i + 1] = line[i] + values[start + i * stride];
        }
        for i in 0..m {
            let (from, to) = (i.saturating_sub(reach), (i + reach + 1).min(m));
            values[start + i * stride] = line[to] - line[from];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_add_up_neighbors_along_one_axis() {
        let mut values: Vec<f64> = (0..9).map(f64::from).collect();
        window(&mut values, 3, 2, 1, 1);
        assert_eq!(values, [1.0, 3.0, 3.0, 7.0, 12.0, 9.0, 13.0, 21.0, 15.0]);
        let mut values: Vec<f64> = (0..9).map(f64::from).collect();
        window(&mut values, 3, 2, 0, 1);
        assert_eq!(values, [3.0, 5.0, 7.0, 9.0, 12.0, 15.0, 9.0, 11.0, 13.0]);
    }

    #[test]
    fn a_group_stays_and_the_emptiness_around_it_goes() {
        let m = 30;
        let counts = (0..m * m)
            .map(|i: i64| {
                let (row, column) = (i / m, i % m);
                let inside = (5..8).contains(&row) && (20..23).contains(&column);
                (i * 7919) % 5 - 2 + if inside { 6 } else { 0 }
            })
            .collect();
        let synopsis = GridSynopsis::new(2, 30, 1.0, CellCounts::Dense(counts)).expect("fits");
        let CellCounts::Sparse(cells) = without_empty_parts(&synopsis).counts().clone() else {
            panic!("something stands out");
        };
        assert!(cells.len() < 250, "{} of 900 cells", cells.len());
        for row in 5..8 {
            for column in 20..23 {
                assert!(cells.iter().any(|(cell, _)| *cell == [row, column]));
            }
        }
    }

    #[test]
    fn noise_alone_is_kept_whole() {
        let flat = GridSynopsis::new(2, 4, 1.0, CellCounts::Dense(vec![0; 16])).expect("fits");
        assert_eq!(without_empty_parts(&flat), flat);
    }
}
