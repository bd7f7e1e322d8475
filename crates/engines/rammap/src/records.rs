//! From what rammap finds of a read to what an encoder makes records of: flags, CIGAR and optional fields, in the order
//! in which minimap2 writes them (`mm_write_sam3` of format.c). Names, bases, qualities and read groups stay in the
//! chunk.

use crate::options::Shown;
use rammap::align::index::Index;
use rammap::align::pipeline::{AlnResult, ProcessedQuery};
use std::io::Write;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::record::{CigarOp, Locus, REVERSE, SECONDARY, SUPPLEMENTARY, Tag, TagValue, UNMAPPED};

/// Operations that a record of BAM can hold.
const MOST_OPERATIONS: usize = 65_535;

/// Writes the records of reads; scratch of one worker.
#[derive(Default)]
pub(crate) struct Recorder {
    cigar: Vec<CigarOp>,
    /// Text of SA.
    others: Vec<u8>,
    divergence: Vec<u8>,
}

/// Of several alignments of a read, one.
pub(crate) struct Of<'q> {
    pub(crate) query: &'q ProcessedQuery,
    pub(crate) number: usize,
    /// Bases of the read.
    pub(crate) bases: usize,
}

impl<'q> Of<'q> {
    pub(crate) fn result(&self) -> &'q AlnResult {
        &self.query.results[self.number]
    }

    /// P for primary and supplementary alignments, S for secondary ones; I and i of inversions (tp).
    pub(crate) fn kind(&self) -> u8 {
        match (self.result().is_secondary, self.result().inv) {
            (false, false) => b'P',
            (true, false) => b'S',
            (false, true) => b'I',
            (true, true) => b'i',
        }
    }

    /// Whether it is neither secondary nor supplementary.
    fn is_first(&self) -> bool {
        self.query.sam_pri.get(self.number) == Some(&true)
    }
}

/// The strand of the transcript (ts), if it is known.
pub(crate) fn strand(result: &AlnResult) -> Option<u8> {
    match result.trans_strand {
        1 => Some(b'+'),
        2 => Some(b'-'),
        _ => None,
    }
}

/// Divergence as minimap2 writes it: four decimals, or 0.
pub(crate) fn push_divergence(divergence: f64, out: &mut Vec<u8>) {
    match divergence {
        0.0 => out.push(b'0'),
        _ => drop(write!(out, "{divergence:.4}")),
    }
}

/// Bases of the read before and behind an alignment, in the direction of the reference.
fn clips(result: &AlnResult, bases: usize) -> [usize; 2] {
    let (before, behind) = (result.query_start, bases.saturating_sub(result.query_end));
    if result.is_reverse { [behind, before] } else { [before, behind] }
}

/// The operations in a CIGAR of text.
fn operations(cigar: &str) -> impl Iterator<Item = CigarOp> {
    let mut length = 0u32;
    cigar.bytes().filter_map(move |byte| match byte {
        b'0'..=b'9' => {
            length = length * 10 + u32::from(byte - b'0');
            None
        }
        letter => CigarOp::new(std::mem::take(&mut length), letter),
    })
}

impl Recorder {
    /// Adds the records of a read; `rl` is how many of its bases repeat.
    pub(crate) fn add(
        &mut self,
        query: &ProcessedQuery,
        bases: usize,
        (index, shown): (&Index, &Shown),
        out: &mut Alignments,
    ) {
        let repeated = Tag { key: *b"rl", value: TagValue::Int(query.rep_len.into()) };
        let group = Tag { key: *b"RG", value: TagValue::ReadGroup };
        if query.results.is_empty() {
            match shown.only_mapped {
                true => out.leave_out(1),
                false => out.push(Alignment { flags: UNMAPPED, ..Alignment::default() }, [], [group, repeated]),
            }
            return;
        }
        for number in 0..query.results.len() {
            let of = Of { query, number, bases };
            if of.result().is_secondary && shown.no_secondary {
                continue;
            }
            self.add_one(&of, (index, shown), [group, repeated], out);
        }
    }

