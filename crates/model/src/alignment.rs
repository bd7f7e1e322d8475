//! What an engine says of the reads of a chunk: their alignments, without the names, bases and qualities, which stay in
//! the chunk. Field names and meanings are those of the SAM specification (SAMv1, section 1.4).

use crate::record::{CigarOp, Locus, Tag, TagValue};
use std::ops::Range;

/// Most operations, tags and bytes of text that the alignments of a chunk can have, each: places among them have 32
/// bits.
const MOST: usize = if cfg!(test) { 100 } else { u32::MAX as usize };

/// What SEQ shows for letters of a read other than A, C, G, T and N.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Letters {
    /// Themselves, and N where the read is reversed (but A for U), as with strobealign.
    #[default]
    NWhereReversed,
    /// N, as with bwa.
    N,
    /// Themselves, and the letter that they pair with where the read is reversed; T for U, as with minimap2.
    Paired,
}

/// What QNAME shows of the number of a mate, a slash and a digit at the end of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// Nothing of `/1` and `/2` in FASTQ, as with strobealign.
    #[default]
    WithoutMate,
    /// Nothing of any digit, in FASTA too, as with bwa.
    WithoutNumber,
    /// All, as with minimap2 for single reads.
    Whole,
}

/// One record of a read: an alignment, or that the read is unmapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alignment {
    /// Which read of its fragment: 0, or 1 for the second mate.
    pub mate: u8,
    /// FLAG.
    pub flags: u16,
    /// RNAME and POS.
    pub locus: Option<Locus>,
    /// MAPQ.
    pub mapq: u8,
    /// RNEXT and PNEXT.
    pub mate_locus: Option<Locus>,
    /// TLEN.
    pub template_length: i32,
    /// Whether it has neither SEQ nor QUAL, as most programs' secondary alignments.
    pub has_no_bases: bool,
}

/// An alignment with its CIGAR and tags.
#[derive(Debug, Clone, Copy)]
pub struct Aligned<'a> {
    /// Its fields of a fixed size.
    pub alignment: Alignment,
    /// CIGAR; empty for `*`.
    pub cigar: &'a [CigarOp],
    tags: &'a [StoredTag],
    texts: &'a [u8],
}

impl<'a> Aligned<'a> {
    /// The optional fields, in the order in which they are written.
    pub fn tags(&self) -> impl Iterator<Item = Tag<'a>> + use<'a> {
        let texts = self.texts;
        let value = move |stored: &StoredTag| match &stored.value {
            StoredValue::Int(value) => TagValue::Int(*value),
            StoredValue::Character(value) => TagValue::Character(*value),
            StoredValue::Float(value) => TagValue::Float(*value),
            StoredValue::Decimal(range) => TagValue::Decimal(&texts[range.start as usize..range.end as usize]),
            StoredValue::LongCigar => TagValue::LongCigar,
            StoredValue::ReadGroup => TagValue::ReadGroup,
            StoredValue::Comment => TagValue::Comment,
            StoredValue::Text(range) => TagValue::Text(&texts[range.start as usize..range.end as usize]),
        };
        self.tags.iter().map(move |stored| Tag { key: stored.key, value: value(stored) })
    }
}

#[derive(Debug, Clone)]
struct StoredTag {
    key: [u8; 2],
    value: StoredValue,
}

#[derive(Debug, Clone)]
enum StoredValue {
    Int(i64),
    Character(u8),
    Float(f32),
    ReadGroup,
    Comment,
    LongCigar,
    /// A range of [`Alignments::texts`], as for text.
    Decimal(Range<u32>),
    /// A range of [`Alignments::texts`].
    Text(Range<u32>),
}

/// The alignments of a chunk: for each of its fragments, in order, those of its reads. It is reused: nothing in it is
/// freed between chunks.
///
/// ```
/// use zerohop_model::alignment::{Alignment, Alignments};
/// use zerohop_model::record::{CigarOp, Locus, Tag, TagValue};
///
/// let mut out = Alignments::default();
/// let locus = Some(Locus { contig: 0, position: 41 });
/// let tag = Tag { key: *b"NM", value: TagValue::Int(0) };
/// out.push(Alignment { locus, mapq: 60, ..Alignment::default() }, CigarOp::new(100, b'M'), [tag]);
/// out.end_fragment();
/// let aligned = out.fragment(0).next().unwrap();
/// assert_eq!((aligned.cigar.len(), aligned.tags().next()), (1, Some(tag)));
/// ```
#[derive(Debug, Default)]
pub struct Alignments {
    alignments: Vec<Stored>,
    /// `fragment_ends[i]` is one past the last alignment of fragment i.
    fragment_ends: Vec<u32>,
    cigars: Vec<CigarOp>,
    tags: Vec<StoredTag>,
    /// Values of tags that are text.
    texts: Vec<u8>,
    letters: Letters,
    names: Names,
    has_methylation: bool,
    left_out: u64,
    text: Vec<u8>,
    /// The fragment whose alignments did not fit.
    too_many_in: Option<usize>,
}

