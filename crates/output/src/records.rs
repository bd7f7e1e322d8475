//! The records of an embedded engine: its alignments, with the bases and qualities of the reads as they lie in the
//! chunk.

use crate::mate_tags::MateTags;
use crate::mates::{Mate, Mates, is_replaced};
use crate::sam_line::{BamPlace, Fields};
use zerohop_model::alignment::{Aligned, Alignments, Letters, Names};
use zerohop_model::chunk::{Chunk, Read};
use zerohop_model::complement;
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{CigarOp, QC_FAIL, REVERSE, TagValue, UNMAPPED};

/// A record: what SAM and BAM have in common.
pub(crate) struct EngineRecord<'a> {
    pub(crate) fields: Fields<'a>,
    pub(crate) aligned: Aligned<'a>,
    /// The comment of the read's header line.
    pub(crate) comment: &'a [u8],
    /// Whether it is the first record of its fragment.
    pub(crate) is_first: bool,
    /// The mate that its optional fields describe, if they are wanted.
    pub(crate) mate: Option<&'a Mate>,
}

impl<'a> EngineRecord<'a> {
    /// Whether it has an optional field of its own of this name.
    pub(crate) fn has(&self, key: [u8; 2]) -> bool {
        let is_own = |value| !matches!(value, TagValue::Comment | TagValue::ReadGroup | TagValue::LongCigar);
        self.aligned.tags().any(|tag| tag.key == key && is_own(tag.value)) || self.mate.is_some() && is_replaced(key)
    }

