//! What is known of a record where its mate is known, too.

use crate::counts::Counts;
use crate::optical::Location;
use crate::picard;
use crate::primary::Primary;
use crate::rules::{Rules, Search};
use crate::samtools::{self, PairPlace};
use crate::template::{Template, put_head};
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_model::record::{FIRST, LAST, PAIRED, UNMAPPED};
use zerohop_sort::push_frame;

/// Kinds of signatures: of a pair, or a record with a mate, and of the end of any record alone.
pub(crate) const PAIR: u8 = 0;
pub(crate) const END: u8 = 1;
/// Of a template with a UMI: the only kind where there are UMIs.
const TEMPLATE: u8 = 2;

/// The fragment that primary records are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedFragment<'a> {
    /// The name of its reads (QNAME).
    pub name: &'a [u8],
    /// Its library, as an index into [`Counts::libraries`](crate::Counts::libraries).
    pub library: u16,
    /// The number of its read group.
    pub read_group: u16,
}

/// The signatures of a chunk, as frames to be sorted.
#[derive(Debug)]
pub struct Signatures {
    search: Search,
    /// Of the fragment that is not ended.
    name: Vec<u8>,
    library: u16,
    read_group: u16,
    location: [u8; 10],
    primaries: Vec<Primary>,
    /// Its records in the chunk.
    records: Range<u32>,
    /// The key that is being made.
    key: Vec<u8>,
    frames: Vec<u8>,
    counts: Counts,
}

