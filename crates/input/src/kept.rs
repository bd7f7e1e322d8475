//! The text of reads that are dealt again: FASTQ. Where the reads have optional fields, their comments begin with a
//! mark, which says what FASTQ cannot say, and hold the fields behind it.

use crate::{header, per_base};
use zerohop_model::chunk::{Chunk, Read};
use zerohop_model::directed::Directed;
use zerohop_trim::Span;

/// What FASTQ cannot say of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// It failed the sequencer's filters.
    pub(crate) failed_filters: bool,
    /// The next read is its mate.
    pub(crate) has_mate: bool,
}

impl Mark {
    fn to_byte(self) -> u8 {
        b'0' + u8::from(self.failed_filters) + 2 * u8::from(self.has_mate)
    }

    /// From the first byte of a comment.
    pub(crate) fn of(byte: u8) -> Option<Self> {
        let bits = byte.checked_sub(b'0').filter(|bits| *bits < 4)?;
        Some(Mark { failed_filters: bits & 1 != 0, has_mate: bits & 2 != 0 })
    }
}

/// Appends what stays of read `mate` of a fragment of `chunk`.
///
/// # Errors
/// In words: a field that cannot be cut.
pub(crate) fn push(
    text: &mut Vec<u8>,
    chunk: &Chunk,
    (fragment, mate): (usize, usize),
    span: Span,
    directed: Option<&Directed>,
) -> Result<(), String> {
    let of = chunk.fragment(fragment);
    let Some(read) = of.reads().nth(mate) else { return Ok(()) };
    text.push(b'@');
    if chunk.comments_are_fields {
        text.extend_from_slice(chunk.name_with_number(fragment, mate));
        let has_mate = mate == 0 && of.mate.is_some();
        text.extend_from_slice(&[b' ', Mark { failed_filters: read.failed_filters, has_mate }.to_byte()]);
        per_base::cut(read.comment, (read.seq, span.range()), directed, text)?;
    } else {
        put_line(chunk.header(fragment, mate), &read, span, text);
    }
    text.push(b'\n');
    put_body(&read, span, text);
    Ok(())
}

/// Appends a header line of FASTQ: as it stands, but for base modifications in its comment.
pub(crate) fn put_line(line: &[u8], read: &Read<'_>, span: Span, text: &mut Vec<u8>) {
    let (name, comment) = header::split(line);
    let start = if comment.is_empty() { line.len() } else { name.len() + 1 };
    text.extend_from_slice(&line[..start]);
    per_base::cut_comment(comment, (read.seq, span.range()), text);
    text.extend_from_slice(&line[start + comment.len()..]);
}

/// Appends what follows the header line.
pub(crate) fn put_body(read: &Read<'_>, span: Span, text: &mut Vec<u8>) {
    text.extend_from_slice(&read.seq[span.range()]);
    text.extend_from_slice(b"\n+\n");
    text.extend_from_slice(&read.qual.unwrap_or_default()[span.range()]);
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back() {
        for (failed_filters, has_mate) in [(false, false), (true, false), (false, true), (true, true)] {
            let mark = Mark { failed_filters, has_mate };
            assert_eq!(Mark::of(mark.to_byte()), Some(mark));
        }
        assert_eq!([Mark::of(b'4'), Mark::of(b'/')], [None, None]);
    }
}
