//! Line charts, as SVG.

use crate::colour::COLOURS;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Size in pixels.
const SIZE: (u32, u32) = (720, 460);
/// A row of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend; none if it is empty.
    pub name: String,
    /// Points, ascending in x.
    pub points: Vec<(f64, f64)>,
    /// How its values were come by.
    pub kind: Kind,
    /// Number of its colour; series that belong together share one.
    pub colour: usize,
}

/// How values were come by. It shows: nobody shall take one for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Measured: a line with marks.
    Measured,
    /// Measured on a part and projected to the whole: a dashed line with hollow marks.
    Projected,
    /// Computed and not measured: a dashed line without marks.
    Predicted,
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

    fn error(&self, why: String) -> ChartError {
        ChartError { title: self.title.clone(), why }
    }

    fn draw(&self, backend: SVGBackend<'_>) -> Result<(), String> {
        let (mut x, y) = (self.range(|point| point.0), self.range(|point| point.1));
        if self.log {
            // From one power of two to another: all labels between them are powers of two.
            x = (x.0.log2().floor().exp2(), x.1.log2().ceil().exp2());
        }
        let corner = self.free_corner(x, y);
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        let drawn = match self.log {
            true => self.draw_on(&area, corner, (x.0..x.1).log_scale().base(2.0), (y.0..y.1).log_scale().base(2.0)),
            false => self.draw_on(&area, corner, 0.0..x.1, 0.0..y.1),
        };
        drawn?;
        area.present().map_err(|error| error.to_string())
    }

    fn draw_on<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        corner: SeriesLabelPosition,
        x: X,
        y: Y,
    ) -> Result<(), String>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let said = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
        let mut builder = ChartBuilder::on(area);
        builder
            .caption(&self.title, ("sans-serif", 17))
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
            let (red, green, blue) = COLOURS[series.colour % COLOURS.len()];
            let colour = RGBColor(red, green, blue);
            let line = colour.stroke_width(2);
            if series.kind != Kind::Predicted {
                let filled = if series.kind == Kind::Measured { colour.filled() } else { line };
                let marks = series.points.iter().map(|&point| Circle::new(point, 4, filled));
                chart.draw_series(marks).map_err(said)?;
            }
            let points = series.points.iter().copied();
            let drawn = match series.kind {
                Kind::Measured => chart.draw_series(LineSeries::new(points, line)),
                _ => chart.draw_series(DashedLineSeries::new(points, 6, 4, line)),
            };
            let drawn = drawn.map_err(said)?;
            if series.name.is_empty() {
                continue;
            }
            drawn.label(&series.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], line));
        }
        let mut legend = chart.configure_series_labels();
        legend.position(corner).background_style(WHITE.mix(0.85)).border_style(RGBColor(200, 200, 200));
        legend.label_font(("sans-serif", 14)).draw().map_err(said)
    }

    /// The corner in which the legend hides the fewest points.
    fn free_corner(&self, x: (f64, f64), y: (f64, f64)) -> SeriesLabelPosition {
        let place = |value: f64, (low, high): (f64, f64)| match self.log {
            true => (value / low).ln() / (high / low).ln(),
            false => value / high,
        };
        let points = || self.series.iter().flat_map(|series| &series.points);
        let hidden = |right: bool, lower: bool| {
            let near = |part: f64, far: bool| if far { part > 0.6 } else { part < 0.4 };
            let is_hidden = |point: &&(f64, f64)| near(place(point.0, x), right) && (place(point.1, y) < 0.5) == lower;
            points().filter(is_hidden).count()
        };
        let corners = [
            (hidden(false, false), SeriesLabelPosition::UpperLeft),
            (hidden(true, false), SeriesLabelPosition::UpperRight),
            (hidden(false, true), SeriesLabelPosition::LowerLeft),
            (hidden(true, true), SeriesLabelPosition::LowerRight),
        ];
        let free = corners.into_iter().min_by_key(|(hidden, _)| *hidden);
        free.map_or(SeriesLabelPosition::UpperLeft, |(_, corner)| corner)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool) -> Chart {
        let series = |kind| Series { name: "row".into(), points: vec![(1.0, 2.0), (8.0, 3.0)], kind, colour: 1 };
        Chart {
            title: "Time & threads".into(),
            x: "threads".into(),
            y: "s".into(),
            log,
            series: [Kind::Measured, Kind::Projected, Kind::Predicted].map(series).to_vec(),
        }
    }

    #[test]
    fn the_legend_goes_where_there_is_room() {
        let corner = |first: f64, last: f64| {
            let series =
                Series { name: "n".into(), points: vec![(1.0, first), (8.0, last)], kind: Kind::Measured, colour: 0 };
            let chart = Chart { series: vec![series], ..chart(true) };
            chart.free_corner((0.5, 16.0), (0.5, 16.0))
        };
        assert!(matches!(corner(1.0, 8.0), SeriesLabelPosition::UpperLeft));
        assert!(matches!(corner(8.0, 1.0), SeriesLabelPosition::UpperRight));
    }

    #[test]
    fn charts_of_both_scales_are_drawn() {
        for log in [false, true] {
            let svg = chart(log).svg().unwrap();
            assert!(
                svg.contains("Time &amp; threads") && svg.contains("</svg>") && svg.contains("width=\"100%\""),
                "{svg}"
            );
        }
        assert!(Chart { series: vec![], ..chart(true) }.svg().is_ok(), "nothing to draw");
    }
}
