//! Read structures from text.

use super::{Edge, ReadStructure, Segment, SegmentKind};
use std::iter::Peekable;
use std::str::FromStr;

/// Lengths have at most this many digits: no read has a billion bases, and sums of lengths stay small.
const DIGITS: usize = 9;

/// Why a text is no read structure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read structure '{structure}', position {position}: {fault}")]
pub struct StructureError {
    /// The text.
    pub structure: String,
    /// Which of its characters the fault is about, from 1 on.
    pub position: usize,
    /// What is wrong.
    pub fault: StructureFault,
}

/// What is wrong with a read structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StructureFault {
    /// It has no segment.
    #[error("there is no segment; write lengths and letters, as in 8M+T")]
    Empty,
    /// A letter without a length.
    #[error("'{0}' has no length; write a number of bases, or +, before it")]
    NoLength(char),
    /// A length without a letter.
    #[error("no letter follows the length; write T, M, B, C or S behind it")]
    NoLetter,
    /// A letter that means nothing.
    #[error(
        "'{0}' is no segment; write T (template), M (molecular barcode, UMI), B (sample barcode), C (cell barcode) or \
         S (skip)"
    )]
    UnknownLetter(char),
    /// A length of 0.
    #[error("the length is 0; leave the segment out, or write + for what the others leave")]
    ZeroLength,
    /// A length that no read has.
    #[error("the length has more than {DIGITS} digits; write + for what the others leave")]
    LongLength,
    /// More than one segment takes the rest.
    #[error("this is the second +; write a number, since only one segment can take what the others leave")]
    SecondRest,
    /// More than one segment is template.
    #[error("this is the second T; write S for bases to skip, since one stretch of each read is aligned")]
    SecondTemplate,
}

impl FromStr for ReadStructure {
    type Err = StructureError;

    /// Reads a structure such as `8M+T`.
    fn from_str(text: &str) -> Result<Self, StructureError> {
        segments(text).map_err(|(position, fault)| StructureError { structure: text.to_owned(), position, fault })
    }
}

/// A position, and what is wrong there.
type Fault = (usize, StructureFault);

/// A segment as it is written.
struct Written {
    kind: SegmentKind,
    length: Option<usize>,
}

fn segments(text: &str) -> Result<ReadStructure, Fault> {
    let letters = (1..).zip(text.chars()).filter(|(_, letter)| !letter.is_whitespace());
    let mut letters = letters.map(|(position, letter)| (position, letter.to_ascii_uppercase())).peekable();
    let mut written: Vec<Written> = Vec::new();
    while let Some(&(position, first)) = letters.peek() {
        let length = length(&mut letters)?;
        let (at, letter) = letters.next().ok_or((position, StructureFault::NoLetter))?;
        let kind = SegmentKind::of_letter(letter).ok_or((at, StructureFault::UnknownLetter(letter)))?;
        if first == '+' && written.iter().any(|segment| segment.length.is_none()) {
            return Err((position, StructureFault::SecondRest));
        }
        if kind == SegmentKind::Template && written.iter().any(|segment| segment.kind == kind) {
            return Err((at, StructureFault::SecondTemplate));
        }
        written.push(Written { kind, length });
    }
    if written.is_empty() { Err((1, StructureFault::Empty)) } else { Ok(placed(&written)) }
}

/// The length that comes next; `None` is `+`.
fn length(letters: &mut Peekable<impl Iterator<Item = (usize, char)>>) -> Result<Option<usize>, Fault> {
    let mut number = 0;
    let mut digits = 0;
    let mut start = 1;
    while let Some((position, digit)) = letters.next_if(|(_, letter)| letter.is_ascii_digit()) {
        if digits == 0 {
            start = position;
        }
        digits += 1;
        if digits > DIGITS {
            return Err((start, StructureFault::LongLength));
        }
        number = number * 10 + (digit as usize - '0' as usize);
    }
    if digits > 0 {
        return if number == 0 { Err((start, StructureFault::ZeroLength)) } else { Ok(Some(number)) };
    }
    match letters.next() {
        Some((position, letter)) if letter != '+' => Err((position, StructureFault::NoLength(letter))),
        _ => Ok(None),
    }
}

/// Says where the segments are: those behind the one with `+` are counted from the back of the read.
fn placed(written: &[Written]) -> ReadStructure {
    let fixed = written.iter().filter_map(|segment| segment.length).sum();
    let (mut before, mut is_behind_rest) = (0, false);
    let segments = written.iter().map(|&Written { kind, length }| {
        let edge =
            |before, is_behind_rest| if is_behind_rest { Edge::Back(fixed - before) } else { Edge::Front(before) };
        let start = edge(before, is_behind_rest);
        before += length.unwrap_or(0);
        is_behind_rest |= length.is_none();
        Segment { kind, start, end: edge(before, is_behind_rest) }
    });
    let segments: Vec<Segment> = segments.collect();
    let template = segments.iter().position(|segment| segment.kind == SegmentKind::Template);
    ReadStructure { segments, template, fixed, has_rest: is_behind_rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_written_as_they_are_read() {
        for text in ["8M+T", "+T", "5M2S+T", "8B100T", "+T8M", "3S+M4C", "16C12M", "10M10B10S9T5M"] {
            assert_eq!(text.parse::<ReadStructure>().unwrap().to_string(), text);
        }
        assert_eq!(" 8m 1 0S\t+t".parse::<ReadStructure>().unwrap().to_string(), "8M10S+T");
    }

    #[test]
    fn faults_say_where_they_are() {
        use StructureFault::*;
        for (text, position, fault) in [
            ("", 1, Empty),
            (" ", 1, Empty),
            ("T", 1, NoLength('T')),
            ("8M T", 4, NoLength('T')),
            ("8M+", 3, NoLetter),
            ("8M23", 3, NoLetter),
            ("9R", 2, UnknownLetter('R')),
            ("8M5+T", 4, UnknownLetter('+')),
            ("++T", 2, UnknownLetter('+')),
            ("8M0T", 3, ZeroLength),
            ("1234567890T", 1, LongLength),
            ("+M+T", 3, SecondRest),
            ("5T8M+T", 6, SecondTemplate),
            ("8M-1T", 3, NoLength('-')),
            ("8Mé", 3, NoLength('é')),
        ] {
            let error = text.parse::<ReadStructure>().unwrap_err();
            assert_eq!((error.position, error.fault), (position, fault), "{text}");
        }
        assert_eq!(
            "8X+T".parse::<ReadStructure>().unwrap_err().to_string(),
            "read structure '8X+T', position 2: 'X' is no segment; write T (template), M (molecular barcode, UMI), \
             B (sample barcode), C (cell barcode) or S (skip)"
        );
    }
}
