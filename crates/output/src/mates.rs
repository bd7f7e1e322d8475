//! What a record says of its mate in optional fields: MQ, MC and ms, as `samtools fixmate -m` writes them (bam_mate.c:
//! sync_mq_mc, add_mate_score). Fields of these names that the record has already are replaced.

use crate::mate_tags::MateTags;
use crate::sam_line::Fields;
use crate::tags::{push_integer, push_text};
use zerohop_duplicates::samtools_score;
use zerohop_model::alignment::Aligned;
use zerohop_model::chunk::Fragment;
use zerohop_model::record::{CigarOp, UNMAPPED, is_primary};

/// Whether an optional field is one of those.
pub(crate) fn is_replaced(key: [u8; 2]) -> bool {
    matches!(&key, b"MQ" | b"MC" | b"ms")
}

/// A primary record, as the record of its mate tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mate {
    is_mapped: bool,
    mapq: u8,
    cigar: Vec<CigarOp>,
    /// Sum of the qualities that count, as samtools has it.
    score: u32,
}

impl Mate {
    fn new(flags: u16, mapq: u8, cigar: &[CigarOp], (qual, bases): (&[u8], usize)) -> Self {
        let score = u32::try_from(samtools_score(qual, bases)).unwrap_or(u32::MAX);
        Mate { is_mapped: flags & UNMAPPED == 0, mapq, cigar: cigar.to_vec(), score }
    }

    /// That of a record; none if it is not a primary one.
    pub(crate) fn of_fields(fields: &Fields<'_>) -> Option<Self> {
        let Fields { flags, mapq, cigar, seq, qual, .. } = *fields;
        is_primary(flags).then(|| Mate::new(flags, mapq, cigar, (qual, seq.len())))
    }

    pub(crate) fn operations(&self) -> &[CigarOp] {
        &self.cigar
    }

    /// CIGAR as MC has it; `is_mapped` says whether the record itself is mapped. None if MC is not written.
    fn cigar(&self, is_mapped: bool) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for op in &self.cigar {
            text.extend_from_slice(itoa::Buffer::new().format(op.length()).as_bytes());
            text.push(op.letter());
        }
        if text.is_empty() {
            text.push(b'*');
        }
        (self.is_mapped || is_mapped).then_some(text)
    }

    /// Appends the fields in binary form to a record with these flags.
    pub(crate) fn push(&self, flags: u16, out: &mut Vec<u8>) {
        if self.is_mapped {
            push_integer(out, *b"MQ", self.mapq.into());
        }
        self.cigar(flags & UNMAPPED == 0).into_iter().for_each(|cigar| push_text(out, *b"MC", &cigar));
        push_integer(out, *b"ms", self.score.into());
    }

    /// Appends the fields as text.
    pub(crate) fn push_as_text(&self, flags: u16, out: &mut Vec<u8>) {
        let mut text = String::new();
        if self.is_mapped {
            text += &format!("\tMQ:i:{}", self.mapq);
        }
        if let Some(cigar) = self.cigar(flags & UNMAPPED == 0) {
            text += &format!("\tMC:Z:{}", String::from_utf8_lossy(&cigar));
        }
        text += &format!("\tms:i:{}", self.score);
        out.extend_from_slice(text.as_bytes());
    }
}

/// Both mates of a fragment.
#[derive(Debug, Default)]
pub(crate) struct Mates([Option<Mate>; 2]);

impl Mates {
    /// Those of a fragment that an embedded engine has aligned.
    pub(crate) fn of<'a>(fragment: &Fragment<'_>, alignments: impl Iterator<Item = Aligned<'a>>) -> Self {
        let mut mates = Mates::default();
        for Aligned { alignment, cigar, .. } in alignments.filter(|aligned| is_primary(aligned.alignment.flags)) {
            let read = if alignment.mate == 0 { Some(fragment.first) } else { fragment.mate };
            if let (Some(read), Some(mate)) = (read, mates.0.get_mut(usize::from(alignment.mate))) {
                let quality = (read.qual.unwrap_or_default(), read.seq.len());
                *mate = Some(Mate::new(alignment.flags, alignment.mapq, cigar, quality));
            }
        }
        mates
    }

    /// The mate of a record, where both are there: of a primary one, or of any, as `tags` says.
    pub(crate) fn of_record(&self, mate: u8, flags: u16, tags: MateTags) -> Option<&Mate> {
        let [first, second] = &self.0;
        match (first, second, mate) {
            (Some(_), Some(second), 0) if tags.are_for(flags) => Some(second),
            (Some(first), Some(_), 1) if tags.are_for(flags) => Some(first),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unmapped_mate_has_no_quality_of_mapping() {
        let op = CigarOp::new(4, b'M').unwrap();
        let (mapped, unmapped) = (Mate::new(0, 60, &[op], (b"#0?I", 4)), Mate::new(UNMAPPED, 0, &[], (b"", 2)));
        let text = |mate: &Mate, flags| {
            let mut out = Vec::new();
            mate.push_as_text(flags, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(&mapped, 0), "\tMQ:i:60\tMC:Z:4M\tms:i:85");
        assert_eq!(text(&mapped, UNMAPPED), "\tMQ:i:60\tMC:Z:4M\tms:i:85");
        assert_eq!(text(&unmapped, 0), "\tMC:Z:*\tms:i:510");
        assert_eq!(text(&unmapped, UNMAPPED), "\tms:i:510");
    }
}
