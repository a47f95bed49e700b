//! A map of released clinics among public sites. No home is drawn.

use std::fmt::{self, Write as _};

use maxcover::Facilities;
use ndarray::Array2;

use crate::clinics::TOWN;

/// Width of the map; the height follows from the town.
const WIDTH: f64 = 900.0;
/// Room for the legend below it.
const FOOT: f64 = 54.0;
/// Meters of a degree of latitude.
const DEGREE: f64 = 111_195.0;
/// Meters of the bar of scale.
const BAR: f64 = 5000.0;

/// Fills of the areas around clinics, in turn.
const FILLS: [&str; 5] = ["#e8efe2", "#e3ecf1", "#f3ecda", "#efe6ee", "#e6eeea"];
/// The white edge around a number.
const HALO: &str =
    "fill=\"#ffffff\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\"";

type Point = [f64; 2];

/// Degrees to pixels.
struct Sheet {
    height: f64,
    pixels_per_meter: f64,
}

impl Sheet {
    fn new() -> Self {
        let [south, west, north, east] = TOWN;
        // Within a town the globe is flat, and a degree of longitude as long as in its middle.
        let wide = (east - west) * DEGREE * f64::midpoint(south, north).to_radians().cos();
        let pixels_per_meter = WIDTH / wide;
        Self {
            height: (north - south) * DEGREE * pixels_per_meter,
            pixels_per_meter,
        }
    }

    fn x(longitude: f64) -> f64 {
        (longitude - TOWN[1]) / (TOWN[3] - TOWN[1]) * WIDTH
    }

    fn y(&self, latitude: f64) -> f64 {
        (TOWN[2] - latitude) / (TOWN[2] - TOWN[0]) * self.height
    }
}

/// Public sites as dots, each clinic with its noisy count and the area to which it is the nearest.
pub(crate) fn map(sites: &Array2<f64>, clinics: &Facilities) -> Result<String, fmt::Error> {
    let sheet = Sheet::new();
    let places: Vec<Point> = (clinics.centers.rows().into_iter())
        .map(|center| [Sheet::x(center[1]), sheet.y(center[0])])
        .collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH:.0} {:.0}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Ten clinics chosen privately among 400 public sites</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        sheet.height + FOOT
    );
    for (i, _) in places.iter().enumerate() {
        let corners: Vec<String> = (area(&places, i, sheet.height).iter())
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        writeln!(
            svg,
            "<polygon points=\"{}\" fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"3\"/>",
            corners.join(" "),
            FILLS[i % FILLS.len()]
        )?;
    }
    graticule(&mut svg, &sheet)?;
    for site in sites.rows() {
        let (x, y) = (Sheet::x(site[1]), sheet.y(site[0]));
        writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.2\" fill=\"#8a8f94\"/>"
        )?;
    }
    for (&[x, y], count) in places.iter().zip(&clinics.noisy_counts) {
        let radius = count.clamp(0.0, 1e9).sqrt() * 0.5;
        writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"#c0392b\" fill-opacity=\"0.22\"/>"
        )?;
        cross(&mut svg, x, y)?;
        // Names stand to the right of a clinic, or to the left where the sheet ends.
        let (at, anchor) = if x < WIDTH - 120.0 {
            (x + 13.0, "start")
        } else {
            (x - 13.0, "end")
        };
        // A white copy below keeps the number legible on dots; `paint-order` would do it in one, but not every viewer knows it.
        for ink in [HALO, "fill=\"#5b1a13\""] {
            writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-weight=\"bold\" {ink}>{count:.0}</text>",
                y + 4.5
            )?;
        }
    }
    legend(&mut svg, &sheet)?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// The sign of a clinic: a white cross on a red square.
fn cross(svg: &mut String, x: f64, y: f64) -> fmt::Result {
    writeln!(
        svg,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"16\" height=\"16\" rx=\"3\" fill=\"#c0392b\"/>\
         <path d=\"M{x:.1} {:.1}v9M{:.1} {y:.1}h9\" stroke=\"#ffffff\" stroke-width=\"3\"/>",
        x - 8.0,
        y - 8.0,
        y - 4.5,
        x - 4.5
    )
}