/// What a read adds to a contig, for an engine that makes [abundances](crate::index::Product::Abundances).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// Position of the contig in the header.
    pub contig: u32,
    /// Bases; part of them where a read fits several places.
    pub bases: f64,
}

impl Weight {
    /// Bytes of one among others.
    const BYTES: usize = 12;

    /// Appends it to others.
    pub fn push_to(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.contig.to_le_bytes());
        bytes.extend_from_slice(&self.bases.to_le_bytes());
    }

    /// The weights in `bytes`, in order.
    pub fn all_in(bytes: &[u8]) -> impl Iterator<Item = Weight> {
        bytes.chunks_exact(Self::BYTES).filter_map(|bytes| {
            let (contig, bases) = bytes.split_first_chunk()?;
            let (contig, bases) = (u32::from_le_bytes(*contig), f64::from_le_bytes(*bases.first_chunk()?));
            Some(Weight { contig, bases })
        })
    }
}

#[derive(Debug)]
struct Stored {
    alignment: Alignment,
    cigar: Range<u32>,
    tags: Range<u32>,
}

impl Alignments {
    /// Makes it empty, keeping its memory.
    pub fn clear(&mut self) {
        self.alignments.clear();
        self.fragment_ends.clear();
        self.cigars.clear();
        self.tags.clear();
        self.texts.clear();
        self.text.clear();
        self.letters = Letters::default();
        self.names = Names::default();
        self.has_methylation = false;
        self.left_out = 0;
        self.too_many_in = None;
    }

    /// What an engine writes itself, where it makes something else than records. Alignments say no more then than
    /// whether a read was mapped.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The same, to be added to.
    pub fn text_mut(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Says that so many reads have no record, because the user wants none of them.
    pub fn leave_out(&mut self, reads: u64) {
        self.left_out += reads;
    }

    /// Reads without a record.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Says what records show for letters that are no base.
    pub fn show_letters(&mut self, letters: Letters) {
        self.letters = letters;
    }

    /// What records show for letters that are no base.
    pub fn letters(&self) -> Letters {
        self.letters
    }

    /// Says how records show names.
    pub fn show_names(&mut self, names: Names) {
        self.names = names;
    }

    /// How records show names.
    pub fn names(&self) -> Names {
        self.names
    }

    /// Says that XM tells which cytosines are methylated.
    pub fn show_methylation(&mut self) {
        self.has_methylation = true;
    }

    /// Whether XM tells which cytosines are methylated.
    pub fn has_methylation(&self) -> bool {
        self.has_methylation
    }

    /// Adds an alignment to the fragment that is not ended yet. One that does not fit is not added whole:
    /// [`Alignments::too_many_in`] says so.
    pub fn push<'t>(
        &mut self,
        alignment: Alignment,
        cigar: impl IntoIterator<Item = CigarOp>,
        tags: impl IntoIterator<Item = Tag<'t>>,
    ) {
        let (cigar_start, tags_start) = (self.cigars.len() as u32, self.tags.len() as u32);
        self.cigars.extend(cigar);
        for Tag { key, value } in tags {
            let value = match value {
                TagValue::Int(value) => StoredValue::Int(value),
                TagValue::Character(value) => StoredValue::Character(value),
                TagValue::Float(value) => StoredValue::Float(value),
                TagValue::ReadGroup => StoredValue::ReadGroup,
                TagValue::Comment => StoredValue::Comment,
                TagValue::LongCigar => StoredValue::LongCigar,
                TagValue::Text(text) | TagValue::Decimal(text) if text.len() > MOST - self.texts.len() => {
                    self.note_too_many();
                    continue;
                }
                TagValue::Text(text) => StoredValue::Text(self.store(text)),
                TagValue::Decimal(digits) => StoredValue::Decimal(self.store(digits)),
            };
            self.tags.push(StoredTag { key, value });
        }
        if self.cigars.len().max(self.tags.len()).max(self.alignments.len()) >= MOST {
            self.note_too_many();
            self.cigars.truncate(cigar_start as usize);
            self.tags.truncate(tags_start as usize);
            return;
        }
        let (cigar, tags) = (cigar_start..self.cigars.len() as u32, tags_start..self.tags.len() as u32);
        self.alignments.push(Stored { alignment, cigar, tags });
    }

    /// Keeps a text, and says where.
    fn store(&mut self, text: &[u8]) -> Range<u32> {
        let start = self.texts.len() as u32;
        self.texts.extend_from_slice(text);
        start..self.texts.len() as u32
    }

