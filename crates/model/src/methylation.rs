//! How many cytosines of bisulfite reads are methylated: what XM of their records says, counted.
//!
//! Counted are the records that MethylDackel 0.6.1 counts, duplicates among them, for they are not known yet: primary,
//! with a mapping quality of 10 or more, that pass the filters, of pairs the proper ones; and their bases with a
//! quality of 5 or more. Where the second mate of a pair covers what the first one covers, it does not count.

mod report;

use crate::alignment::Aligned;
use crate::chunk::{Fragment, Read};
use crate::record::{
    DUPLICATE, MATE_UNMAPPED, PAIRED, PROPER_PAIR, QC_FAIL, REVERSE, SECONDARY, SUPPLEMENTARY, TagValue, UNMAPPED,
    aligned_bases,
};
pub use report::{ContextReport, ContigMethylation, MethylationReport, is_control};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Range};

/// The field that says of each base what it tells of a cytosine, and the one that says which strand it comes from.
const CALLS: [u8; 2] = *b"XM";
const STRAND: [u8; 2] = *b"XG";
/// Records of a lower mapping quality do not count, nor do bases of a lower quality (`-q` and `-p` of MethylDackel).
const LEAST_MAPQ: u8 = 10;
const LEAST_QUALITY: u8 = 5;
/// What is added to a quality in FASTQ.
const QUALITY_OFFSET: u8 = b'!';
/// Bases of a read behind so many are counted, but not by cycle.
const MOST_CYCLES: usize = 1000;
/// Records that do not count.
const LEFT_OUT: u16 = UNMAPPED | SECONDARY | SUPPLEMENTARY | QC_FAIL | DUPLICATE;

/// Cytosines, by what follows them on their strand; H is A, C or T.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// G.
    Cpg,
    /// H, then G.
    Chg,
    /// H twice.
    Chh,
    /// It is not known: N, or the end of the contig.
    Unknown,
}

impl Context {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cpg, Self::Chg, Self::Chh, Self::Unknown];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Context::Cpg => "CpG",
            Context::Chg => "CHG",
            Context::Chh => "CHH",
            Context::Unknown => "CN",
        }
    }

    /// What a letter of XM says: of which context the cytosine is, and whether it is methylated.
    fn of_letter(letter: u8) -> Option<(Self, bool)> {
        let context = match letter.to_ascii_uppercase() {
            b'Z' => Context::Cpg,
            b'X' => Context::Chg,
            b'H' => Context::Chh,
            b'U' => Context::Unknown,
            _ => return None,
        };
        Some((context, letter.is_ascii_uppercase()))
    }
}

/// Bases that were read where the reference has a cytosine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cytosines {
    /// As C: methylated.
    pub methylated: u64,
    /// As T: converted.
    pub converted: u64,
}

impl Cytosines {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.methylated + self.converted
    }

    /// How many are methylated, in percent; none of none.
    pub fn methylated_percent(&self) -> Option<f64> {
        (self.all() > 0).then(|| 100.0 * self.methylated as f64 / self.all() as f64)
    }

    /// Between which values, in percent, the part of the methylated ones lies with a probability of 95 %, if bases are
    /// independent of each other (the interval of Wilson, J. Am. Stat. Assoc. 22, 1927); none of none.
    pub fn interval_percent(&self) -> Option<[f64; 2]> {
        const Z: f64 = 1.959_963_984_540_054;
        let (all, part) = (self.all() as f64, self.methylated_percent()? / 100.0);
        let middle = part + Z * Z / (2.0 * all);
        let half = Z * (part * (1.0 - part) / all + Z * Z / (4.0 * all * all)).sqrt();
        let [low, high] = [middle - half, middle + half].map(|end| end / (1.0 + Z * Z / all));
        // Of none and of all of them it is an end, which rounding must not miss.
        Some([low.clamp(0.0, part), high.clamp(part, 1.0)].map(|end| 100.0 * end))
    }
}

impl Add for Cytosines {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Cytosines { methylated: self.methylated + more.methylated, converted: self.converted + more.converted }
    }
}

/// Cytosines of each [`Context`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByContext([Cytosines; 4]);

impl ByContext {
    /// Those of a context.
    pub fn of(&self, context: Context) -> Cytosines {
        self.0[context as usize]
    }

    /// Those of all contexts.
    pub fn all(&self) -> Cytosines {
        self.0.into_iter().fold(Cytosines::default(), |all, of_context| all + of_context)
    }

    fn add(&mut self, context: Context, is_methylated: bool) {
        let cytosines = &mut self.0[context as usize];
        *if is_methylated { &mut cytosines.methylated } else { &mut cytosines.converted } += 1;
    }
}

