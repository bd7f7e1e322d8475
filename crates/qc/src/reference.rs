//! Bases of the reference beside records that come in the order of their places.

use std::ops::Range;
use zerohop_cram::ContigBases;
use zerohop_model::error::Error;

/// Bases that are read at once, at least.
const AHEAD: u32 = 1 << 14;

/// A piece of the reference that one worker has read.
pub(crate) struct Window<'r> {
    reference: Option<&'r ContigBases>,
    contig: i32,
    start: u32,
    codes: Vec<u8>,
}

impl<'r> Window<'r> {
    pub(crate) fn new(reference: Option<&'r ContigBases>) -> Self {
        Window { reference, contig: -1, start: 0, codes: Vec::new() }
    }

    /// The bases at these positions of a contig, as far as it has them, as BAM codes them; 0 for what is none.
    pub(crate) fn codes(&mut self, contig: i32, positions: Range<u32>) -> Result<&[u8], Error> {
        let (Some(reference), Ok(number)) = (self.reference, u32::try_from(contig)) else { return Ok(&[]) };
        let has = |window: &Self| window.contig == contig && window.start <= positions.start;
        let end = positions.end.min(reference.length(number));
        if !has(self) || u64::from(self.start) + (self.codes.len() as u64) < u64::from(end) {
            (self.contig, self.start) = (contig, positions.start);
            self.codes.clear();
            let until = positions.end.max(positions.start.saturating_add(AHEAD));
            reference.read(number, positions.start..until, &mut self.codes)?;
            self.codes.iter_mut().for_each(|base| *base = code_of(*base));
        }
        let from = ((positions.start - self.start) as usize).min(self.codes.len());
        let to = (end.saturating_sub(self.start) as usize).clamp(from, self.codes.len());
        Ok(&self.codes[from..to])
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
