//! The header of BAM, and what the first read shows.

use super::record::{BamRecord, FoundRecord, RecordHead};
use crate::header::without_mate_number;
use std::collections::HashSet;
use zerohop_model::record::{FIRST, LAST, NO_QUALITY, PAIRED};

/// What a file begins with.
pub(crate) const MAGIC: [u8; 4] = *b"BAM\x01";

/// The header of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BamHeader {
    /// Its bytes, up to the first record.
    pub(crate) bytes: usize,
    /// How many contigs it names.
    pub(crate) contigs: i32,
    /// Its @RG lines.
    pub(crate) read_groups: Vec<Vec<u8>>,
    /// Its @PG and @CO lines.
    pub(crate) history: Vec<Vec<u8>>,
}

impl BamHeader {
    pub(crate) fn read_group_ids(&self) -> HashSet<Vec<u8>> {
        let id =
            |line: &Vec<u8>| line.split(|&b| b == b'\t').find_map(|field| Some(field.strip_prefix(b"ID:")?.to_vec()));
        self.read_groups.iter().filter_map(id).collect()
    }
}

/// What the first read shows: whether any read has qualities, and whether the first has a mate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct First {
    /// Whether it is one of a pair.
    pub(crate) is_paired: bool,
    /// Whether it has no qualities, though it has bases.
    pub(crate) lacks_qualities: bool,
}

impl BamHeader {
    /// The header at the start of `text`; `None` if it goes on behind it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of(text: &[u8]) -> Result<Option<Self>, &'static str> {
        let word = |at: usize| {
            let bytes = text.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map(|bytes| usize::try_from(i32::from_le_bytes(*bytes)).map_err(|_| "its header is damaged"))
        };
        let Some(length) = word(4).transpose()? else { return Ok(None) };
        let Some(contigs) = word(8 + length).transpose()? else { return Ok(None) };
        let mut at = 12 + length;
        for _ in 0..contigs {
            let Some(name) = word(at).transpose()? else { return Ok(None) };
            at += 8 + name;
        }
        if text.len() < at {
            return Ok(None);
        }
        // htslib may have filled it up with zeros.
        let lines = || text[8..8 + length].split(|&b| b == b'\n' || b == 0);
        let of_kinds = |kinds: &[&[u8]]| {
            let wanted = lines().filter(|line| kinds.iter().any(|kind| line.starts_with(kind)));
            wanted.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec()).collect()
        };
        let (read_groups, history) = (of_kinds(&[b"@RG\t"]), of_kinds(&[b"@HD\t", b"@PG\t", b"@CO\t"]));
        Ok(Some(BamHeader { bytes: at, contigs: contigs as i32, read_groups, history }))
    }
}

/// What the first records of a text show of its reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// More of them would say nothing else. (Damage behind the first read is found by who parses it.)
    Known(First),
    /// More of them may say something else; so many bytes at the end are a record that is cut off.
    Open { first: Option<First>, cut_off: usize },
    /// The record so many bytes before the end is damaged, and no read comes before it.
    Damaged { left: usize },
}

/// What the records say that `text` begins with.
pub(crate) fn first_read(mut text: &[u8]) -> Beginning {
    let mut first: Option<First> = None;
    loop {
        let head = match RecordHead::read(text) {
            FoundRecord::Head(head) => head,
            FoundRecord::CutOff => return Beginning::Open { first, cut_off: text.len() },
            FoundRecord::Damaged => return first.map_or(Beginning::Damaged { left: text.len() }, Beginning::Known),
        };
        let Some(record) = BamRecord::of(head, text) else {
            return Beginning::Open { first, cut_off: text.len() };
        };
        if head.is_read() {
            let lacks_qualities = record.qualities.first() == Some(&NO_QUALITY);
            let First { is_paired, .. } =
                *first.get_or_insert(First { is_paired: head.flags & PAIRED != 0, lacks_qualities });
            // A read without bases says nothing of qualities.
            if head.bases > 0 {
                return Beginning::Known(First { is_paired, lacks_qualities });
            }
        }
        text = &text[head.size..];
    }
}

/// The name of the first read, as far as `text` holds it.
pub(crate) fn name_of_first(mut text: &[u8]) -> &[u8] {
    loop {
        match RecordHead::read(text) {
            FoundRecord::Head(head) if head.is_read() => return without_mate_number(head.name),
            FoundRecord::Head(head) => text = text.get(head.size..).unwrap_or_default(),
            FoundRecord::CutOff | FoundRecord::Damaged => return b"",
        }
    }
}

/// How many reads there are, at most `most`, and their bases: of pairs the first mates. `text` begins with a record.
pub(crate) fn sample(mut text: &[u8], most: usize) -> (usize, u64) {
    let (mut reads, mut bases) = (0, 0);
    while let FoundRecord::Head(head) = RecordHead::read(text) {
        if reads == most {
            break;
        }
        if head.is_read() && head.flags & (PAIRED | FIRST | LAST) != PAIRED | LAST {
            (reads, bases) = (reads + 1, bases + u64::from(head.bases));
        }
        text = text.get(head.size..).unwrap_or_default();
    }
    (reads, bases)
}
