//! Columns with tabs between them; the merge's own are cut off.

use super::{Alignment, Fault, Lines, number};
use crate::fasta::Batch;
use crate::format::Format;
use crate::settings::Layout;

/// The alignments in `lines`.
pub(crate) fn alignments<'a>(lines: Lines<'a>, layout: &Layout, batch: &Batch) -> Result<Vec<Alignment<'a>>, Fault> {
    let index = batch.index();
    let mut alignments = Vec::new();
    for (at, line) in lines {
        let columns = Columns::new(line, layout).map_err(|what| Fault::new(at, what))?;
        let name = columns.own(0);
        let unknown = || Fault::new(at, format!("no query is named '{}'", String::from_utf8_lossy(name)));
        let query = *index.get(name).ok_or_else(unknown)?;
        alignments.push(columns.alignment(query, at).map_err(|what| Fault::new(at, what))?);
    }
    Ok(alignments)
}

/// What stands before diamond's columns, without what it says of our own; `command` takes the place of diamond's.
pub(crate) fn opening(lines: &mut Lines<'_>, format: Format, layout: &Layout, command: &str) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    let (begin, between) = match format {
        Format::Headed => ("", "\t"),
        _ => {
            text.extend_from_slice(lines.expect("# DIAMOND ")?);
            lines.expect("# Invocation: ")?;
            text.extend_from_slice(format!("\n# Invocation: {command}\n").as_bytes());
            ("# Fields: ", ", ")
        }
    };
    let line = String::from_utf8_lossy(lines.expect(begin)?);
    let names: Vec<&str> = line.split(between).collect();
    if names.len() != layout.columns.len() {
        let (there, wanted) = (names.len(), layout.columns.len());
        return Err(Fault::new(lines.number(), format!("it names {there} columns instead of {wanted}")));
    }
    text.extend_from_slice(names.get(..layout.kept).unwrap_or_default().join(between).as_bytes());
    text.push(b'\n');
    Ok(text)
}

/// A line, and where its columns begin and end.
struct Columns<'a, 'l> {
    line: &'a [u8],
    layout: &'l Layout,
    tabs: Vec<usize>,
    /// More columns than were asked for.
    more: usize,
}

impl<'a, 'l> Columns<'a, 'l> {
    fn new(line: &'a [u8], layout: &'l Layout) -> Result<Self, String> {
        let wanted = layout.columns.len();
        let tabs: Vec<usize> = memchr::memchr_iter(b'\t', line).collect();
        // A title with tabs in it makes more; with diamond it stands before our columns, which are found from the end.
        let more =
            (tabs.len() + 1).checked_sub(wanted).filter(|&more| more == 0 || layout.own.first() == Some(&layout.kept));
        match more {
            Some(more) => Ok(Columns { line, layout, tabs, more }),
            None => Err(format!("it has {} columns instead of {wanted}", tabs.len() + 1)),
        }
    }

    fn end(&self, at: usize) -> usize {
        self.tabs.get(at).copied().unwrap_or(self.line.len())
    }

    /// One of our own columns.
    fn own(&self, index: usize) -> &'a [u8] {
        let Some(at) = self.layout.own.get(index).map(|at| at + self.more) else { return &[] };
        let start = at.checked_sub(1).and_then(|tab| self.tabs.get(tab)).map_or(0, |tab| tab + 1);
        self.line.get(start..self.end(at)).unwrap_or_default()
    }

    fn alignment(&self, query: u32, line: u64) -> Result<Alignment<'a>, String> {
        let own = |index: usize, what: &str| number(self.own(index), what);
        let lengths = match self.layout.own.len() {
            6 => Some((own(4, "length")? as u64, own(5, "length")? as u64)),
            _ => None,
        };
        let (evalue, score) = (own(2, "E-value")?, own(3, "score")? as u32);
        let kept = (self.layout.kept + self.more).checked_sub(1).map_or(0, |last| self.end(last));
        let text = self.line.get(..kept).unwrap_or_default();
        Ok(Alignment { text, query, subject: self.own(1), evalue, score, lengths, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opening_is_without_our_own_columns() {
        let layout = Layout { columns: ["a", "b", "c"].map(str::to_owned).into(), kept: 2, own: vec![] };
        let told = |text: &str, format| {
            let opening = opening(&mut Lines::new(text.as_bytes())?, format, &layout, "zerohop search")?;
            Ok::<_, Fault>(String::from_utf8_lossy(&opening).into_owned())
        };
        assert_eq!(told("a\tb\tc\n", Format::Headed).unwrap(), "a\tb\n");
        let comments = "# DIAMOND v2\n# Invocation: diamond x\n# Fields: A, B, C\n";
        let ours = "# DIAMOND v2\n# Invocation: zerohop search\n# Fields: A, B\n";
        assert_eq!(told(comments, Format::Commented).unwrap(), ours);
        assert_eq!(told("a\tb\n", Format::Headed).unwrap_err().what, "it names 2 columns instead of 3");
        assert_eq!(told("", Format::Headed).unwrap_err().what, "it does not begin with ''");
    }
}
