//! Line charts, as SVG.

use crate::colour::COLOURS;
use crate::escape::escaped;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Size in pixels.
const SIZE: (u32, u32) = (720, 460);
/// The end of an axis, as a multiple of the greatest value.
const ROOM: f64 = 1.25;
/// The same of the y axis, where x ends with the last point.
const ROOM_ABOVE: f64 = 1.06;
/// The least end of a y axis: labels have four digits after the point, and those of a shorter one would all be 0.
const LEAST_TOP: f64 = 1e-3;
/// Of the x axis, the part that a letter of a name takes.
const PER_LETTER: f64 = 0.01;
/// Points of longer rows lie too close to each other for marks.
const MOST_MARKS: usize = 40;

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
    /// Measured: a line, with marks if its points are few.
    Measured,
    /// Measured on a part and projected to the whole: a dashed line with hollow marks.
    Projected,
    /// Computed and not measured: a dashed line without marks.
    Predicted,
}

/// How far the axes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axes {
    /// From 0, with room beyond the last point.
    #[default]
    FromZero,
    /// From 0 to the last point: what comes after it does not exist, as after the last base.
    ToLast,
    /// Logarithmic.
    Logarithmic,
}

/// A part of the x axis that has a name, as a contig has.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Where it begins and ends.
    pub range: (f64, f64),
}

/// A chart of several rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What x is, with its unit.
    pub x: String,
    /// What y is, with its unit.
    pub y: String,
    /// How far the axes go.
    pub axes: Axes,
    /// The rows.
    pub series: Vec<Series>,
    /// Named parts of the x axis, from left to right; none in most charts.
    pub parts: Vec<Part>,
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
        // It scales with the page, and those who do not see it learn what it shows.
        let ((width, height), title) = (SIZE, escaped(&self.title));
        let (fixed, named) = (
            format!("width=\"{width}\" height=\"{height}\""),
            format!("width=\"100%\" role=\"img\" aria-label=\"{title}\""),
        );
        Ok(text.replacen(&fixed, &named, 1).replacen('>', &format!(">\n<title>{title}</title>"), 1))
    }

    fn error(&self, why: String) -> ChartError {
        ChartError { title: self.title.clone(), why }
    }

    fn draw(&self, backend: SVGBackend<'_>) -> Result<(), String> {
        let (mut x, mut y) = (self.range(|point| point.0), self.range(|point| point.1));
        match self.axes {
            // From one power of two to another: all labels between them are powers of two.
            Axes::Logarithmic => x = (x.0.log2().floor().exp2(), x.1.log2().ceil().exp2()),
            Axes::ToLast => {
                x.1 /= ROOM;
                // Names of parts need the room above.
                y.1 /= if self.parts.is_empty() { ROOM / ROOM_ABOVE } else { 1.0 };
            }
            Axes::FromZero => {}
        }
        if self.axes != Axes::Logarithmic {
            y.1 = y.1.max(LEAST_TOP);
        }
        let corner = self.free_corner(x, y);
        let area = backend.into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        let drawn = match self.axes {
            Axes::Logarithmic => {
                self.draw_on(&area, corner, (x.0..x.1).log_scale().base(2.0), (y.0..y.1).log_scale().base(2.0))
            }
            Axes::FromZero | Axes::ToLast => self.draw_on(&area, corner, 0.0..x.1, 0.0..y.1),
        };
        drawn?;
        area.present().map_err(|error| error.to_string())
    }

    fn draw_on<X, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
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
        let top = chart.y_range().end;
        self.draw_parts(&mut chart, top)?;
        self.series.iter().try_for_each(|series| draw_series(&mut chart, series, self.mark(series)))?;
        if self.series.iter().all(|series| series.name.is_empty()) {
            return Ok(());
        }
        let mut legend = chart.configure_series_labels();
        legend.position(corner).background_style(WHITE.mix(0.85)).border_style(RGBColor(200, 200, 200));
        legend.label_font(("sans-serif", 14)).draw().map_err(said)
    }

    /// The radius of the marks of a row; none where its points are too close, or nobody measured them.
    fn mark(&self, series: &Series) -> Option<u32> {
        match series.points.len() {
            _ if series.kind == Kind::Predicted => None,
            // It has no line.
            1 if !self.parts.is_empty() => Some(2),
            points => (points <= MOST_MARKS && self.parts.is_empty()).then_some(4),
        }
    }

    /// The names of parts, as far as there is room, and lines between them.
    fn draw_parts<X, Y>(&self, chart: &mut Drawn<'_, '_, X, Y>, top: f64) -> Result<(), String>
    where
        X: Ranged<ValueType = f64>,
        Y: Ranged<ValueType = f64>,
    {
        let all = self.parts.last().map_or(0.0, |part| part.range.1);
        let line = RGBColor(190, 190, 190).stroke_width(1);
        let lines =
            self.parts.iter().skip(1).map(|part| PathElement::new([(part.range.0, 0.0), (part.range.0, top)], line));
        chart.draw_series(lines).map_err(said)?;
        let font = ("sans-serif", 12).into_text_style(chart.plotting_area()).pos(Pos::new(HPos::Center, VPos::Top));
        let has_room = |part: &&Part| part.range.1 - part.range.0 > all * PER_LETTER * part.name.chars().count() as f64;
        let middle = |part: &Part| ((part.range.0 + part.range.1) / 2.0, top);
        let names =
            self.parts.iter().filter(has_room).map(|part| Text::new(part.name.clone(), middle(part), font.clone()));
        chart.draw_series(names).map(drop).map_err(said)
    }

    /// The corner in which the legend hides the fewest points.
    fn free_corner(&self, x: (f64, f64), y: (f64, f64)) -> SeriesLabelPosition {
        let place = |value: f64, (low, high): (f64, f64)| match self.axes {
            Axes::Logarithmic => (value / low).ln() / (high / low).ln(),
            Axes::FromZero | Axes::ToLast => value / high,
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
        (low.max(1e-9) * 0.8, high.max(1e-9) * ROOM)
    }
}