    #[cold]
    fn note_too_many(&mut self) {
        self.too_many_in.get_or_insert(self.fragment_ends.len());
    }

    /// The first fragment whose alignments are not all there: those of the chunk take more than 4 GiB of tags, or have
    /// more operations than 32 bits can count. They must not be written.
    pub fn too_many_in(&self) -> Option<usize> {
        self.too_many_in
    }

    /// The alignments of the fragment that is not ended yet.
    pub fn open_fragment(&mut self) -> impl Iterator<Item = &mut Alignment> {
        let start = self.fragment_ends.last().map_or(0, |end| *end as usize);
        self.alignments[start..].iter_mut().map(|stored| &mut stored.alignment)
    }

    /// Ends a fragment: what is added from now on belongs to the next.
    pub fn end_fragment(&mut self) {
        self.fragment_ends.push(self.alignments.len() as u32);
    }

    /// Adds the fragment of this number of `other`.
    pub fn push_fragment(&mut self, other: &Alignments, number: usize) {
        for aligned in other.fragment(number) {
            self.push(aligned.alignment, aligned.cigar.iter().copied(), aligned.tags());
        }
        self.end_fragment();
    }

    /// The number of fragments that were ended.
    pub fn fragments(&self) -> usize {
        self.fragment_ends.len()
    }

    /// The alignments of the fragment at `index`, which must be below [`Alignments::fragments`].
    pub fn fragment(&self, index: usize) -> impl ExactSizeIterator<Item = Aligned<'_>> {
        let start = if index == 0 { 0 } else { self.fragment_ends[index - 1] } as usize;
        let stored = &self.alignments[start..self.fragment_ends[index] as usize];
        stored.iter().map(|stored| Aligned {
            alignment: stored.alignment,
            cigar: &self.cigars[stored.cigar.start as usize..stored.cigar.end as usize],
            tags: &self.tags[stored.tags.start as usize..stored.tags.end as usize],
            texts: &self.texts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_put_one_after_the_other() {
        let (all, mut bytes) = ([(3, 0.5), (0, 150.0)].map(|(contig, bases)| Weight { contig, bases }), Vec::new());
        all.into_iter().for_each(|weight| weight.push_to(&mut bytes));
        assert_eq!(Weight::all_in(&bytes).collect::<Vec<_>>(), all);
    }

    #[test]
    fn what_does_not_fit_is_told_and_nothing_wraps() {
        let text = |text: &'static [u8]| Tag { key: *b"XA", value: TagValue::Text(text) };
        let op = CigarOp::new(1, b'M').unwrap();
        let mut out = Alignments::default();
        for (ops, texts, too_many_in) in [
            (1, [&[b'x'; 60][..], &[b'y'; 40]], None),
            (1, [&[b'x'; 60], &[b'y'; 41]], Some(1)),
            (99, [b"x", b"y"], Some(1)),
        ] {
            out.clear();
            out.push(Alignment::default(), [op], []);
            out.end_fragment();
            out.push(Alignment::default(), vec![op; ops], texts.map(text));
            out.push(Alignment { mate: 1, ..Alignment::default() }, [], []);
            out.end_fragment();
            assert_eq!(out.too_many_in(), too_many_in);
            let all: Vec<Aligned<'_>> = out.fragment(1).collect();
            assert!(all.iter().flat_map(Aligned::tags).all(|tag| texts.map(text).contains(&tag)));
            assert!(all.iter().all(|aligned| aligned.cigar.iter().all(|one| *one == op)));
        }
    }

    #[test]
    fn each_fragment_has_its_own_alignments_and_memory_is_used_again() {
        let mut out = Alignments::default();
        for _ in 0..2 {
            out.clear();
            let op = |length| CigarOp::new(length, b'M').unwrap();
            let text = |text: &'static str| Tag { key: *b"XA", value: TagValue::Text(text.as_bytes()) };
            out.push(Alignment { mate: 0, ..Alignment::default() }, [op(5), op(6)], [text("one"), text("two")]);
            out.push(Alignment { mate: 1, ..Alignment::default() }, [], []);
            out.end_fragment();
            out.end_fragment();
            out.push(Alignment::default(), [op(7)], [text("three")]);
            out.end_fragment();
            let counts: Vec<usize> = (0..out.fragments()).map(|i| out.fragment(i).len()).collect();
            assert_eq!(counts, [2, 0, 1]);
            let all: Vec<_> = out.fragment(0).chain(out.fragment(2)).collect();
            assert_eq!(
                all.iter().map(|aligned| aligned.cigar.to_vec()).collect::<Vec<_>>(),
                [vec![op(5), op(6)], vec![], vec![op(7)]]
            );
            let tags: Vec<_> = all.iter().flat_map(Aligned::tags).collect();
            assert_eq!(tags, [text("one"), text("two"), text("three")]);
        }
    }
}