/// The part of the sheet that is nearer to one place than to any other: the sheet, cut along the lines halfway to the others.
fn area(places: &[Point], own: usize, height: f64) -> Vec<Point> {
    let [px, py] = places[own];
    let mut corners = vec![[0.0, 0.0], [WIDTH, 0.0], [WIDTH, height], [0.0, height]];
    for (_, &[qx, qy]) in places.iter().enumerate().filter(|(i, _)| *i != own) {
        // Negative on the own side.
        let side = |[x, y]: Point| {
            (x - f64::midpoint(px, qx)) * (qx - px) + (y - f64::midpoint(py, qy)) * (qy - py)
        };
        let mut kept = Vec::with_capacity(corners.len() + 1);
        for (i, &a) in corners.iter().enumerate() {
            let b = corners[(i + 1) % corners.len()];
            let (at_a, at_b) = (side(a), side(b));
            if at_a <= 0.0 {
                kept.push(a);
            }
            if (at_a < 0.0 && at_b > 0.0) || (at_a > 0.0 && at_b < 0.0) {
                let t = at_a / (at_a - at_b);
                kept.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            }
        }
        corners = kept;
    }
    corners
}

/// Lines of every twentieth of a degree, with their names, and a frame.
fn graticule(svg: &mut String, sheet: &Sheet) -> fmt::Result {
    let [south, west, north, east] = TOWN;
    let height = sheet.height;
    let line = "stroke=\"#b9c3cc\" stroke-width=\"0.7\"";
    let name = "font-size=\"11\" fill=\"#6b7680\"";
    let lines = |from: f64, to: f64| {
        (1..20)
            .map(move |i| from + f64::from(i) / 20.0)
            .take_while(move |&degrees| degrees < to - 0.01)
    };
    for degrees in lines(west, east) {
        let x = Sheet::x(degrees);
        writeln!(
            svg,
            "<path d=\"M{x:.1} 0V{height:.1}\" {line}/><text x=\"{:.1}\" y=\"13\" {name}>{degrees:.2}° E</text>",
            x + 4.0
        )?;
    }
    for degrees in lines(south, north) {
        let y = sheet.y(degrees);
        writeln!(
            svg,
            "<path d=\"M0 {y:.1}H{WIDTH}\" {line}/><text x=\"4\" y=\"{:.1}\" {name}>{degrees:.2}° N</text>",
            y - 4.0
        )?;
    }
    writeln!(
        svg,
        "<rect x=\"0.5\" y=\"0.5\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#6b7680\"/>",
        WIDTH - 1.0,
        height - 1.0
    )
}

/// What the signs mean, and a bar of scale.
fn legend(svg: &mut String, sheet: &Sheet) -> fmt::Result {
    let y = sheet.height + FOOT / 2.0;
    let text = |svg: &mut String, x: f64, words: &str| {
        writeln!(
            svg,
            "<text x=\"{x:.0}\" y=\"{:.1}\" fill=\"#333333\">{words}</text>",
            y + 4.5
        )
    };
    writeln!(
        svg,
        "<circle cx=\"16\" cy=\"{y:.1}\" r=\"2.2\" fill=\"#8a8f94\"/>"
    )?;
    text(svg, 26.0, "possible site")?;
    cross(svg, 138.0, y)?;
    text(
        svg,
        152.0,
        "chosen, with the noisy number of homes it serves",
    )?;
    writeln!(
        svg,
        "<rect x=\"496\" y=\"{:.1}\" width=\"22\" height=\"14\" fill=\"{}\"/>",
        y - 7.0,
        FILLS[1]
    )?;
    text(svg, 525.0, "nearest to it")?;
    let bar = BAR * sheet.pixels_per_meter;
    let from = WIDTH - bar - 60.0;
    writeln!(
        svg,
        "<path d=\"M{from:.1} {:.1}v5h{bar:.1}v-5\" fill=\"none\" stroke=\"#333333\" stroke-width=\"1.5\"/>",
        y - 3.0
    )?;
    text(svg, from + bar + 8.0, &format!("{:.0} km", BAR / 1000.0))
}