impl Signatures {
    /// An empty collection, for the records of one worker.
    pub fn new(search: Search) -> Self {
        Signatures {
            search,
            name: Vec::new(),
            library: 0,
            read_group: 0,
            location: Location::NONE.bytes(),
            primaries: Vec::new(),
            records: 0..0,
            key: Vec::new(),
            frames: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Begins a chunk.
    pub fn clear(&mut self) {
        self.primaries.clear();
        self.records = 0..0;
        self.frames.clear();
        self.counts.libraries.clear();
    }

    /// Ends the fragment before, and begins this one.
    ///
    /// # Errors
    /// [`Error::Internal`] if a name is too long, which encoders rule out.
    pub fn begin_fragment(&mut self, fragment: NamedFragment<'_>) -> Result<(), Error> {
        self.end_fragment()?;
        self.name.clear();
        self.name.extend_from_slice(fragment.name);
        (self.library, self.read_group) = (fragment.library, fragment.read_group);
        self.records = self.records.end..self.records.end;
        if self.search.rules == Rules::Picard {
            self.location = Location::of(fragment.name, false).bytes();
        }
        Ok(())
    }

    /// Adds a primary record of the fragment.
    pub fn add(&mut self, primary: Primary) {
        if primary.has(UNMAPPED) {
            self.counts.library(self.library).unmapped += 1;
        }
        if primary.barcode.is_some() {
            self.counts.library(self.library).barcoded += 1;
        }
        self.primaries.push(primary);
        self.records.end += 1;
    }

    /// Counts a secondary or supplementary record of the fragment, which may be mapped.
    pub fn count_other(&mut self, is_mapped: bool) {
        self.records.end += 1;
        if !is_mapped {
            return;
        }
        self.counts.library(self.library).secondary_or_supplementary += 1;
    }

    /// Ends the chunk; gives its frames.
    ///
    /// # Errors
    /// As for [`Signatures::begin_fragment`].
    pub fn frames(&mut self) -> Result<&[u8], Error> {
        self.end_fragment()?;
        Ok(&self.frames)
    }

    /// Appends how many records were counted in the chunk, for [`crate::ChunkCounts::add`].
    pub fn put_counts(&self, out: &mut Vec<u8>) {
        self.counts.store(out);
    }

    fn end_fragment(&mut self) -> Result<(), Error> {
        let primaries = std::mem::take(&mut self.primaries);
        if let Some(rules) = self.search.umis {
            self.sign_template(&primaries, rules)?;
        }
        let alone = if self.search.umis.is_none() { &primaries[..] } else { &[] };
        for (at, primary) in alone.iter().enumerate() {
            // Of more than two, samtools pairs the first with the last.
            let mate = match (at, alone.len()) {
                (_, 0 | 1) => None,
                (0, len) => alone.get(len - 1),
                _ => alone.first(),
            };
            self.sign(primary, mate)?;
        }
        if let [first, .., last] = &primaries[..]
            && first.barcode.is_some() != last.barcode.is_some()
        {
            self.counts.library(self.library).barcoded_alone += 1;
        }
        self.primaries = primaries;
        self.primaries.clear();
        Ok(())
    }

    /// Signs a template as a whole, by its UMI.
    fn sign_template(&mut self, primaries: &[Primary], rules: zerohop_umi::Rules) -> Result<(), Error> {
        let (first, second) = match primaries {
            [] => return Ok(()),
            [only] => (only, None),
            [one, .., other] if one.has(LAST) && other.has(FIRST) => (other, Some(one)),
            [one, .., other] => (one, Some(other)),
        };
        let counts = self.counts.library(self.library);
        let reads = 1 + u64::from(second.is_some());
        let template = match Template::of(first, second, rules) {
            Ok(template) => template,
            Err(why) => {
                counts.dropped(why, reads);
                return Ok(());
            }
        };
        counts.grouped += reads;
        match template.is_pair() {
            true => counts.paired += 2,
            false => counts.single += 1,
        }
        let (contig, begin, _) = template.ends[0];
        self.begin_key(TEMPLATE, contig, begin);
        template.put_key(&mut self.key);
        self.key.extend_from_slice(&self.library.to_be_bytes());
        self.key.extend_from_slice(first.cell.as_deref().unwrap_or_default());
        let reads = [Some(first), second].into_iter().flatten().filter(|read| !read.has(UNMAPPED));
        let score = |read: &Primary| match self.search.rules {
            Rules::Samtools => read.samtools_score as i64,
            Rules::Picard => picard::score(read),
        };
        let mut records = reads.clone().map(|read| read.record);
        let choice = ChoiceFields {
            has_mate: template.is_pair(),
            stands_for_pair: template.is_pair(),
            first_is_reverse: first.is_reverse(),
            score: reads.clone().map(score).sum(),
            record: records.next().unwrap_or_default(),
            mate: records.next(),
            template: Some(self.records.clone()),
            tie: &self.name,
            ..self.choice(first)
        };
        push_frame(&mut self.frames, &self.key, |out| {
            put_head(&template, out)?;
            choice.put(out);
            Ok(())
        })
    }

    fn sign(&mut self, primary: &Primary, mate: Option<&Primary>) -> Result<(), Error> {
        if !self.search.rules.examine(primary) {
            return Ok(());
        }
        let mate = mate.filter(|mate| primary.has(PAIRED) && !mate.has(UNMAPPED));
        let counts = self.counts.library(self.library);
        match mate {
            Some(_) => counts.paired += 1,
            None => counts.single += 1,
        }
        self.push_end(primary, mate.is_some())?;
        match (self.search.rules, mate) {
            (Rules::Samtools, Some(mate)) => self.push_with_mate(primary, mate),
            (Rules::Picard, Some(mate)) if picard::is_first_end(primary, mate) => self.push_pair(primary, mate),
            _ => Ok(()),
        }
    }

    /// The signature of one end: where it is, and on which strand.
    fn push_end(&mut self, primary: &Primary, has_mate: bool) -> Result<(), Error> {
        let begin = match self.search.rules {
            Rules::Samtools => samtools::begin(primary),
            Rules::Picard => picard::begin(primary),
        };
        self.begin_key(END, primary.contig, begin);
        self.key.push(u8::from(primary.is_reverse()));
        self.end_key(primary);
        if has_mate {
            return push_frame(&mut self.frames, &self.key, |out| {
                out.push(END_OF_PAIR);
                Ok(())
            });
        }
        let (score, tie) = match self.search.rules {
            Rules::Samtools => (primary.samtools_score as i64, &[][..]),
            Rules::Picard => (picard::score(primary), &self.location[..]),
        };
        let choice = ChoiceFields { score, tie, ..self.choice(primary) };
        push(&mut self.frames, &self.key, &choice)
    }

    /// The signature of a record and its mate, by the rules of samtools.
    fn push_with_mate(&mut self, this: &Primary, mate: &Primary) -> Result<(), Error> {
        let PairPlace { this_at, mate_at, is_left, orientation } = PairPlace::of(this, mate);
        self.begin_key(PAIR, this.contig, this_at);
        self.key.extend_from_slice(&mate.contig.to_be_bytes());
        self.key.extend_from_slice(&mate_at.to_be_bytes());
        self.key.extend_from_slice(&[u8::from(is_left), orientation as u8]);
        self.end_key(this);
        let choice = ChoiceFields {
            has_mate: true,
            stands_for_pair: samtools::stands_for_pair(this, mate),
            first_is_reverse: first_is_reverse(this, mate),
            score: (this.samtools_score + mate.samtools_score) as i64,
            tie: &self.name,
            ..self.choice(this)
        };
        push(&mut self.frames, &self.key, &choice)
    }

    /// The signature of a pair, by the rules of Picard.
    fn push_pair(&mut self, first: &Primary, second: &Primary) -> Result<(), Error> {
        self.begin_key(PAIR, first.contig, picard::begin(first));
        self.key.extend_from_slice(&second.contig.to_be_bytes());
        self.key.extend_from_slice(&picard::begin(second).to_be_bytes());
        self.key.push(picard::orientation(first, second));
        // Of both ends, that which comes first in the output has the barcode.
        let place = |end: &Primary| (end.order, end.record);
        self.end_key(if place(first) <= place(second) { first } else { second });
        let choice = ChoiceFields {
            has_mate: true,
            stands_for_pair: true,
            first_is_reverse: first_is_reverse(first, second),
            score: picard::score(first) + picard::score(second),
            mate: Some(second.record),
            tie: &self.location,
            ..self.choice(first)
        };
        push(&mut self.frames, &self.key, &choice)
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

    /// Ends a key with what else duplicates have in common: with Picard the library; of bisulfite reads the strand; the
    /// barcode.
    fn end_key(&mut self, primary: &Primary) {
        if self.search.rules == Rules::Picard {
            self.key.extend_from_slice(&self.library.to_be_bytes());
        }
        if let Some(strand) = primary.strand {
            self.key.extend_from_slice(&[2, strand as u8]);
        }
        if let Some(barcode) = &primary.barcode {
            self.key.push(1);
            self.key.extend_from_slice(barcode);
        }
    }

    /// What every signature of a record says.
    fn choice(&self, primary: &Primary) -> ChoiceFields<'static> {
        ChoiceFields {
            has_mate: false,
            stands_for_pair: false,
            first_is_reverse: false,
            library: self.library,
            read_group: self.read_group,
            score: 0,
            order: primary.order,
            record: primary.record,
            mate: None,
            template: self.search.templates.then(|| self.records.clone()),
            tie: &[],
        }
    }
}

/// Whether the first mate of a pair is on the reverse strand.
fn first_is_reverse(this: &Primary, mate: &Primary) -> bool {
    if this.has(FIRST) { this.is_reverse() } else { mate.is_reverse() }
}

fn push(frames: &mut Vec<u8>, key: &[u8], choice: &ChoiceFields<'_>) -> Result<(), Error> {
    push_frame(frames, key, |out| {
        choice.put(out);
        Ok(())
    })
}

/// What the choice among equal signatures is made by, and what is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChoiceFields<'a> {
    pub(crate) has_mate: bool,
    /// Whether it counts as the pair's, where pairs are counted.
    pub(crate) stands_for_pair: bool,
    pub(crate) first_is_reverse: bool,
    pub(crate) library: u16,
    pub(crate) read_group: u16,
    /// The record with the highest score stays.
    pub(crate) score: i64,
    /// Place in the order of the output.
    pub(crate) order: u64,
    pub(crate) record: u32,
    /// The other record that is marked with it, if one is.
    pub(crate) mate: Option<u32>,
    /// All records of the fragment, if they are marked with it.
    pub(crate) template: Option<Range<u32>>,
    /// Of equal scores the least stays: the name of a pair, with samtools; the place on the flow cell, with Picard.
    pub(crate) tie: &'a [u8],
}

/// All that is said of the end of a record whose mate is mapped: it is never marked with other ends, but ends without a
/// mapped mate are where it is. Of pairs, at least half of all signatures are such ones.
const END_OF_PAIR: u8 = 1;

/// Bytes of a choice before those of the tie.
const FIXED: usize = 1 + 2 + 2 + 8 + 8 + 4 + 4;
/// Bytes of the records of a template behind them, where these are told.
const OF_TEMPLATE: usize = 4 + 4;

impl<'a> ChoiceFields<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        let is_there = [self.mate.is_some(), self.template.is_some()];
        let flags = [self.has_mate, self.stands_for_pair, self.first_is_reverse, is_there[0], is_there[1]];
        out.push(flags.iter().zip(0..).map(|(flag, bit)| u8::from(*flag) << bit).sum());
        out.extend_from_slice(&self.library.to_le_bytes());
        out.extend_from_slice(&self.read_group.to_le_bytes());
        out.extend_from_slice(&self.score.to_le_bytes());
        out.extend_from_slice(&self.order.to_le_bytes());
        out.extend_from_slice(&self.record.to_le_bytes());
        out.extend_from_slice(&self.mate.unwrap_or_default().to_le_bytes());
        if let Some(Range { start, end }) = &self.template {
            out.extend_from_slice(&start.to_le_bytes());
            out.extend_from_slice(&end.to_le_bytes());
        }
        out.extend_from_slice(self.tie);
    }

    /// What [`ChoiceFields::put`] wrote.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        if bytes == [END_OF_PAIR] {
            return Some(ChoiceFields { has_mate: true, ..ChoiceFields::default() });
        }
        let (fixed, rest) = bytes.split_first_chunk::<FIXED>()?;
        let is_set = |bit: u8| fixed[0] >> bit & 1 == 1;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let int = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| fixed[at + byte]));
        let long = |at: usize| u64::from(int(at)) | u64::from(int(at + 4)) << 32;
        let (template, tie) = match is_set(4) {
            false => (None, rest),
            true => {
                let ([a, b, c, d, end @ ..], tie) = rest.split_first_chunk::<OF_TEMPLATE>()?;
                (Some(u32::from_le_bytes([*a, *b, *c, *d])..u32::from_le_bytes(*end)), tie)
            }
        };
        Some(ChoiceFields {
            has_mate: is_set(0),
            stands_for_pair: is_set(1),
            first_is_reverse: is_set(2),
            library: short(1),
            read_group: short(3),
            score: long(5) as i64,
            order: long(13),
            record: int(21),
            mate: is_set(3).then(|| int(25)),
            template,
            tie,
        })
    }
}