    fn add_one(
        &mut self,
        of: &Of<'_>,
        (index, shown): (&Index, &Shown),
        [group, repeated]: [Tag<'static>; 2],
        out: &mut Alignments,
    ) {
        let result = of.result();
        let rank = match (result.is_secondary, of.is_first()) {
            (true, _) => SECONDARY,
            (false, true) => 0,
            (false, false) => SUPPLEMENTARY,
        };
        let is_clipped_hard =
            !shown.soft_clips && (rank == SUPPLEMENTARY || rank == SECONDARY && shown.bases_of_secondary);
        let alignment = Alignment {
            flags: rank | if result.is_reverse { REVERSE } else { 0 },
            locus: Some(Locus { contig: result.ref_id as u32, position: result.ref_start as u32 }),
            mapq: of.query.mapqs[of.number] as u8,
            has_no_bases: rank == SECONDARY && !shown.soft_clips && !shown.bases_of_secondary,
            ..Alignment::default()
        };
        let [before, behind] = clips(result, of.bases);
        let clip = |length: usize| {
            let letter = if is_clipped_hard { b'H' } else { b'S' };
            (length > 0).then(|| CigarOp::new(length as u32, letter)).flatten()
        };
        self.cigar.clear();
        if !result.cigar_str.is_empty() {
            self.cigar.extend(clip(before));
            self.cigar.extend(operations(&result.cigar_str));
            self.cigar.extend(clip(behind));
        }
        self.others.clear();
        push_others(of, index, &mut self.others);
        self.divergence.clear();
        push_divergence(result.divergence, &mut self.divergence);
        let long = shown.long_cigar_in_tag && self.cigar.len() > MOST_OPERATIONS;
        let int = |key: &[u8; 2], value: i64| Tag { key: *key, value: TagValue::Int(value) };
        let letter = |key: &[u8; 2], letter| Tag { key: *key, value: TagValue::Character(letter) };
        let tags = [
            Some(group),
            Some(int(b"NM", result.edit_distance.into())),
            Some(int(b"ms", result.dp_score_original.into())),
            Some(int(b"AS", result.align_score.into())),
            Some(int(b"nn", result.num_ambiguous as i64)),
            strand(result).map(|strand| letter(b"ts", strand)),
            Some(letter(b"tp", of.kind())),
            Some(int(b"cm", result.anchor_count as i64)),
            Some(int(b"s1", result.chain_score.into())),
            (rank != SECONDARY).then(|| int(b"s2", result.secondary_chain_score.into())),
            Some(Tag { key: *b"de", value: TagValue::Decimal(&self.divergence) }),
            (result.split > 0).then(|| int(b"zd", result.split.into())),
            (!self.others.is_empty()).then_some(Tag { key: *b"SA", value: TagValue::Text(&self.others) }),
            differences(result, shown).map(|(key, text)| Tag { key, value: TagValue::Text(text.as_bytes()) }),
            long.then_some(Tag { key: *b"CG", value: TagValue::LongCigar }),
            Some(repeated),
        ];
        out.push(alignment, self.cigar.iter().copied(), tags.into_iter().flatten());
    }
}

/// What shows the differences from the reference: one of MD, ds and cs, in this order, as in minimap2.
pub(crate) fn differences<'r>(result: &'r AlnResult, shown: &Shown) -> Option<([u8; 2], &'r str)> {
    match shown {
        Shown { md: true, .. } => Some((*b"MD", &result.md_str)),
        Shown { ds: true, .. } => Some((*b"ds", &result.ds_str)),
        Shown { cs: Some(_), .. } => Some((*b"cs", &result.cs_str)),
        _ => None,
    }
}

/// SA: the other alignments of the read that are not secondary, with a CIGAR that has their lengths alone.
fn push_others(of: &Of<'_>, index: &Index, out: &mut Vec<u8>) {
    if of.result().is_secondary {
        return;
    }
    for (number, other) in of.query.results.iter().enumerate() {
        if number == of.number || other.is_secondary || other.cigar_str.is_empty() {
            continue;
        }
        let (read, reference) = (other.query_end - other.query_start, other.ref_end - other.ref_start);
        let (both, strand) = (read.min(reference), if other.is_reverse { '-' } else { '+' });
        let [before, behind] = clips(other, of.bases);
        // Nothing can go wrong when a text is written into memory.
        let _ = write!(out, "{},{},{strand},", index.seqs[other.ref_id].name, other.ref_start + 1);
        let parts = [(before, 'S'), (both, 'M'), (read - both, 'I'), (reference - both, 'D'), (behind, 'S')];
        for (length, letter) in parts.into_iter().filter(|(length, _)| *length > 0) {
            let _ = write!(out, "{length}{letter}");
        }
        let _ = write!(out, ",{},{};", of.query.mapqs[number], other.edit_distance);
    }
}