    /// The text that an optional field holds.
    pub(crate) fn text_of(&self, key: [u8; 2]) -> Option<&'a [u8]> {
        self.aligned.tags().find(|tag| tag.key == key).and_then(|tag| match tag.value {
            TagValue::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// Bases and qualities of one record; scratch of one encoder.
#[derive(Debug, Default)]
pub(crate) struct Bases {
    seq: Vec<u8>,
    qual: Vec<u8>,
    /// Whether alignments have bases where the engine shows none: secondary ones.
    of_all: bool,
}

/// What of a chunk is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    /// Which records tell of their mates.
    pub(crate) mates: MateTags,
    /// Whether fragments without an aligned read have records.
    pub(crate) unaligned: bool,
}

impl Bases {
    /// Scratch for records of which all have bases, or only those that the engine shows with some.
    pub(crate) fn new(of_all: bool) -> Self {
        Bases { of_all, ..Bases::default() }
    }

    /// Gives `write` the records of a chunk that are shown, in order.
    ///
    /// # Errors
    /// What `write` says; alignments that do not belong to the chunk.
    pub(crate) fn records(
        &mut self,
        chunk: &Chunk,
        alignments: &Alignments,
        shown: Shown,
        mut write: impl FnMut(&EngineRecord<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if alignments.fragments() != chunk.len() {
            let (found, wanted) = (alignments.fragments(), chunk.len());
            return Err(Error::Internal(format!("the engine aligned {found} fragments of {wanted}")));
        }
        if let Some(fragment) = alignments.too_many_in() {
            return Err(too_many(&chunk.fragment(fragment).first));
        }
        // Of the fragment that was handed out last an error names the place.
        for (index, fragment) in chunk.fragments().enumerate() {
            if !shown.unaligned && !is_aligned(alignments.fragment(index).map(|aligned| aligned.alignment.flags)) {
                continue;
            }
            let mates = match shown.mates {
                MateTags::None => Mates::default(),
                _ => Mates::of(&fragment, alignments.fragment(index)),
            };
            for (number, aligned) in alignments.fragment(index).enumerate() {
                let read = if aligned.alignment.mate == 0 { Some(fragment.first) } else { fragment.mate };
                let unknown = || Error::Internal("the engine aligned a mate that is not there".to_owned());
                let read = read.ok_or_else(unknown)?;
                let (seq, qual) = self.of(&read, &aligned, alignments.letters())?;
                let alignment = &aligned.alignment;
                let fields = Fields {
                    name: match alignments.names() {
                        Names::WithoutMate => read.name,
                        Names::WithoutNumber => without_number(&read),
                        Names::Whole => chunk.name_with_number(index, usize::from(alignment.mate)),
                    },
                    flags: alignment.flags | if read.failed_filters { QC_FAIL } else { 0 },
                    place: BamPlace::from(alignment.locus),
                    mapq: alignment.mapq,
                    cigar: aligned.cigar,
                    mate_place: BamPlace::from(alignment.mate_locus),
                    template_length: alignment.template_length,
                    seq,
                    qual,
                };
                let mate = mates.of_record(alignment.mate, alignment.flags, shown.mates);
                write(&EngineRecord { fields, aligned, comment: read.comment, is_first: number == 0, mate })?;
            }
        }
        Ok(())
    }

    /// SEQ and QUAL: those of the read in the direction of the reference, without what is clipped off; none where the
    /// alignment has none.
    fn of<'a>(
        &'a mut self,
        read: &Read<'a>,
        aligned: &Aligned<'_>,
        letters: Letters,
    ) -> Result<(&'a [u8], &'a [u8]), Error> {
        if aligned.alignment.has_no_bases && !self.of_all || read.seq.is_empty() {
            return Ok((&[], &[]));
        }
        let (seq, qual) = (read.seq, read.qual.unwrap_or_default());
        let clipped = |op: Option<&CigarOp>| op.filter(|op| op.letter() == b'H').map_or(0, |op| op.length() as usize);
        let (before, behind) = match aligned.cigar {
            [] | [_] => (0, 0),
            cigar => (clipped(cigar.first()), clipped(cigar.last())),
        };
        let nonsense = || Error::Internal("the engine clipped more bases than a read has".to_owned());
        let kept = seq.len().checked_sub(before + behind).ok_or_else(nonsense)?;
        let is_reverse = aligned.alignment.flags & REVERSE != 0;
        let start = if is_reverse { behind } else { before };
        let seq = &seq[start..start + kept];
        let qual = qual.get(start..start + kept).unwrap_or_default();
        if !is_reverse && (letters == Letters::NWhereReversed || seq.iter().all(|base| b"ACGTN".contains(base))) {
            return Ok((seq, qual));
        }
        self.seq.clear();
        if !is_reverse {
            self.seq.extend(seq.iter().map(|base| match (base, letters) {
                (b'A' | b'C' | b'G' | b'T', _) => *base,
                (b'U', Letters::Paired) => b'T',
                (_, Letters::Paired) => *base,
                _ => b'N',
            }));
            return Ok((&self.seq, qual));
        }
        match letters {
            Letters::Paired => self.seq.extend(complement::CODES.reversed(seq)),
            _ => self.seq.extend(complement::CAPITALS.reversed(seq)),
        }
        self.qual.clear();
        self.qual.extend(qual.iter().rev());
        Ok((&self.seq, &self.qual))
    }
}

/// What is wrong if the alignments of a chunk do not fit, from this read on.
fn too_many(read: &Read<'_>) -> Error {
    let what = "the alignments of the reads from there back to the beginning of their chunk have more than 4 GiB of \
                tags or CIGARs: have the engine give fewer alignments per read (-h of bwa mem, -N of strobealign)";
    Error::Record { read: shown(read.name), mate: 0, what: what.to_owned() }
}

/// Whether one of records with these flags is an alignment.
pub(crate) fn is_aligned(mut flags: impl Iterator<Item = u16>) -> bool {
    flags.any(|flags| flags & UNMAPPED == 0)
}

/// A name without a slash and a digit behind it: one such, and not where nothing else would be left.
fn without_number<'t>(read: &Read<'t>) -> &'t [u8] {
    match read.name {
        [name @ .., b'/', b'0'..=b'9'] if !name.is_empty() && !read.had_number => name,
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::alignment::Alignment;

    #[test]
    fn a_number_is_cut_off_once_and_never_all_of_a_name() {
        for (name, had_number, wanted) in [
            ("r/3", false, "r"),
            ("r/3", true, "r/3"),
            ("r/3/4", false, "r/3"),
            ("/1", false, "/1"),
            ("r/", false, "r/"),
            ("r/12", false, "r/12"),
        ] {
            let read =
                Read { name: name.as_bytes(), had_number, comment: b"", seq: b"", qual: None, failed_filters: false };
            assert_eq!(without_number(&read), wanted.as_bytes());
        }
    }

    #[test]
    fn bases_lie_in_the_direction_of_the_reference_without_what_is_clipped() {
        let read = Read {
            name: b"r",
            had_number: false,
            comment: b"",
            seq: b"AACGTN",
            qual: Some(b"abcdef"),
            failed_filters: false,
        };
        let op = |length, letter| CigarOp::new(length, letter).unwrap();
        for (flags, cigar, wanted) in [
            (0, vec![op(6, b'M')], Some(("AACGTN", "abcdef"))),
            (REVERSE, vec![op(6, b'M')], Some(("NACGTT", "fedcba"))),
            (0, vec![op(1, b'H'), op(3, b'M'), op(2, b'H')], Some(("ACG", "bcd"))),
            (REVERSE, vec![op(1, b'H'), op(3, b'M'), op(2, b'H')], Some(("ACG", "edc"))),
            (0, vec![op(5, b'H'), op(2, b'H')], None),
        ] {
            let mut alignments = Alignments::default();
            alignments.push(Alignment { flags, ..Alignment::default() }, cigar, []);
            alignments.end_fragment();
            let (aligned, mut bases) = (alignments.fragment(0).next().unwrap(), Bases::default());
            let found = bases.of(&read, &aligned, Letters::N).ok();
            let wanted = wanted.map(|(seq, qual)| (seq.as_bytes(), qual.as_bytes()));
            assert_eq!(found, wanted, "{flags} {:?}", aligned.cigar);
        }
    }

    #[test]
    fn bases_are_left_out_or_shown_as_n_where_the_engine_says_so() {
        let read =
            Read { name: b"r", had_number: false, comment: b"", seq: b"ACRU", qual: None, failed_filters: false };
        for (has_no_bases, letters, flags, wanted) in [
            (true, Letters::NWhereReversed, 0, ""),
            (false, Letters::N, 0, "ACNN"),
            (false, Letters::NWhereReversed, 0, "ACRU"),
            (false, Letters::NWhereReversed, REVERSE, "ANGT"),
            (false, Letters::Paired, 0, "ACRT"),
            (false, Letters::Paired, REVERSE, "AYGT"),
        ] {
            let mut alignments = Alignments::default();
            alignments.push(Alignment { flags, has_no_bases, ..Alignment::default() }, [], []);
            alignments.end_fragment();
            let (aligned, mut bases) = (alignments.fragment(0).next().unwrap(), Bases::default());
            assert_eq!(bases.of(&read, &aligned, letters).unwrap().0, wanted.as_bytes());
        }
    }
}
