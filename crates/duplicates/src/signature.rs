//! What is known of a record where its mate is known, too. The rules are those of samtools (bam_markdup.c:
//! make_pair_key, make_single_key, has_mate; bam_mate.c: sync_mate), in its mode for templates.

use zerohop_model::error::Error;
use zerohop_model::record::{CigarOp, FIRST, PAIRED, QC_FAIL, REVERSE, UNMAPPED};
use zerohop_sort::push_frame;

/// Base qualities below do not count.
const LEAST_QUALITY: u8 = 15;
/// What BAM has for a quality that is missing.
const NO_QUALITY: u64 = 0xff;

/// A primary record, as far as it counts here.
#[derive(Debug, Clone)]
pub struct Primary {
    flags: u16,
    contig: i32,
    /// From 1, with what was clipped: first base, last base; and the last base as samtools computes it for a mate.
    start: i64,
    end: i64,
    end_as_mate: i64,
    /// Sum of the qualities that count.
    score: u64,
    /// Its place in the order of coordinates.
    order: u64,
    /// Which record of its chunk it is.
    record: u32,
}

impl Primary {
    /// The record number `record` of its chunk; `position` is from 0, `qual` is Phred + 33, and empty where there are
    /// none for its `bases`. `order` is its key in the order of coordinates.
    pub fn new(
        flags: u16,
        (contig, position): (i32, i32),
        cigar: &[CigarOp],
        (qual, bases): (&[u8], usize),
        order: u64,
        record: u32,
    ) -> Self {
        let position = i64::from(position);
        let length = |op: &CigarOp| i64::from(op.length());
        let is_clip = |op: &&CigarOp| matches!(op.letter(), b'S' | b'H');
        let before: i64 = cigar.iter().take_while(is_clip).map(length).sum();
        let behind: i64 = cigar.iter().rev().take_while(is_clip).map(length).sum();
        let bases_of_reference: i64 = cigar.iter().filter(|op| op.consumes_reference()).map(length).sum();
        let behind_as_mate = if bases_of_reference > 0 { behind } else { 0 };
        let score = match qual {
            [] => bases as u64 * NO_QUALITY,
            qual => qual.iter().map(|q| q.wrapping_sub(33)).filter(|q| *q >= LEAST_QUALITY).map(u64::from).sum(),
        };
        Primary {
            flags,
            contig,
            start: position - before + 1,
            end: position + bases_of_reference.max(1) + behind,
            end_as_mate: position + bases_of_reference + behind_as_mate,
            score,
            order,
            record,
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    fn is_reverse(&self) -> bool {
        self.has(REVERSE)
    }
}

/// Kinds of signatures: of a record with a mate, and of the end of any record alone.
pub(crate) const PAIR: u8 = 0;
pub(crate) const END: u8 = 1;

/// The signatures of a chunk, as frames to be sorted.
#[derive(Debug, Default)]
pub struct Signatures {
    /// Of the fragment that is not ended: its name, and its primary records.
    name: Vec<u8>,
    primaries: Vec<Primary>,
    key: Vec<u8>,
    frames: Vec<u8>,
}

impl Signatures {
    /// Begins a chunk.
    pub fn clear(&mut self) {
        self.primaries.clear();
        self.frames.clear();
    }

    /// Ends the fragment before, and begins the one of this name.
    ///
    /// # Errors
    /// [`Error::Internal`] if a name is too long, which encoders rule out.
    pub fn begin_fragment(&mut self, name: &[u8]) -> Result<(), Error> {
        self.end_fragment()?;
        self.name.clear();
        self.name.extend_from_slice(name);
        Ok(())
    }

    /// Adds a primary record of the fragment.
    pub fn add(&mut self, primary: Primary) {
        self.primaries.push(primary);
    }

    /// Ends the chunk; gives its frames.
    ///
    /// # Errors
    /// As for [`Signatures::begin_fragment`].
    pub fn frames(&mut self) -> Result<&[u8], Error> {
        self.end_fragment()?;
        Ok(&self.frames)
    }

    fn end_fragment(&mut self) -> Result<(), Error> {
        let primaries = std::mem::take(&mut self.primaries);
        for (at, primary) in primaries.iter().enumerate() {
            // Of more than two, samtools pairs the first with the last.
            let mate = match (at, primaries.len()) {
                (_, 0 | 1) => None,
                (0, len) => primaries.get(len - 1),
                _ => primaries.first(),
            };
            self.sign(primary, mate)?;
        }
        self.primaries = primaries;
        self.primaries.clear();
        Ok(())
    }

    fn sign(&mut self, primary: &Primary, mate: Option<&Primary>) -> Result<(), Error> {
        if primary.has(UNMAPPED | QC_FAIL) {
            return Ok(());
        }
        let mate = mate.filter(|mate| primary.has(PAIRED) && !mate.has(UNMAPPED));
        self.push_end(primary, mate.is_some())?;
        mate.map_or(Ok(()), |mate| self.push_pair(primary, mate))
    }

    /// Begins a key. Its first eight bytes tell most places apart: those beyond are looked at only if they are equal.
    fn begin_key(&mut self, kind: u8, contig: i32, coordinate: i64) {
        let ([high, contig @ ..], [coordinate_high @ .., a, b, c, d]) =
            (contig.to_be_bytes(), coordinate.to_be_bytes());
        self.key.clear();
        self.key.push(kind);
        self.key.extend_from_slice(&contig);
        self.key.extend_from_slice(&[a, b, c, d]);
        self.key.push(high);
        self.key.extend_from_slice(&coordinate_high);
    }

    /// The signature of one end: where it is, and on which strand.
    fn push_end(&mut self, primary: &Primary, has_mate: bool) -> Result<(), Error> {
        let coordinate = if primary.is_reverse() { primary.end } else { primary.start };
        self.begin_key(END, primary.contig, coordinate);
        self.key.push(u8::from(primary.is_reverse()));
        push_frame(&mut self.frames, &self.key, |out| {
            put_choice(out, has_mate, primary.score, primary);
            Ok(())
        })
    }

    /// The signature of a record and its mate.
    fn push_pair(&mut self, this: &Primary, mate: &Primary) -> Result<(), Error> {
        let Pair { this_at, mate_at, is_left, orientation } = Pair::of(this, mate);
        self.begin_key(PAIR, this.contig, this_at);
        self.key.extend_from_slice(&mate.contig.to_be_bytes());
        self.key.extend_from_slice(&mate_at.to_be_bytes());
        self.key.extend_from_slice(&[u8::from(is_left), orientation as u8]);
        push_frame(&mut self.frames, &self.key, |out| {
            put_choice(out, true, this.score + mate.score, this);
            out.extend_from_slice(&self.name);
            Ok(())
        })
    }
}

/// Appends what the choice is made by: see [`Choice`].
fn put_choice(out: &mut Vec<u8>, has_mate: bool, score: u64, primary: &Primary) {
    out.push(u8::from(has_mate));
    out.extend_from_slice(&score.to_le_bytes());
    out.extend_from_slice(&primary.order.to_le_bytes());
    out.extend_from_slice(&primary.record.to_le_bytes());
}

/// What the choice among equal signatures is made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice<'a> {
    pub(crate) has_mate: bool,
    pub(crate) score: u64,
    pub(crate) order: u64,
    pub(crate) record: u32,
    /// Of a pair; else empty.
    pub(crate) name: &'a [u8],
}

impl<'a> Choice<'a> {
    /// What [`put_choice`] wrote, and the name.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (fixed, name) = bytes.split_at_checked(21)?;
        let long = |at: usize| Some(u64::from_le_bytes(fixed[at..at + 8].try_into().ok()?));
        let record = u32::from_le_bytes(fixed[17..].try_into().ok()?);
        Some(Choice { has_mate: fixed[0] != 0, score: long(1)?, order: long(9)?, record, name })
    }
}

