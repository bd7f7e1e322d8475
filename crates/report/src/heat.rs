//! Tables whose cells are shaded by their values.

use crate::colour::shade;
use crate::escape::escaped;

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// What stands in it.
    pub text: String,
    /// How dark it is, from 0 to 1; none for a cell that is not shaded.
    pub dark: Option<f64>,
    /// Whether it has a frame.
    pub framed: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell { text, dark: None, framed: false }
    }
}

/// A table with shaded cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heat {
    /// What it shows, with its unit and what dark means.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows, whose first cell is their name.
    pub rows: Vec<Vec<Cell>>,
}

/// Which values are dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dark {
    /// The greatest.
    High,
    /// The least.
    Low,
}

impl Heat {
    /// A matrix of numbers, shaded from the least to the greatest of them.
    pub fn matrix(title: String, head: Vec<String>, rows: Vec<(String, Vec<f64>)>, digits: usize, dark: Dark) -> Self {
        let values = || rows.iter().flat_map(|(_, values)| values).copied().filter(|value| value.is_finite());
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let part = |value: f64| match dark {
            _ if high <= low => 0.0,
            Dark::High => (value - low) / (high - low),
            Dark::Low => (high - value) / (high - low),
        };
        let cell = |&value: &f64| Cell { text: format!("{value:.digits$}"), dark: Some(part(value)), framed: false };
        let row = |(name, values): &(String, Vec<f64>)| {
            std::iter::once(Cell::from(name.clone())).chain(values.iter().map(cell)).collect()
        };
        let rows = rows.iter().map(row).collect();
        Heat { title, head, rows }
    }

    pub(crate) fn html(&self) -> String {
        let head: String = self.head.iter().map(|name| format!("<th scope=\"col\">{}</th>", escaped(name))).collect();
        let rows: String = self.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
        format!(
            "<p class=\"caption\">{}</p>\n<div class=\"wide\"><table \
             class=\"heat\"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
            escaped(&self.title)
        )
    }
}

fn cells(row: &[Cell]) -> String {
    let cell = |(number, cell): (usize, &Cell)| {
        let class = if cell.framed { " class=\"framed\"" } else { "" };
        let style = cell.dark.map(shade).map(|(back, ink)| format!(" style=\"background:{back};color:{ink}\""));
        let style = style.unwrap_or_default();
        match number {
            0 => format!("<th scope=\"row\"{class}{style}>{}</th>", escaped(&cell.text)),
            _ => format!("<td{class}{style}>{}</td>", escaped(&cell.text)),
        }
    };
    row.iter().enumerate().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_the_darkest() {
        let rows = || vec![("0".to_owned(), vec![80.0, 160.0]), ("<1>".to_owned(), vec![120.0, f64::NAN])];
        let matrix = |dark| Heat::matrix("t".into(), vec![String::new(), "0".into(), "1".into()], rows(), 1, dark);
        let of = |heat: &Heat| heat.rows.iter().flat_map(|row| &row[1..]).map(|cell| cell.dark).collect::<Vec<_>>();
        assert_eq!(of(&matrix(Dark::High))[..3], [Some(0.0), Some(1.0), Some(0.5)]);
        assert_eq!(of(&matrix(Dark::Low))[..3], [Some(1.0), Some(0.0), Some(0.5)]);
        let html = matrix(Dark::High).html();
        assert!(html.contains(">&lt;1&gt;</th>") && html.contains(">160.0</td>"), "{html}");
        let flat = Heat::matrix(String::new(), vec![], vec![("0".into(), vec![10.0])], 0, Dark::Low);
        assert_eq!(of(&flat), [Some(0.0)], "one value is neither good nor bad");
    }
}
