//! One HTML page that needs nothing else: text, tables and charts.

use crate::chart::{Chart, ChartError};
use std::fmt::Write;

/// The look of a page, on screens of any width and on paper.
const STYLE: &str = "
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
figure { margin: 1rem 0; break-inside: avoid; } figure svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #888; }
details { margin: .5rem 0; } summary { cursor: pointer; color: #0057a0; }
.note { color: #555; font-size: .9rem; }
@media print { body { max-width: none; } details > * { display: block; } }
";

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
        let cells = |row: &[String], tag: &str| {
            row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect::<String>()
        };
        let rows: String = self.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, "td"))).collect();
        format!(
            "<div class=\"wide\"><table><thead><tr>{}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
            cells(&self.head, "th")
        )
    }
}

/// A page under construction.
#[derive(Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Self {
        Page { title: title.to_owned(), body: format!("<h1>{}</h1>\n", escaped(title)) }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.push(format_args!("<h2>{}</h2>\n", escaped(text)))
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

    /// A chart.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn chart(&mut self, chart: &Chart) -> Result<&mut Self, ChartError> {
        let svg = chart.svg()?;
        Ok(self.push(format_args!("<figure>{svg}</figure>\n")))
    }

    /// A table that shows when it is asked for.
    pub fn folded(&mut self, summary: &str, table: &Table) -> &mut Self {
        self.push(format_args!("<details><summary>{}</summary>{}</details>\n", escaped(summary), table.html()))
    }

    /// The page.
    pub fn html(&self) -> String {
        let Page { title, body } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
             initial-scale=1\">\n<title>{}</title>\n<style>{STYLE}</style></head><body>\n{body}</body></html>\n",
            escaped(title)
        )
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(text);
        self
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_tables_are_whole() {
        let table = Table { head: vec!["a".into(), "b".into()], rows: vec![vec!["<1>".into(), "x|y".into()]] };
        assert_eq!(table.markdown(), "| a | b |\n| --- | --- |\n| <1> | x\\|y |\n");
        let mut page = Page::new("A & B");
        page.heading("h").paragraph("p").table(&table).folded("more", &table);
        let html = page.html();
        assert!(html.contains("A &amp; B") && html.contains("&lt;1&gt;") && html.ends_with("</html>\n"));
    }
}