/// How the mates of a pair lie to each other. The first letter is that of the left one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orientation {
    ForwardForward = 2,
    ReverseReverse = 3,
    ForwardReverse = 5,
    ReverseForward = 7,
}

/// The place of a pair, as the key of one of its mates has it.
struct Pair {
    this_at: i64,
    mate_at: i64,
    is_left: bool,
    orientation: Orientation,
}

impl Pair {
    fn of(this: &Primary, mate: &Primary) -> Self {
        use Orientation::{ForwardForward, ForwardReverse, ReverseForward, ReverseReverse};
        let (is_reverse, same_strand) = (this.is_reverse(), this.is_reverse() == mate.is_reverse());
        let is_left = match (this.contig == mate.contig, same_strand, is_reverse) {
            (false, ..) => this.contig < mate.contig,
            (_, true, false) => this.start <= mate.start,
            (_, true, true) => this.end <= mate.end_as_mate,
            (_, false, true) => this.end <= mate.start,
            (_, false, false) => this.start <= mate.end_as_mate,
        };
        if same_strand {
            // As one sees it from the first mate.
            let forward = is_reverse != this.has(FIRST);
            let orientation = if forward == is_left { ForwardForward } else { ReverseReverse };
            let (this_at, mate_at) = if is_left { (this.start, mate.end_as_mate) } else { (this.end, mate.start) };
            return Pair { this_at, mate_at, is_left, orientation };
        }
        let (this_at, mate_at) = if is_reverse { (this.end, mate.start) } else { (this.start, mate.end_as_mate) };
        let orientation = if is_reverse == is_left { ReverseForward } else { ForwardReverse };
        Pair { this_at, mate_at, is_left, orientation }
    }
}