impl AddAssign<&ByContext> for ByContext {
    fn add_assign(&mut self, more: &ByContext) {
        self.0.iter_mut().zip(more.0).for_each(|(all, more)| *all = *all + more);
    }
}

/// Cytosines by cycle of the sequencer, from 0: of the strand of the reference, and of the other one; of first mates
/// and single reads, and of second ones.
pub type ByCycle = [[Vec<ByContext>; 2]; 2];

/// What XM says of some reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Methylation {
    /// By the number of the contig.
    contigs: BTreeMap<u32, ByContext>,
    cycles: ByCycle,
    /// Cytosines of second mates that the first mates cover.
    covered_twice: u64,
}

impl Methylation {
    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.contigs.is_empty()
    }

    /// Counts the reads of a fragment.
    pub(crate) fn add<'a>(&mut self, fragment: &Fragment<'_>, alignments: impl Iterator<Item = Aligned<'a>>) {
        let mut first: Option<Aligned<'a>> = None;
        for aligned in alignments.filter(counts) {
            match (aligned.alignment.mate, &fragment.mate) {
                (0, _) => {
                    self.add_read(&fragment.first, &aligned, None);
                    first = Some(aligned);
                }
                (_, Some(mate)) => self.add_read(mate, &aligned, first.as_ref()),
                (_, None) => {}
            }
        }
    }

    /// Counts a read that lies on the reference like this, without what the other one covers.
    fn add_read(&mut self, read: &Read<'_>, aligned: &Aligned<'_>, other: Option<&Aligned<'_>>) {
        let (Some(locus), Some(calls)) = (aligned.alignment.locus, text(aligned, CALLS)) else { return };
        if read.failed_filters || calls.len() != read.seq.len() {
            return;
        }
        let (is_reverse, mate) = (aligned.alignment.flags & REVERSE != 0, usize::from(aligned.alignment.mate != 0));
        let is_other_strand = usize::from(text(aligned, STRAND) == Some(b"GA"));
        let of_contig = self.contigs.entry(locus.contig).or_default();
        let cycles = &mut self.cycles[is_other_strand][mate];
        let same_contig = |other: &&Aligned<'_>| other.alignment.locus.is_some_and(|it| it.contig == locus.contig);
        let covered: Vec<Range<u32>> = other
            .filter(same_contig)
            .map(|other| blocks(other).map(|(positions, _)| positions).collect())
            .unwrap_or_default();
        for (positions, bases) in blocks(aligned) {
            for (position, base) in positions.zip(bases) {
                let Some((context, is_methylated)) = calls.get(base).and_then(|call| Context::of_letter(*call)) else {
                    continue;
                };
                let cycle = if is_reverse { calls.len() - 1 - base } else { base };
                if read.qual.is_some_and(|qualities| qualities[cycle] < LEAST_QUALITY + QUALITY_OFFSET) {
                    continue;
                }
                if covered.iter().any(|positions| positions.contains(&position)) {
                    self.covered_twice += 1;
                    continue;
                }
                of_contig.add(context, is_methylated);
                if cycle < MOST_CYCLES {
                    if cycles.len() <= cycle {
                        cycles.resize(cycle + 1, ByContext::default());
                    }
                    cycles[cycle].add(context, is_methylated);
                }
            }
        }
    }
}

impl AddAssign<&Methylation> for Methylation {
    fn add_assign(&mut self, more: &Methylation) {
        for (contig, more) in &more.contigs {
            *self.contigs.entry(*contig).or_default() += more;
        }
        for (all, more) in self.cycles.iter_mut().flatten().zip(more.cycles.iter().flatten()) {
            all.resize(all.len().max(more.len()), ByContext::default());
            all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
        }
        self.covered_twice += more.covered_twice;
    }
}

/// Whether a record counts.
fn counts(aligned: &Aligned<'_>) -> bool {
    let flags = aligned.alignment.flags;
    let is_placed = flags & PAIRED == 0 || flags & (PROPER_PAIR | MATE_UNMAPPED) == PROPER_PAIR;
    flags & LEFT_OUT == 0 && is_placed && aligned.alignment.mapq >= LEAST_MAPQ
}

fn text<'a>(aligned: &Aligned<'a>, key: [u8; 2]) -> Option<&'a [u8]> {
    aligned.tags().find_map(|tag| match tag.value {
        TagValue::Text(text) if tag.key == key => Some(text),
        _ => None,
    })
}

