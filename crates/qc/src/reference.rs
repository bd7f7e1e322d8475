//! Bases of the reference beside records that come in the order of their places.

use std::ops::Range;
use zerohop_cram::ContigBases;
use zerohop_model::error::Error;

/// Bases that are read at once, at least, and how many of them before those that are asked for.
const AHEAD: u32 = 1 << 14;
const BEHIND: u32 = 1 << 8;

/// Two pieces of the reference that one worker has read: records that skip over introns ask here and there.
pub(crate) struct Window<'r> {
    reference: Option<&'r ContigBases>,
    pieces: [Piece; 2],
    /// The one that was asked for last.
    last: usize,
}

/// Bases from one position of a contig on.
struct Piece {
    contig: i32,
    start: u32,
    codes: Vec<u8>,
}

impl Piece {
    fn has(&self, contig: i32, positions: &Range<u32>) -> bool {
        let end = u64::from(self.start) + self.codes.len() as u64;
        self.contig == contig && self.start <= positions.start && u64::from(positions.end) <= end
    }
}

impl<'r> Window<'r> {
    pub(crate) fn new(reference: Option<&'r ContigBases>) -> Self {
        let none = || Piece { contig: -1, start: 0, codes: Vec::new() };
        Window { reference, pieces: [none(), none()], last: 0 }
    }

    /// How many bases a contig has.
    pub(crate) fn length(&self, contig: u32) -> u32 {
        self.reference.map_or(0, |reference| reference.length(contig))
    }

    /// The bases at these positions of a contig, as far as it has them, as BAM codes them; 0 for what is none.
    pub(crate) fn codes(&mut self, contig: i32, positions: Range<u32>) -> Result<&[u8], Error> {
        let (Some(reference), Ok(number)) = (self.reference, u32::try_from(contig)) else { return Ok(&[]) };
        let length = reference.length(number);
        let wanted = positions.start.min(length)..positions.end.min(length);
        if !self.pieces[self.last].has(contig, &wanted) {
            self.last = 1 - self.last;
        }
        let piece = &mut self.pieces[self.last];
        if !piece.has(contig, &wanted) {
            (piece.contig, piece.start) = (contig, wanted.start.saturating_sub(BEHIND));
            piece.codes.clear();
            let until = wanted.end.max(wanted.start.saturating_add(AHEAD));
            reference.read(number, piece.start..until, &mut piece.codes)?;
            piece.codes.iter_mut().for_each(|base| *base = code_of(*base));
        }
        let from = ((wanted.start - piece.start) as usize).min(piece.codes.len());
        let to = ((wanted.end - piece.start) as usize).clamp(from, piece.codes.len());
        Ok(&piece.codes[from..to])
    }
}

/// How BAM codes a base; 0 for what is none.
pub(crate) fn code_of(base: u8) -> u8 {
    CODES[usize::from(base)]
}

const CODES: [u8; 256] = {
    let (letters, mut codes, mut code) = (b"=ACMGRSVTWYHKDBN", [0; 256], 1);
    while code < letters.len() {
        codes[letters[code] as usize] = code as u8;
        codes[letters[code].to_ascii_lowercase() as usize] = code as u8;
        code += 1;
    }
    codes[b'.' as usize] = codes[b'N' as usize];
    codes
};
