//! The table of samples: a script sorts it, and cells that stand out are marked.

use crate::escape::escaped;
use std::fmt::Write;

/// A cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SampleCell {
    /// What stands in it.
    pub text: String,
    /// The value by which rows are sorted; those without one come last.
    pub value: Option<f64>,
    /// Where it leads to, on the page.
    pub anchor: Option<String>,
    /// Why it stands out: whether it is high, and words.
    pub outlier: Option<(bool, String)>,
}

/// A row for each sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SampleTable {
    /// Names of the columns.
    pub head: Vec<&'static str>,
    /// Rows, sorted by their first cell, which is their name.
    pub rows: Vec<Vec<SampleCell>>,
}

impl SampleTable {
    pub fn html(&self) -> String {
        let mut head = String::new();
        for (column, name) in self.head.iter().enumerate() {
            let sorted = if column == 0 { " aria-sort=\"ascending\"" } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(head, "<th scope=\"col\"{sorted}>{}</th>", escaped(name));
        }
        let cells =
            |row: &Vec<SampleCell>| row.iter().enumerate().map(|(n, cell)| cell.html(n == 0)).collect::<String>();
        let rows: String = self.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
        format!(
            "<div class=\"wide\"><table class=\"samples\"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>\
             </div>\n"
        )
    }
}

impl SampleCell {
    fn html(&self, is_name: bool) -> String {
        let value = self.value.map_or(String::new(), |value| value.to_string());
        let text = match &self.anchor {
            Some(anchor) => format!("<a href=\"#{}\">{}</a>", escaped(anchor), escaped(&self.text)),
            None => escaped(&self.text),
        };
        let (class, text) = match &self.outlier {
            Some((is_high, why)) => {
                let mark = if *is_high { "\u{25b2}" } else { "\u{25bc}" };
                (format!(" class=\"outlier\" title=\"{}\"", escaped(why)), format!("{mark}\u{a0}{text}"))
            }
            None => (String::new(), text),
        };
        match is_name {
            true => format!("<th scope=\"row\" data-value=\"{value}\"{class}>{text}</th>"),
            false => format!("<td data-value=\"{value}\"{class}>{text}</td>"),
        }
    }
}
