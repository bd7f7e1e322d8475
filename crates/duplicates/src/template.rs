//! Which templates are grouped by their UMIs, and where they lie (fgbio 4.1, umi/GroupReadsByUmi.scala: `apply` of
//! `ReadInfo`, and the filter of its `execute`).

use crate::picard;
use crate::primary::{ConvertedStrand, Primary};
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_model::record::{QC_FAIL, UNMAPPED};
use zerohop_umi::{Rules as UmiRules, has_no_call};

/// The least mapping quality of a mapped read whose template is grouped, as fgbio has it.
const LEAST_MAPQ: u8 = 1;

/// Why a template is not grouped: the first reason that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// It has no UMI.
    WithoutUmi,
    /// A read failed the filters of the sequencer.
    NotPassingFilter,
    /// No read is mapped, or one of a low quality.
    PoorAlignment,
    /// A base of the UMI was not called.
    NoCall,
    /// The UMI has fewer bases than it must.
    TooShort,
}

/// Where a read began, with what was clipped: contig, position from 1, and whether it is the reverse strand. A read
/// that is not mapped, or not there, comes behind all others.
type End = (i32, i64, bool);

const NOWHERE: End = (i32::MAX, i64::MAX, true);

/// A template that is grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Template<'p> {
    pub(crate) umi: &'p [u8],
    /// Where its reads began, the lower one first.
    pub(crate) ends: [End; 2],
    /// Whether the lower one is the first read.
    pub(crate) first_is_lower: bool,
    /// Strands of the first and the second read, if templates of others are no duplicates of it.
    pub(crate) strands: Option<[bool; 2]>,
    /// The strand of the genome, of bisulfite reads.
    pub(crate) converted: Option<ConvertedStrand>,
}

impl<'p> Template<'p> {
    /// That of the primary records of one template: the first read and, of pairs, the second.
    pub(crate) fn of(first: &'p Primary, second: Option<&'p Primary>, rules: UmiRules) -> Result<Self, Dropped> {
        let reads = || [Some(first), second].into_iter().flatten();
        let umi = reads().find_map(|read| read.barcode.as_deref()).filter(|umi| !umi.is_empty());
        let umi = umi.ok_or(Dropped::WithoutUmi)?;
        if reads().any(|read| read.has(QC_FAIL)) {
            return Err(Dropped::NotPassingFilter);
        }
        let mapped = || reads().filter(|read| !read.has(UNMAPPED));
        if mapped().next().is_none() || mapped().any(|read| read.mapq < LEAST_MAPQ) {
            return Err(Dropped::PoorAlignment);
        }
        if has_no_call(umi) {
            return Err(Dropped::NoCall);
        }
        if rules.is_too_short(umi) {
            return Err(Dropped::TooShort);
        }
        let is_reverse = |read: Option<&Primary>| read.is_some_and(|read| !read.has(UNMAPPED) && read.is_reverse());
        let [one, other] = [Some(first), second].map(|read| read.map_or(NOWHERE, end));
        let first_is_lower = one <= other;
        Ok(Template {
            umi,
            ends: if first_is_lower { [one, other] } else { [other, one] },
            first_is_lower,
            converted: reads().find_map(|read| read.strand),
            strands: rules.strategy().splits_by_strands().then(|| [is_reverse(Some(first)), is_reverse(second)]),
        })
    }

    /// Whether both its reads are mapped.
    pub(crate) fn is_pair(&self) -> bool {
        self.ends[1] != NOWHERE
    }

    /// Appends what templates of one place have in common, besides where the lower read began.
    pub(crate) fn put_key(&self, key: &mut Vec<u8>) {
        let [(.., reverse), (contig, begin, other_reverse)] = self.ends;
        key.extend_from_slice(&contig.to_be_bytes());
        key.extend_from_slice(&begin.to_be_bytes());
        let strands = self.strands.unwrap_or_default();
        let bits = [reverse, other_reverse, strands[0], strands[1]];
        let bits: u8 = bits.iter().zip(0..).map(|(bit, at)| u8::from(*bit) << at).sum();
        key.push(bits | self.converted.map_or(0, |strand| strand as u8) << 4);
    }
}

fn end(read: &Primary) -> End {
    match read.has(UNMAPPED) {
        true => NOWHERE,
        false => (read.contig, picard::begin(read), read.is_reverse()),
    }
}

/// What the signature of a template begins with: how many bytes its UMI has, and whether its first read is the lower
/// one.
const HEAD: usize = 2 + 1;

/// Appends what the signature of a template begins with.
pub(crate) fn put_head(template: &Template<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let bytes = u16::try_from(template.umi.len());
    let bytes = bytes.map_err(|_| Error::Internal("a UMI of more than 65,535 letters".to_owned()))?;
    out.extend_from_slice(&bytes.to_le_bytes());
    out.push(u8::from(template.first_is_lower));
    out.extend_from_slice(template.umi);
    Ok(())
}

/// Where the UMI is in what [`put_head`] wrote, and whether the first read is the lower one.
pub(crate) fn read_head(signature: &[u8]) -> Option<(Range<usize>, bool)> {
    let ([a, b, first_is_lower], rest) = signature.split_first_chunk::<HEAD>()?;
    let bytes = usize::from(u16::from_le_bytes([*a, *b]));
    rest.get(..bytes)?;
    Some((HEAD..HEAD + bytes, *first_is_lower == 1))
}