fn blocks<'a>(aligned: &Aligned<'a>) -> impl Iterator<Item = (Range<u32>, Range<usize>)> + use<'a> {
    aligned_bases(aligned.alignment.locus.map_or(0, |locus| locus.position), aligned.cigar.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{Alignment, Alignments};
    use crate::record::{CigarOp, Locus, Tag};

    fn read<'a>(seq: &'a [u8], qual: &'a [u8]) -> Read<'a> {
        Read { name: b"r", had_number: false, comment: b"", seq, qual: Some(qual), failed_filters: false }
    }

    /// An alignment: mate, flags, position, mapping quality, CIGAR, XG, XM.
    type Placed = (u8, u16, u32, u8, &'static [(u32, u8)], &'static str, &'static str);

    /// What is counted of a pair with these alignments, whose bases have the quality 40, but for the third of the first
    /// mate.
    fn counted(placed: &[Placed]) -> Methylation {
        let mut out = Alignments::default();
        for (mate, flags, position, mapq, cigar, xg, xm) in placed {
            let text = |key, text: &'static str| Tag { key, value: TagValue::Text(text.as_bytes()) };
            let locus = Some(Locus { contig: 3, position: *position });
            let cigar = cigar.iter().map(|(length, letter)| CigarOp::new(*length, *letter).unwrap());
            let alignment = Alignment { mate: *mate, flags: *flags, locus, mapq: *mapq, ..Alignment::default() };
            out.push(alignment, cigar, [text(STRAND, xg), text(CALLS, xm)]);
        }
        out.end_fragment();
        let fragment = Fragment { first: read(b"ACGTACGT", b"II$IIIII"), mate: Some(read(b"ACGTACGT", b"IIIIIIII")) };
        let mut all = Methylation::default();
        all.add(&fragment, out.fragment(0));
        all
    }

    #[test]
    fn bases_count_by_cycle_and_once_where_mates_overlap() {
        // The first mate covers 100..108, the second, which is reversed, 104..106 and 108..112.
        let all = counted(&[
            (0, 0x63, 100, 60, &[(8, b'M')], "CT", "zZz.h..Z"),
            (1, 0x93, 104, 60, &[(2, b'M'), (2, b'I'), (2, b'D'), (4, b'M')], "CT", "xXzzxX.h"),
        ]);
        let of = |context| all.contigs[&3].of(context);
        let cytosines = |methylated, converted| Cytosines { methylated, converted };
        // z of a low quality does not count, nor do inserted bases.
        assert_eq!(of(Context::Cpg), cytosines(2, 1));
        assert_eq!(of(Context::Chg), cytosines(1, 1));
        assert_eq!(of(Context::Chh), cytosines(0, 2));
        assert_eq!((of(Context::Unknown), all.covered_twice), (cytosines(0, 0), 2));
        assert_eq!(all.contigs[&3].all(), cytosines(3, 4));
        let [[first, second], [_, _]] = &all.cycles;
        assert_eq!((first[0].of(Context::Cpg), first[7].of(Context::Cpg)), (cytosines(0, 1), cytosines(1, 0)));
        assert_eq!((second[0].of(Context::Chh), second[2].of(Context::Chg)), (cytosines(0, 1), cytosines(1, 0)));
        let mut twice = all.clone();
        twice += &all;
        assert_eq!(twice.contigs[&3].all(), cytosines(6, 8));
        assert_eq!(twice.cycles[0][0][7].all(), cytosines(2, 0));
    }

    #[test]
    fn what_methyldackel_leaves_out_is_left_out() {
        let one = |flags, mapq| counted(&[(0, flags, 100, mapq, &[(8, b'M')], "GA", "ZZ......")]);
        assert_eq!(one(0x63, 10).cycles[1][0][0].all(), Cytosines { methylated: 1, converted: 0 });
        for (flags, mapq) in [(0x63, 9), (0x61, 60), (0x6b, 60), (0x163, 60), (0x263, 60), (0x863, 60), (0x67, 60)] {
            assert!(one(flags, mapq).is_empty(), "{flags:#x} {mapq}");
        }
        assert!(!one(0, 60).is_empty(), "single reads");
    }

    #[test]
    fn the_interval_is_wilsons() {
        // R: prop.test(8, 10, correct = FALSE) says 0.4901625 and 0.9433178.
        let [low, high] = Cytosines { methylated: 8, converted: 2 }.interval_percent().unwrap();
        assert!((low - 49.01625).abs() < 1e-4 && (high - 94.33178).abs() < 1e-4, "{low} {high}");
        let [low, high] = Cytosines { methylated: 0, converted: 9 }.interval_percent().unwrap();
        assert!(low == 0.0 && high > 20.0, "{high}");
        assert_eq!(Cytosines::default().interval_percent(), None);
    }
}
