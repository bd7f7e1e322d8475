//! Line charts, as SVG and as PNG.

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};
use std::sync::Once;

/// Size in pixels.
const SIZE: (u32, u32) = (900, 540);
/// Colours that people with any sight can tell apart (Okabe and Ito), and some more.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(80, 80, 80),
    RGBColor(150, 110, 20),
    RGBColor(120, 60, 160),
    RGBColor(160, 200, 60),
    RGBColor(90, 40, 40),
    RGBColor(0, 60, 60),
];

/// A row of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend; none if it is empty.
    pub name: String,
    /// Points, ascending in x.
    pub points: Vec<(f64, f64)>,
    /// Computed and not measured: drawn as a dashed line without marks.
    pub predicted: bool,
    /// Number of its colour; series that belong together share one.
    pub colour: usize,
}

/// A chart of several rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What x is, with its unit.
    pub x: String,
    /// What y is, with its unit.
    pub y: String,
    /// Whether the axes are logarithmic.
    pub log: bool,
    /// The rows.
    pub series: Vec<Series>,
}

/// Why a chart was not drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw '{title}': {why}")]
pub struct ChartError {
    title: String,
    why: String,
}

impl Chart {
    /// The chart as SVG, to be put into a page or a file.
    ///
    /// # Errors
    /// What the drawing library says.
    pub fn svg(&self) -> Result<String, ChartError> {
        let mut text = String::new();
        self.draw(SVGBackend::with_string(&mut text, SIZE)).map_err(|why| self.error(why))?;
        // It scales with the page.
        let (width, height) = SIZE;
        Ok(text.replacen(&format!("width=\"{width}\" height=\"{height}\""), "width=\"100%\"", 1))
    }

    /// The chart as PNG, written to `path`.
    ///
    /// # Errors
    /// What the drawing library says, or a file that cannot be written.
    pub fn png(&self, path: &std::path::Path) -> Result<(), ChartError> {
        self.draw(BitMapBackend::new(path, SIZE)).map_err(|why| self.error(why))
    }

    fn error(&self, why: String) -> ChartError {
        ChartError { title: self.title.clone(), why }
    }

    fn draw<B: DrawingBackend>(&self, backend: B) -> Result<(), String> {
        use_font();
        let (x, y) = (self.range(|point| point.0), self.range(|point| point.1));
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        let drawn = match self.log {
            true => self.draw_on(&area, (x.0..x.1).log_scale(), (y.0..y.1).log_scale()),
            false => self.draw_on(&area, 0.0..x.1, 0.0..y.1),
        };
        drawn?;
        area.present().map_err(|error| error.to_string())
    }

    fn draw_on<B, X, Y>(&self, area: &DrawingArea<B, plotters::coord::Shift>, x: X, y: Y) -> Result<(), String>
    where
        B: DrawingBackend,
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let said = |error: DrawingAreaErrorKind<B::ErrorType>| error.to_string();
        let mut builder = ChartBuilder::on(area);
        builder
            .caption(&self.title, ("sans-serif", 20))
            .margin(12)
            .margin_right(28)
            .x_label_area_size(44)
            .y_label_area_size(72);
        let mut chart = builder.build_cartesian_2d(x, y).map_err(said)?;
        let short = |value: &f64| format!("{}", (value * 1e4).round() / 1e4);
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(&self.x)
            .y_desc(&self.y)
            .label_style(("sans-serif", 14))
            .x_label_formatter(&short)
            .y_label_formatter(&short);
        mesh.light_line_style(TRANSPARENT).bold_line_style(RGBColor(225, 225, 225)).draw().map_err(said)?;
        for series in &self.series {
            let colour = COLOURS[series.colour % COLOURS.len()];
            let line = colour.stroke_width(2);
            let drawn = if series.predicted {
                chart.draw_series(DashedLineSeries::new(series.points.iter().copied(), 6, 4, line))
            } else {
                let marks = series.points.iter().map(|&point| Circle::new(point, 4, colour.filled()));
                chart.draw_series(marks).map_err(said)?;
                chart.draw_series(LineSeries::new(series.points.iter().copied(), line))
            };
            let drawn = drawn.map_err(said)?;
            if series.name.is_empty() {
                continue;
            }
            drawn.label(&series.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], line));
        }
        let mut legend = chart.configure_series_labels();
        legend
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(200, 200, 200));
        legend.label_font(("sans-serif", 14)).draw().map_err(said)
    }

    /// The least and the greatest value, with a little room.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = || self.series.iter().flat_map(|series| &series.points).map(&of).filter(|value| value.is_finite());
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        if !low.is_finite() {
            return (0.1, 1.0);
        }
        (low.max(1e-9) * 0.8, (high.max(1e-9)) * 1.25)
    }
}

/// Letters come from the program itself: a machine of a cluster may have no fonts.
fn use_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A font that cannot be read would show in the first chart.
        let _ = register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool) -> Chart {
        let series =
            |predicted| Series { name: "row".into(), points: vec![(1.0, 2.0), (8.0, 3.0)], predicted, colour: 1 };
        Chart {
            title: "Time & threads".into(),
            x: "threads".into(),
            y: "s".into(),
            log,
            series: vec![series(false), series(true)],
        }
    }

    #[test]
    fn charts_are_drawn_in_both_forms() {
        for log in [false, true] {
            let svg = chart(log).svg().unwrap();
            assert!(
                svg.contains("Time &amp; threads") && svg.contains("</svg>") && svg.contains("width=\"100%\""),
                "{svg}"
            );
            let path = tempfile::tempdir().unwrap().path().join("x.png");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            chart(log).png(&path).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
        }
        assert!(Chart { series: vec![], ..chart(true) }.svg().is_ok(), "nothing to draw");
    }
}
