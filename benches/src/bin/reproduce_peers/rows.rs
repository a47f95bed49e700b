//! What is measured, the bars, and what peers reached.

use dp_cluster::generate::Kind;

use workspace_benches::sets::Origin;

/// One line of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    pub(crate) k: usize,
    pub(crate) cells: &'static [Cell],
    /// Measure the worst error of a center in σ instead of the ratio of costs.
    pub(crate) by_error: bool,
}

/// One ε of a row.
pub(crate) struct Cell {
    pub(crate) epsilon: f64,
    /// The mean ratio that `auto` must reach (for errors: the bound that 95 % of runs keep); none where nothing is asked.
    pub(crate) bar: Option<f64>,
    /// The best that a peer reached, as recorded in their papers or by runs of their code, and which one.
    pub(crate) peer: &'static str,
}

const fn cell(epsilon: f64, bar: f64, peer: &'static str) -> Cell {
    Cell {
        epsilon,
        bar: Some(bar),
        peer,
    }
}

const fn free(epsilon: f64, peer: &'static str) -> Cell {
    Cell {
        epsilon,
        bar: None,
        peer,
    }
}

const fn file(name: &'static str, k: usize, best: f64, cells: &'static [Cell]) -> Row {
    Row {
        name,
        origin: Origin::File(name, best),
        k,
        cells,
        by_error: false,
    }
}

const fn blobs(name: &'static str, d: usize, cells: &'static [Cell]) -> Row {
    let origin = Origin::Generated(Kind::Blobs, 20_000, d, None);
    Row {
        name,
        origin,
        k: 64,
        cells,
        by_error: false,
    }
}

const fn mixture(name: &'static str, n: usize, cells: &'static [Cell]) -> Row {
    let origin = Origin::Generated(Kind::Mixture, n, 10, Some(1.0));
    Row {
        name,
        origin,
        k: 10,
        cells,
        by_error: false,
    }
}

const fn ball(name: &'static str, d: usize, cells: &'static [Cell]) -> Row {
    let origin = Origin::Generated(Kind::GaussBall, 100_000, d, Some(100.0));
    Row {
        name,
        origin,
        k: 8,
        cells,
        by_error: true,
    }
}

pub(crate) static ROWS: &[Row] = &[
    file(
        "s1",
        15,
        0.00823,
        &[
            cell(0.1, 2.1, "EUGkM 2.46"),
            cell(0.5, 1.02, "PE-means 1.027"),
            cell(1.0, 1.008, "EUGkM 1.009"),
        ],
    ),
    file(
        "a3",
        50,
        0.003_729,
        &[
            cell(0.1, 2.4, "EUGkM 2.55"),
            cell(0.5, 1.18, "EUGkM 1.28"),
            cell(1.0, 1.07, "EUGkM 1.126"),
        ],
    ),
    file(
        "unbalance",
        8,
        0.002_614,
        &[
            cell(0.1, 4.0, "EUGkM 5.2"),
            cell(0.5, 1.3, "EUGkM 1.65"),
            cell(1.0, 1.07, "EUGkM 1.42"),
        ],
    ),
    file(
        "birch2",
        100,
        0.000_963,
        &[
            cell(0.5, 1.12, "EUGkM 1.156"),
            cell(1.0, 1.06, "EUGkM 1.111"),
        ],
    ),
    file(
        "adult",
        5,
        0.1941,
        &[
            cell(0.1, 1.05, "FastLloyd 1.41"),
            cell(0.5, 1.03, "FastLloyd 1.22"),
            cell(1.0, 1.01, "FastLloyd 1.18"),
        ],
    ),
    file(
        "letter",
        26,
        0.5448,
        &[
            cell(0.1, 1.6, "–"),
            cell(0.5, 1.15, "–"),
            cell(1.0, 1.06, "–"),
        ],
    ),
    file(
        "lifesci",
        3,
        0.698,
        &[
            cell(0.1, 1.02, "DPLloyd 1.16"),
            cell(0.5, 1.01, "DPLloyd 1.03"),
            cell(1.0, 1.01, "DPLloyd 1.02"),
        ],
    ),
    mixture(
        "mixture, n = 10,000",
        10_000,
        &[
            cell(0.1, 4.0, "FastLloyd 19"),
            cell(0.5, 1.2, "FastLloyd 15"),
            cell(1.0, 1.02, "Google LSH 13"),
        ],
    ),
    mixture(
        "mixture, n = 100,000",
        100_000,
        &[
            cell(0.1, 1.05, "Google LSH 10"),
            cell(0.5, 1.01, "Google LSH 3.3"),
            cell(1.0, 1.005, "Google LSH 2.5"),
        ],
    ),
    blobs(
        "blobs, d = 16",
        16,
        &[
            free(0.1, "–"),
            cell(0.5, 2.0, "PE-means 1.84 (area over ε)"),
            cell(1.0, 1.3, "PE-means 1.84 (area over ε)"),
        ],
    ),
    blobs(
        "blobs, d = 64",
        64,
        &[
            free(0.1, "–"),
            cell(0.5, 4.0, "PE-means 3.73 (area over ε)"),
            cell(1.0, 2.5, "PE-means 3.73 (area over ε)"),
        ],
    ),
    ball("gauss-ball, d = 8", 8, &[cell(1.0, 0.08, "17 σ and more")]),
    ball("gauss-ball, d = 32", 32, &[cell(1.0, 0.3, "19 σ and more")]),
];