/// A chart whose axes are there.
type Drawn<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;

fn draw_series<X, Y>(chart: &mut Drawn<'_, '_, X, Y>, series: &Series, mark: Option<u32>) -> Result<(), String>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let (red, green, blue) = COLOURS[series.colour % COLOURS.len()];
    let colour = RGBColor(red, green, blue);
    let line = colour.stroke_width(2);
    if let Some(radius) = mark {
        let filled = if series.kind == Kind::Measured { colour.filled() } else { line };
        let marks = series.points.iter().map(|&point| Circle::new(point, radius, filled));
        chart.draw_series(marks).map_err(said)?;
    }
    let points = series.points.iter().copied();
    let drawn = match series.kind {
        Kind::Measured => chart.draw_series(LineSeries::new(points, line)),
        _ => chart.draw_series(DashedLineSeries::new(points, 6, 4, line)),
    };
    let drawn = drawn.map_err(said)?;
    if !series.name.is_empty() {
        drawn.label(&series.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], line));
    }
    Ok(())
}

fn said(error: DrawingAreaErrorKind<std::io::Error>) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(axes: Axes) -> Chart {
        let series = |kind| Series { name: "row".into(), points: vec![(1.0, 2.0), (8.0, 3.0)], kind, colour: 1 };
        Chart {
            title: "Time & threads".into(),
            x: "threads".into(),
            y: "s".into(),
            axes,
            series: [Kind::Measured, Kind::Projected, Kind::Predicted].map(series).to_vec(),
            parts: Vec::new(),
        }
    }

    #[test]
    fn the_legend_goes_where_there_is_room() {
        let corner = |first: f64, last: f64| {
            let series =
                Series { name: "n".into(), points: vec![(1.0, first), (8.0, last)], kind: Kind::Measured, colour: 0 };
            let chart = Chart { series: vec![series], ..chart(Axes::Logarithmic) };
            chart.free_corner((0.5, 16.0), (0.5, 16.0))
        };
        assert!(matches!(corner(1.0, 8.0), SeriesLabelPosition::UpperLeft));
        assert!(matches!(corner(8.0, 1.0), SeriesLabelPosition::UpperRight));
    }

    #[test]
    fn labels_of_the_y_axis_differ_where_all_values_are_0() {
        let points = vec![(1.0, 0.0), (8.0, 0.0)];
        let series = vec![Series { name: String::new(), points, kind: Kind::Measured, colour: 0 }];
        let svg = Chart { series, ..chart(Axes::ToLast) }.svg().unwrap();
        assert!(svg.contains("\n0.0002\n") && svg.contains("\n0.0004\n"), "{svg}");
    }

    #[test]
    fn charts_of_all_scales_are_drawn() {
        for axes in [Axes::FromZero, Axes::ToLast, Axes::Logarithmic] {
            let svg = chart(axes).svg().unwrap();
            assert!(
                svg.contains("Time &amp; threads") && svg.contains("</svg>") && svg.contains("width=\"100%\""),
                "{svg}"
            );
        }
        let part = |name: &str, from, to| Part { name: name.into(), range: (from, to) };
        let parts = vec![part("chr<1>", 0.0, 6.0), part("unplaced", 6.0, 6.5), part("chr2", 6.5, 8.0)];
        let svg = Chart { parts, ..chart(Axes::ToLast) }.svg().unwrap();
        assert!(svg.contains("chr&lt;1&gt;") && svg.contains("chr2") && !svg.contains("unplaced"), "{svg}");
        assert!(svg.contains("role=\"img\" aria-label=\"Time &amp; threads\"") && svg.contains("<title>Time &amp;"));
        assert!(Chart { series: vec![], ..chart(Axes::Logarithmic) }.svg().is_ok(), "nothing to draw");
    }
}
