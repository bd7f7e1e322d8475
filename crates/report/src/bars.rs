//! Horizontal bars. They are a table with a bar in each row, so that words keep their size on a narrow screen, and
//! numbers can be copied.

use crate::colour::css;
use crate::escape::escaped;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// The value as it is shown.
    pub shown: String,
    /// Number of its colour; bars that belong together share one.
    pub colour: usize,
}

/// Bars that are compared with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// What they show, with its unit.
    pub title: String,
    /// The bars, in the order in which they are shown.
    pub bars: Vec<Bar>,
    /// Where a line is drawn that bars are compared with.
    pub line: Option<f64>,
    /// Whether they are computed and not measured: then they are hatched.
    pub computed: bool,
}

impl Bars {
    pub(crate) fn html(&self) -> String {
        let values = self.bars.iter().map(|bar| bar.value).chain(self.line);
        let longest = values.filter(|value| value.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        let percent = |value: f64| 100.0 * (if value.is_finite() { value } else { 0.0 } / longest).clamp(0.0, 1.0);
        let line = self.line.map_or(String::new(), |at| format!("<i style=\"left:{:.2}%\"></i>", percent(at)));
        let row = |bar: &Bar| {
            format!(
                "<tr><th scope=\"row\">{}</th><td><div><b \
                 style=\"width:{:.2}%;background-color:{}\"></b>{line}</div></td><td>{}</td></tr>\n",
                escaped(&bar.name),
                percent(bar.value),
                css(bar.colour),
                escaped(&bar.shown)
            )
        };
        let rows: String = self.bars.iter().map(row).collect();
        format!(
            "<table class=\"bars{}\"><caption>{}</caption><tbody>\n{rows}</tbody></table>\n",
            if self.computed { " computed" } else { "" },
            escaped(&self.title)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bar = |name: &str, value: f64| Bar { name: name.into(), value, shown: format!("{value} x"), colour: 0 };
        let bars = Bars {
            title: "a < b".into(),
            bars: vec![bar("one & two", 1.0), bar("three", 4.0)],
            line: Some(1.0),
            computed: false,
        };
        let html = bars.html();
        assert!(
            html.contains("width:25.00%") && html.contains("width:100.00%") && html.contains("left:25.00%"),
            "{html}"
        );
        assert!(html.contains("a &lt; b") && html.contains("one &amp; two") && html.contains("<td>4 x</td>"), "{html}");
        let nothing = Bars { bars: vec![bar("none", f64::NAN)], ..Bars::default() }.html();
        assert!(nothing.contains("width:0.00%"), "{nothing}");
    }
}
