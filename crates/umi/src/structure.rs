//! Read structures: which bases of a read are template, and which are barcodes (fgbio 4.1, util/ReadStructure.scala).

mod parse;

pub use parse::{StructureError, StructureFault};

use std::fmt;
use std::ops::Range;

/// What the bases of a segment are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Bases of the molecule, which are aligned.
    Template,
    /// Bases of a UMI, or of a part of one.
    MolecularBarcode,
    /// Bases that tell samples apart.
    SampleBarcode,
    /// Bases that tell cells apart.
    CellBarcode,
    /// Bases that nobody needs.
    Skip,
}

impl SegmentKind {
    const ALL: [Self; 5] = [Self::Template, Self::MolecularBarcode, Self::SampleBarcode, Self::CellBarcode, Self::Skip];

    /// Its letter in a read structure.
    pub fn letter(self) -> char {
        match self {
            Self::Template => 'T',
            Self::MolecularBarcode => 'M',
            Self::SampleBarcode => 'B',
            Self::CellBarcode => 'C',
            Self::Skip => 'S',
        }
    }

    fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

/// A place in a read: so many bases from its front, or from its back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Front(usize),
    Back(usize),
}

impl Edge {
    fn in_read(self, bases: usize) -> usize {
        match self {
            Self::Front(before) => before,
            Self::Back(behind) => bases - behind,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    kind: SegmentKind,
    start: Edge,
    end: Edge,
}

impl Segment {
    /// Its bases; `None` if it takes what the others leave.
    fn length(&self) -> Option<usize> {
        match (self.start, self.end) {
            (Edge::Front(start), Edge::Front(end)) => Some(end - start),
            (Edge::Back(start), Edge::Back(end)) => Some(start - end),
            _ => None,
        }
    }

    fn span(&self, bases: usize) -> Range<usize> {
        self.start.in_read(bases)..self.end.in_read(bases)
    }
}

/// The segments of a read, in their order: `8M+T` is a UMI of 8 bases, and all bases behind it are template.
///
/// A segment is a number of bases, or `+` for what the others leave, and a letter ([`SegmentKind::letter`]). One
/// segment may have `+`, wherever it stands. Small letters are capitals, and white space means nothing, as in fgbio.
/// fgbio makes a read of each template segment; here there is one at most.
///
/// ```
/// # use zerohop_umi::{ReadStructure, SegmentKind};
/// let structure: ReadStructure = "5M2S+T3B".parse()?;
/// let spans = structure.spans(20)?;
/// assert_eq!(spans.template(), Some(7..17));
/// assert_eq!(spans.of_kind(SegmentKind::MolecularBarcode).collect::<Vec<_>>(), [0..5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadStructure {
    segments: Vec<Segment>,
    /// The number of the segment that is template.
    template: Option<usize>,
    /// The sum of the lengths that are numbers.
    fixed: usize,
    has_rest: bool,
}

impl ReadStructure {
    /// Where the segments are in a read of so many bases.
    ///
    /// # Errors
    ///
    /// Says that the read is shorter than the segments with numbers, or longer where no segment has `+`. fgbio ends
    /// with an error in both cases, too. A segment with `+` may be empty: for a template without bases fgbio writes one
    /// N of quality 2.
    pub fn spans(&self, bases: usize) -> Result<Spans<'_>, ReadLengthError> {
        let fits = if self.has_rest { bases >= self.fixed } else { bases == self.fixed };
        if fits { Ok(Spans { structure: self, bases }) } else { Err(self.length_error(bases)) }
    }

    /// How many bases of template so many reads have, which have so many bases in all and fit.
    pub fn template_bases(&self, bases: u64, reads: u64) -> u64 {
        match self.template.map(|number| self.segments[number].length()) {
            None => 0,
            Some(Some(length)) => length as u64 * reads,
            Some(None) => bases.saturating_sub(self.fixed as u64 * reads),
        }
    }

    /// Whether the read has bases to align.
    pub fn has_template(&self) -> bool {
        self.template.is_some()
    }

    /// Whether the read has segments of this kind.
    pub fn has(&self, kind: SegmentKind) -> bool {
        self.segments.iter().any(|segment| segment.kind == kind)
    }

    #[cold]
    fn length_error(&self, bases: usize) -> ReadLengthError {
        let (structure, fixed) = (self.to_string(), self.fixed);
        if bases < fixed {
            ReadLengthError::Short { bases, structure, fixed }
        } else {
            ReadLengthError::Long { bases, structure, fixed }
        }
    }
}

