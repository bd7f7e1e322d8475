//! From alignments to what an encoder makes records of: flags, places of mates, tags. Names, bases, qualities and read
//! groups stay in the chunk.

use crate::extension::{PlacedRead, push_op};
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::record::{
    CigarOp, FIRST, LAST, Locus, MATE_REVERSE, MATE_UNMAPPED, PAIRED, PROPER_PAIR, REVERSE, SECONDARY, Tag, TagValue,
    UNMAPPED,
};

/// What `--details` says of a read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Details {
    pub(crate) chains: usize,
    pub(crate) tried: usize,
    pub(crate) gapped: usize,
    pub(crate) best: usize,
    pub(crate) rescued: usize,
}

impl Details {
    pub(crate) fn count(&mut self, placed: &PlacedRead) {
        self.tried += 1;
        self.gapped += usize::from(placed.gapped);
    }

    /// In the order of the program.
    fn tags(&self, is_paired: bool) -> impl Iterator<Item = Tag<'static>> + use<> {
        let pair = is_paired.then_some((*b"mr", self.rescued));
        let all = [(*b"na", self.chains), (*b"al", self.tried), (*b"ga", self.gapped), (*b"X0", self.best)];
        all.into_iter().chain(pair).map(|(key, value)| tag(key, value as i64))
    }
}

fn tag(key: [u8; 2], value: i64) -> Tag<'static> {
    Tag { key, value: TagValue::Int(value) }
}

/// Whether an alignment, or that of a pair, is the one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlignmentRank {
    Primary,
    Secondary,
}

/// What one or two reads are shown as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownRead<'p> {
    pub(crate) placed: Option<&'p PlacedRead>,
    pub(crate) mapq: u8,
    pub(crate) details: Details,
}

/// Adds alignments to those of a chunk.
pub(crate) struct Recorder {
    style: Style,
    cigar: Vec<CigarOp>,
}

/// Which records are made, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Whether CIGARs have = and X in place of M (`--eqx`).
    pub(crate) eqx: bool,
    /// Whether records have the tags of `--details`.
    pub(crate) details: bool,
    /// Whether reads without an alignment are left out, pairs if neither mate has one (`-U`).
    pub(crate) only_mapped: bool,
}

impl Recorder {
    pub(crate) fn new(style: Style) -> Self {
        Recorder { style, cigar: Vec::new() }
    }

    /// Adds a single read.
    pub(crate) fn single(&mut self, shown: ShownRead<'_>, rank: AlignmentRank, out: &mut Alignments) {
        if self.style.only_mapped && shown.placed.is_none() {
            return out.leave_out(1);
        }
        let alignment = Alignment { flags: own_flags(shown.placed, rank), ..Alignment::default() };
        self.push(alignment, shown, rank, false, out);
    }

    /// Adds a pair. Of a secondary one, mates that are not mapped are left out.
    pub(crate) fn pair(
        &mut self,
        pair: [ShownRead<'_>; 2],
        is_proper: bool,
        rank: AlignmentRank,
        out: &mut Alignments,
    ) {
        if self.style.only_mapped && pair.iter().all(|shown| shown.placed.is_none()) {
            return out.leave_out(2);
        }
        for (i, shown) in pair.into_iter().enumerate() {
            if rank == AlignmentRank::Secondary && shown.placed.is_none() {
                continue;
            }
            let (own, mate) = (shown.placed, pair[1 - i].placed);
            let mut flags = PAIRED | [FIRST, LAST][i] | own_flags(own, rank);
            if is_proper {
                flags |= PROPER_PAIR;
            }
            flags |= match mate {
                Some(mate) if mate.is_reverse => MATE_REVERSE,
                Some(_) => 0,
                None => MATE_UNMAPPED,
            };
            let alignment = Alignment {
                mate: i as u8,
                flags,
                // A read that is not mapped lies where its mate does.
                locus: own.or(mate).map(locus),
                mate_locus: mate.or(own).map(locus),
                template_length: own.zip(mate).map_or(0, |(own, mate)| template_length(own, mate, i == 0)),
                ..Alignment::default()
            };
            self.push(alignment, shown, rank, true, out);
        }
    }

    fn push(
        &mut self,
        alignment: Alignment,
        shown: ShownRead<'_>,
        rank: AlignmentRank,
        is_paired: bool,
        out: &mut Alignments,
    ) {
        let ShownRead { placed, mapq, details } = shown;
        self.cigar.clear();
        if let Some(placed) = placed {
            self.add_cigar(placed);
        }
        let alignment = Alignment {
            locus: alignment.locus.or(placed.map(locus)),
            mapq: if placed.is_some() && rank == AlignmentRank::Primary { mapq } else { 0 },
            has_no_bases: rank == AlignmentRank::Secondary,
            ..alignment
        };
        let own = placed
            .into_iter()
            .flat_map(|placed| [tag(*b"NM", placed.edit_distance as i64), tag(*b"AS", i64::from(placed.score))]);
        let details = self.style.details.then(|| details.tags(is_paired));
        out.push(alignment, self.cigar.iter().copied(), own.chain(details.into_iter().flatten()));
    }

    fn add_cigar(&mut self, placed: &PlacedRead) {
        push_op(&mut self.cigar, placed.clips[0], b'S');
        for op in &placed.cigar {
            let letter = match op.letter() {
                b'=' | b'X' if !self.style.eqx => b'M',
                letter => letter,
            };
            push_op(&mut self.cigar, op.length() as usize, letter);
        }
        push_op(&mut self.cigar, placed.clips[1], b'S');
    }
}

fn own_flags(placed: Option<&PlacedRead>, rank: AlignmentRank) -> u16 {
    match placed {
        None => UNMAPPED,
        Some(placed) => {
            (if placed.is_reverse { REVERSE } else { 0 })
                | (if rank == AlignmentRank::Secondary { SECONDARY } else { 0 })
        }
    }
}

fn locus(placed: &PlacedRead) -> Locus {
    Locus { contig: placed.contig as u32, position: placed.start as u32 }
}

/// TLEN: with the sign of the leftmost mate positive; of two that start together, that of the first one negative.
fn template_length(own: &PlacedRead, mate: &PlacedRead, is_first: bool) -> i32 {
    if own.contig != mate.contig {
        return 0;
    }
    let (own_start, mate_start) = (own.start as i64, mate.start as i64);
    let length = match mate_start - own_start {
        ahead @ 1.. => ahead + mate.length as i64,
        0 if is_first => -(mate.length as i64),
        0 => own.length as i64,
        behind => behind - own.length as i64,
    };
    length as i32
}
