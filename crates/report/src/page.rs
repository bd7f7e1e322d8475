//! One HTML page that needs nothing else: text, tables and charts.

use crate::bars::Bars;
use crate::chart::{Chart, ChartError};
use crate::escape::escaped;
use crate::heat::Heat;
use crate::lanes::Lanes;
use crate::sample_table::SampleTable;
use crate::topology::Topology;
use std::fmt::Write;

/// The look of a page, on screens of any width and on paper.
const STYLE: &str = include_str!("style.css");
/// What sorts tables of samples. Without it the page is complete, too.
const SORT: &str = include_str!("sort.js");
/// Columns with longer cells than this are words: they may be broken into lines.
const LONG: usize = 40;

/// A table: its head, and its rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Cells, as many per row as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
        };
        let rule = vec!["---".to_owned(); self.head.len()];
        line(&self.head) + &line(&rule) + &self.rows.iter().map(|row| line(row)).collect::<String>()
    }

    fn html(&self) -> String {
        let is_long =
            |column: usize| self.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.chars().count() > LONG));
        let classes: Vec<&str> =
            (0..self.head.len()).map(|column| if is_long(column) { " class=\"long\"" } else { "" }).collect();
        let name = |(name, class): (&String, &&str)| format!("<th scope=\"col\"{class}>{}</th>", escaped(name));
        let cell = |(column, (cell, class)): (usize, (&String, &&str))| match column {
            0 => format!("<th scope=\"row\"{class}>{}</th>", escaped(cell)),
            _ => format!("<td{class}>{}</td>", escaped(cell)),
        };
        let head: String = self.head.iter().zip(&classes).map(name).collect();
        let cells = |row: &[String]| row.iter().zip(&classes).enumerate().map(cell).collect::<String>();
        let rows: String = self.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
        format!("<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n")
    }
}

/// A page under construction.
#[derive(Debug)]
pub struct Page {
    title: String,
    headings: Vec<String>,
    body: String,
    /// Whether a table of samples is on it, which a script sorts.
    is_sortable: bool,
}

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Self {
        Page { title: title.to_owned(), headings: Vec::new(), body: String::new(), is_sortable: false }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.headings.push(text.to_owned());
        let number = self.headings.len();
        self.push(format_args!("<h2 id=\"part-{number}\">{}</h2>\n", escaped(text)))
    }

    /// A heading below a heading.
    pub fn subheading(&mut self, text: &str) -> &mut Self {
        self.push(format_args!("<h3>{}</h3>\n", escaped(text)))
    }

    /// A heading below a heading, to which links lead.
    pub(crate) fn named_subheading(&mut self, anchor: &str, text: &str) -> &mut Self {
        self.push(format_args!("<h3 id=\"{}\">{}</h3>\n", escaped(anchor), escaped(text)))
    }

    /// A few words above a table or a drawing.
    pub fn caption(&mut self, text: &str) -> &mut Self {
        self.push(format_args!("<h4>{}</h4>\n", escaped(text)))
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        self.push(format_args!("<p>{}</p>\n", escaped(text)))
    }

    /// A paragraph that may be passed over.
    pub fn note(&mut self, text: &str) -> &mut Self {
        self.push(format_args!("<p class=\"note\">{}</p>\n", escaped(text)))
    }

    /// A table.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        self.push(format_args!("{}", table.html()))
    }

    /// Facts: a name and what is so called.
    pub fn facts(&mut self, facts: &[(&str, String)]) -> &mut Self {
        let row = |(name, text): &(&str, String)| {
            format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name), escaped(text))
        };
        let rows: String = facts.iter().map(row).collect();
        self.push(format_args!("<table class=\"facts\"><tbody>\n{rows}</tbody></table>\n"))
    }

    /// Bars.
    pub fn bars(&mut self, bars: &Bars) -> &mut Self {
        self.push(format_args!("{}", bars.html()))
    }

    /// A table with shaded cells.
    pub fn heat(&mut self, heat: &Heat) -> &mut Self {
        self.push(format_args!("{}", heat.html()))
    }

    /// Time lines.
    pub fn lanes(&mut self, lanes: &Lanes) -> &mut Self {
        self.push(format_args!("{}", lanes.html()))
    }

    /// A machine, and the distances between its nodes.
    pub fn topology(&mut self, topology: &Topology<'_>) -> &mut Self {
        let distances = topology.distances().map(|heat| heat.html()).unwrap_or_default();
        self.push(format_args!("{}{distances}", topology.html()))
    }

    /// A chart.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn chart(&mut self, chart: &Chart) -> Result<&mut Self, ChartError> {
        let svg = chart.svg()?;
        Ok(self.push(format_args!("<figure>{svg}</figure>\n")))
    }

    /// Samples, which a script sorts by the columns.
    pub(crate) fn samples(&mut self, samples: &SampleTable) -> &mut Self {
        self.is_sortable = true;
        self.push(format_args!("{}", samples.html()))
    }

    /// What `add` adds shows when it is asked for.
    pub(crate) fn fold<E>(&mut self, summary: &str, add: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        self.push(format_args!("<details class=\"part\"><summary>{}</summary>\n", escaped(summary)));
        add(self)?;
        self.push(format_args!("</details>\n"));
        Ok(())
    }

    /// A table that shows when it is asked for.
    pub fn folded(&mut self, summary: &str, table: &Table) -> &mut Self {
        self.push(format_args!("<details><summary>{}</summary>{}</details>\n", escaped(summary), table.html()))
    }

    /// The page.
    pub fn html(&self) -> String {
        let Page { title, headings, body, is_sortable } = self;
        let title = escaped(title);
        let link = |(i, text): (usize, &String)| format!("<li><a href=\"#part-{}\">{}</a></li>", i + 1, escaped(text));
        let links: String = headings.iter().enumerate().map(link).collect();
        let nav = if headings.len() > 1 { format!("<nav><ul>{links}</ul></nav>\n") } else { String::new() };
        let script = if *is_sortable { format!("<script>\n{SORT}</script>\n") } else { String::new() };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width, \
             initial-scale=1\">\n<title>{title}</title>\n<style>\n{STYLE}</style></head><body>\n<h1>{title}</h1>\n\
             {nav}{body}{script}</body></html>\n"
        )
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(text);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_tables_are_whole() {
        let table = Table { head: vec!["a".into(), "b".into()], rows: vec![vec!["<1>".into(), "x|y".into()]] };
        assert_eq!(table.markdown(), "| a | b |\n| --- | --- |\n| <1> | x\\|y |\n");
        let mut page = Page::new("A & B");
        page.heading("h <1>")
            .heading("h2")
            .subheading("s")
            .facts(&[("f&", "x".repeat(9))])
            .paragraph("p")
            .table(&table)
            .folded("more", &table);
        let html = page.html();
        assert!(html.contains("A &amp; B") && html.contains("&lt;1&gt;") && html.ends_with("</html>\n"));
        assert!(html.contains("<a href=\"#part-2\">h2</a>") && html.contains("<h2 id=\"part-1\">h &lt;1&gt;</h2>"));
        assert!(html.contains("<th scope=\"row\">f&amp;</th><td>xxxxxxxxx</td>"), "{html}");
    }
}