impl fmt::Display for ReadStructure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.segments.iter().try_for_each(|segment| match segment.length() {
            Some(length) => write!(f, "{length}{}", segment.kind.letter()),
            None => write!(f, "+{}", segment.kind.letter()),
        })
    }
}

/// The segments of one read ([`ReadStructure::spans`]).
#[derive(Debug, Clone, Copy)]
pub struct Spans<'s> {
    structure: &'s ReadStructure,
    bases: usize,
}

impl<'s> Spans<'s> {
    /// The bases to align; `None` if the structure has no template.
    pub fn template(&self) -> Option<Range<usize>> {
        self.structure.template.map(|number| self.structure.segments[number].span(self.bases))
    }

    /// The segments of one kind, in their order.
    pub fn of_kind(&self, kind: SegmentKind) -> impl Iterator<Item = Range<usize>> + use<'s> {
        self.iter().filter(move |(segment, _)| *segment == kind).map(|(_, span)| span)
    }

    /// All segments, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (SegmentKind, Range<usize>)> + use<'s> {
        let bases = self.bases;
        self.structure.segments.iter().map(move |segment| (segment.kind, segment.span(bases)))
    }
}

/// A read that does not fit its read structure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadLengthError {
    /// It has fewer bases than the segments with numbers.
    #[error(
        "the read has {bases} bases, and its read structure {structure} needs {fixed}; was it trimmed before its \
         barcodes were taken?"
    )]
    Short {
        /// Bases of the read.
        bases: usize,
        /// The read structure.
        structure: String,
        /// Bases that it needs.
        fixed: usize,
    },
    /// It has more bases, and no segment takes them.
    #[error(
        "the read has {bases} bases, and its read structure {structure} describes {fixed}; write + instead of the \
         number of the segment that takes the rest"
    )]
    Long {
        /// Bases of the read.
        bases: usize,
        /// The read structure.
        structure: String,
        /// Bases that it describes.
        fixed: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(text: &str) -> ReadStructure {
        text.parse().unwrap()
    }

    #[test]
    fn segments_lie_behind_each_other() {
        let spans = |text: &str, bases| -> Vec<_> {
            let structure = structure(text);
            let spans = structure.spans(bases).unwrap();
            spans.iter().map(|(kind, span)| (kind.letter(), span.start, span.end)).collect()
        };
        assert_eq!(spans("8M+T", 10), [('M', 0, 8), ('T', 8, 10)]);
        assert_eq!(spans("8M+T", 8), [('M', 0, 8), ('T', 8, 8)]);
        assert_eq!(spans("5M2S+T", 9), [('M', 0, 5), ('S', 5, 7), ('T', 7, 9)]);
        assert_eq!(spans("8B100T", 108), [('B', 0, 8), ('T', 8, 108)]);
        assert_eq!(spans("+T2S3C", 9), [('T', 0, 4), ('S', 4, 6), ('C', 6, 9)]);
        assert_eq!(spans("1M+S2M", 6), [('M', 0, 1), ('S', 1, 4), ('M', 4, 6)]);
    }

    #[test]
    fn one_segment_is_template() {
        assert_eq!(structure("8M+T").spans(10).unwrap().template(), Some(8..10));
        assert_eq!(structure("8M").spans(8).unwrap().template(), None);
        let structure = structure("2M1S2M+T");
        let umi: Vec<_> = structure.spans(7).unwrap().of_kind(SegmentKind::MolecularBarcode).collect();
        assert_eq!(umi, [0..2, 3..5]);
        assert!(structure.has(SegmentKind::Skip) && !structure.has(SegmentKind::CellBarcode));
    }

    #[test]
    fn reads_that_do_not_fit_are_refused() {
        let message = |text: &str, bases| structure(text).spans(bases).unwrap_err().to_string();
        assert_eq!(
            message("8M+T", 7),
            "the read has 7 bases, and its read structure 8M+T needs 8; was it trimmed before its barcodes were taken?"
        );
        assert_eq!(
            message("8M100T", 151),
            "the read has 151 bases, and its read structure 8M100T describes 108; write + instead of the number of \
             the segment that takes the rest"
        );
        assert!(matches!(structure("+T5M").spans(4), Err(ReadLengthError::Short { .. })));
        assert!(matches!(structure("8M100T").spans(107), Err(ReadLengthError::Short { .. })));
    }
}
