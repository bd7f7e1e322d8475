//! The account of a program: which reads it was given and has not answered, and whose record a line is.
//!
//! A program that keeps the order of the reads is held to it: its records must be those of the next read. The records
//! of one that does not are put back by the name of their read, and by its bases where several have the same name.
//! Either way every read must come back, and no chunk leaves before those that the program was given earlier.

mod expected;

pub(crate) use expected::{Asked, Expected, Promises};

use expected::{FragmentKind, ReadMarks, bare, digest_of_record, other_number};
use std::collections::{HashMap, VecDeque};
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::chunk::Span;
use zerohop_model::error::shown;
use zerohop_model::instance::{Answer, AnswerLine};
use zerohop_model::measurement::Tally;
use zerohop_model::record::{FIRST, LAST, PAIRED, PROPER_PAIR, SECONDARY, SUPPLEMENTARY, UNMAPPED, is_primary};

/// A chunk whose records are coming.
#[derive(Debug)]
struct OpenChunk {
    expected: Expected,
    answer: Answer,
    /// The fragment of each line of the answer.
    owners: Vec<u32>,
    /// Fragments that have not come back.
    missing: usize,
}

/// The fragment whose records are coming: its chunk's position in the row, and its own in the chunk.
#[derive(Debug, Clone, Copy)]
struct CurrentFragment {
    chunk: u64,
    fragment: usize,
    /// Which mates have come; a single read is mate 0.
    seen: [bool; 2],
}

/// A line's own fields, as far as they are looked at here.
struct LineFields<'l> {
    name: &'l [u8],
    flags: u16,
    template_length: i64,
}

/// The account of one program.
#[derive(Debug)]
pub(crate) struct Ledger {
    rules: Promises,
    /// What to do if records of pairs do not say which mate they are of, in words.
    pairs: Option<String>,
    open: VecDeque<OpenChunk>,
    /// Chunks that have left: the position in the row of the first that is open.
    gone: u64,
    /// Where the next fragment is looked for, if the order is kept.
    next: (u64, usize),
    /// Where fragments are, by the hash of their name, if it is not.
    by_name: HashMap<u64, VecDeque<(u64, u32)>>,
    current: Option<CurrentFragment>,
    pub(crate) chunks_out: u64,
    pub(crate) reads_in: u64,
    pub(crate) reads_out: u64,
}

impl Ledger {
    /// The account of a program of these rules; `pairs` says what to do if records of pairs do not say which mate they
    /// are of.
    pub(crate) fn new(rules: Promises, pairs: Option<String>) -> Self {
        let (open, by_name) = (VecDeque::new(), HashMap::new());
        let (gone, next, current, chunks_out, reads_in, reads_out) = (0, (0, 0), None, 0, 0, 0);
        Ledger { rules, pairs, open, gone, next, by_name, current, chunks_out, reads_in, reads_out }
    }

    /// Adds a chunk that the program is given.
    pub(crate) fn expect(&mut self, expected: Expected) {
        self.reads_in += expected.reads();
        if !self.rules.keeps_order {
            let position = self.gone + self.open.len() as u64;
            for fragment in 0..expected.len() {
                let owners = self.by_name.entry(xxh3_64(expected.name(fragment))).or_default();
                owners.push_back((position, fragment as u32));
            }
        }
        let tally = Tally {
            fragments: expected.len() as u64,
            reads: expected.reads(),
            bases: expected.bases,
            paired: if expected.paired { expected.reads() } else { 0 },
            ..Tally::default()
        };
        let answer = Answer { number: expected.number, lane: expected.lane, tally, ..Answer::default() };
        let missing = expected.len();
        self.open.push_back(OpenChunk { expected, answer, owners: Vec::new(), missing });
    }

    /// Whether a read has not come back.
    pub(crate) fn owes(&self) -> bool {
        self.open.iter().any(|open| open.missing > 0)
    }

    /// Puts a line, without its end, to its read.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn place(&mut self, line: &[u8]) -> Result<(), String> {
        let fields = fields(line).ok_or_else(|| format!("wrote a line that is not a SAM record: '{}'", shown(line)))?;
        let same = self.current.is_some_and(|current| {
            self.is_of(self.at(current.chunk), current.fragment, fields.name) && !self.begins_another(&current, &fields)
        });
        if !same {
            self.close()?;
            self.current = Some(self.find(&fields, line)?);
        }
        self.add(&fields, line)
    }

    /// Whether a line is of a further fragment of the same name: the present one has all its mates, this one too, and
    /// it is not a further place of that mate.
    fn begins_another(&self, current: &CurrentFragment, fields: &LineFields<'_>) -> bool {
        let open = self.at(current.chunk);
        let complete = current.seen[0] && (current.seen[1] || !open.expected.paired);
        if !complete || !is_primary(fields.flags) {
            return false;
        }
        if self.rules.keeps_order {
            let (chunk, fragment) = self.settle(self.next);
            let open = self.open.get((chunk - self.gone) as usize);
            return open.is_some_and(|open| self.is_of(open, fragment, fields.name));
        }
        self.by_name.contains_key(&xxh3_64(fields.name))
    }

    /// Whether a record of this name is of that fragment.
    fn is_of(&self, open: &OpenChunk, fragment: usize, name: &[u8]) -> bool {
        open.expected.mate_named(fragment, name, self.rules).is_some()
    }

    /// Ends the present fragment.
    ///
    /// # Errors
    /// When a mate has not come.
    pub(crate) fn close(&mut self) -> Result<(), String> {
        let Some(current) = self.current.take() else { return Ok(()) };
        let open = self.at_mut(current.chunk);
        let (paired, kind) = (open.expected.paired, open.expected.kinds[current.fragment]);
        for mate in (0..if paired { 2 } else { 1 }).filter(|&mate| !current.seen[mate]) {
            if !kind.empty[mate] {
                let name = shown(open.expected.name(current.fragment));
                return Err(format!("left out mate {} of read '{name}'", mate + 1));
            }
            open.answer.tally.left_out += 1;
        }
        open.missing -= 1;
        self.reads_out += if paired { 2 } else { 1 };
        Ok(())
    }

    /// Takes the next chunk if all its reads have come back and no further record of them can come.
    pub(crate) fn take(&mut self, answer: &mut Answer) -> bool {
        let current = self.current.map(|current| current.chunk);
        if self.open.front().is_none_or(|open| open.missing > 0) || current == Some(self.gone) {
            return false;
        }
        let Some(mut open) = self.open.pop_front() else { return false };
        if !self.rules.keeps_order {
            open.put_in_order();
        }
        open.answer.comments = open.expected.comments;
        self.gone += 1;
        self.chunks_out += 1;
        *answer = open.answer;
        true
    }

    /// In words, what has not come back.
    pub(crate) fn missing(&self) -> String {
        let reads = self.reads_in - self.reads_out;
        let name = self.open.iter().find(|open| open.missing > 0).and_then(|open| {
            let came: std::collections::HashSet<u32> = open.owners.iter().copied().collect();
            let first = (0..open.expected.len()).find(|&i| !came.contains(&(i as u32)))?;
            Some(shown(open.expected.name(first)))
        });
        let first = name.map(|name| format!(", the first of them '{name}'")).unwrap_or_default();
        format!("{reads} of {} reads that it was given did not come back{first}", self.reads_in)
    }

    fn at(&self, chunk: u64) -> &OpenChunk {
        &self.open[(chunk - self.gone) as usize]
    }

    fn at_mut(&mut self, chunk: u64) -> &mut OpenChunk {
        &mut self.open[(chunk - self.gone) as usize]
    }

    /// The place itself, or the start of the next chunk that has fragments if it is the end of one.
    fn settle(&self, (mut chunk, mut fragment): (u64, usize)) -> (u64, usize) {
        while self.open.get((chunk - self.gone) as usize).is_some_and(|open| fragment >= open.expected.len()) {
            (chunk, fragment) = (chunk + 1, 0);
        }
        (chunk, fragment)
    }

    fn find(&mut self, fields: &LineFields<'_>, line: &[u8]) -> Result<CurrentFragment, String> {
        let name = fields.name;
        let unknown = || format!("wrote a record of read '{}', which it was not given or had done", shown(name));
        let (chunk, fragment) = if self.rules.keeps_order {
            let (chunk, fragment) = self.settle(self.next);
            let Some(open) = self.open.get((chunk - self.gone) as usize) else { return Err(unknown()) };
            if !self.is_of(open, fragment, name) {
                let due = shown(open.expected.name(fragment));
                return Err(format!("wrote a record of read '{}' where one of '{due}' was due", shown(name)));
            }
            self.next = (chunk, fragment + 1);
            (chunk, fragment)
        } else {
            let (chunk, fragment) = self.take_named(fields, line).ok_or_else(unknown)?;
            if !self.is_of(self.at(chunk), fragment, name) {
                return Err(unknown());
            }
            (chunk, fragment)
        };
        Ok(CurrentFragment { chunk, fragment, seen: [false; 2] })
    }

    /// Takes the fragment of this name, or of the name of its first mate where this is the second's. Of several of one
    /// name it is the first whose bases these are; the first of all if the program has changed them.
    fn take_named(&mut self, fields: &LineFields<'_>, line: &[u8]) -> Option<(u64, usize)> {
        let mut hash = xxh3_64(fields.name);
        if !self.by_name.contains_key(&hash) {
            hash = xxh3_64(&other_number(fields.name).collect::<Vec<u8>>());
        }
        let owners = self.by_name.get_mut(&hash)?;
        let mut of_bases = None;
        if owners.len() > 1 {
            let (digest, open, gone) = (digest_of_record(line, fields.flags), &self.open, self.gone);
            let has_bases = |&(chunk, fragment): &(u64, u32)| {
                open[(chunk - gone) as usize].expected.has_bases(fragment as usize, digest)
            };
            of_bases = owners.iter().position(has_bases);
        }
        let (chunk, fragment) = owners.remove(of_bases.unwrap_or(0))?;
        if owners.is_empty() {
            self.by_name.remove(&hash);
        }
        Some((chunk, fragment as usize))
    }

    /// Adds a line to the present fragment.
    fn add(&mut self, fields: &LineFields<'_>, line: &[u8]) -> Result<(), String> {
        let Some(mut current) = self.current else { return Ok(()) };
        let rules = self.rules;
        let open = self.at_mut(current.chunk);
        let Some(mate) = open.mate_of(current.fragment, fields, rules) else { return Err(self.without_mate(fields)) };
        if open.is_swapped(current.fragment, fields, rules) {
            return Err(format!(
                "wrote a record of read '{}', the second mate, as that of the first",
                shown(fields.name)
            ));
        }
        let primary = is_primary(fields.flags);
        if primary && current.seen[mate] && !rules.repeats_primary {
            return Err(format!("wrote a second primary record of read '{}'", shown(fields.name)));
        }
        open.count(fields, primary && !current.seen[mate], mate);
        current.seen[mate] |= primary;
        let start = open.answer.text.len();
        open.answer.text.extend_from_slice(line);
        let end = u32::try_from(open.answer.text.len()).map_err(|_| {
            format!(
                "wrote more than 4 GiB for {} reads: have it write fewer records per read, or \
                 give it smaller batches",
                open.expected.reads()
            )
        })?;
        let text = Span { start: start as u32, end };
        let (comment, fragment) = (open.expected.comment(current.fragment, mate), current.fragment as u32);
        let ReadMarks { failed_filters, has_qualities } =
            open.expected.marks[open.expected.read(current.fragment, mate)];
        let pair_flags = match (open.expected.paired, mate) {
            (false, _) => 0,
            (true, 0) => PAIRED | FIRST,
            (true, _) => PAIRED | LAST,
        };
        open.answer.lines.push(AnswerLine { text, comment, failed_filters, has_qualities, pair_flags, fragment });
        open.owners.push(current.fragment as u32);
        self.current = Some(current);
        Ok(())
    }

    /// What is wrong with a record that does not say which mate it is of.
    fn without_mate(&self, fields: &LineFields<'_>) -> String {
        let name = shown(fields.name);
        let hint = self.pairs.as_ref().map_or(String::new(), |hint| format!(": {hint}"));
        match fields.flags & (PAIRED | SECONDARY | SUPPLEMENTARY) {
            0 => format!("took the mates of pair '{name}' for single reads{hint}"),
            _ => format!("wrote a record of read '{name}' that does not say which mate it is of{hint}"),
        }
    }
}

impl OpenChunk {
    /// Which mate of a fragment a record is of: its flags say so. Where the program took the mates for single reads,
    /// it is the one of that name, or the one that has bases.
    fn mate_of(&self, fragment: usize, fields: &LineFields<'_>, rules: Promises) -> Option<usize> {
        let FragmentKind { numbered, empty } = self.expected.kinds[fragment];
        match (fields.flags & (FIRST | LAST), empty) {
            _ if !self.expected.paired => Some(0),
            (FIRST, _) => Some(0),
            (LAST, _) => Some(1),
            (0, _) if numbered => self.expected.mate_named(fragment, fields.name, rules),
            (0, [_, true]) => Some(0),
            (0, [true, _]) => Some(1),
            _ => None,
        }
    }

    /// Whether a record is of the second mate by its name, and of the first by its flags.
    fn is_swapped(&self, fragment: usize, fields: &LineFields<'_>, rules: Promises) -> bool {
        let is_first = fields.flags & (FIRST | LAST) == FIRST;
        let numbered = self.expected.paired && self.expected.kinds[fragment].numbered;
        is_first && numbered && self.expected.mate_named(fragment, fields.name, rules) == Some(1)
    }

    /// Counts a record; `counts` says whether it is the one that stands for its read.
    fn count(&mut self, fields: &LineFields<'_>, counts: bool, mate: usize) {
        let (tally, is) = (&mut self.answer.tally, |flag| fields.flags & flag != 0);
        if !counts {
            tally.other_records += 1;
            return;
        }
        tally.primary_records += 1;
        tally.mapped += u64::from(!is(UNMAPPED));
        if mate == 0 {
            tally.pairs.add(fields.flags, fields.template_length);
        }
        if self.expected.paired && is(PROPER_PAIR) {
            tally.properly_paired += 1;
            if mate == 0 {
                tally.insert.add(u32::try_from(fields.template_length.unsigned_abs()).unwrap_or(u32::MAX));
            }
        }
    }

    /// Puts the lines into the order of the reads.
    fn put_in_order(&mut self) {
        if self.owners.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.owners.len()).collect();
        order.sort_by_key(|&line| self.owners[line]);
        self.answer.lines = order.into_iter().map(|line| self.answer.lines[line]).collect();
    }
}

/// The fields of a line that are looked at; the whole of it is checked later.
fn fields(line: &[u8]) -> Option<LineFields<'_>> {
    let mut tabs = memchr::memchr_iter(b'\t', line);
    let (name_end, flags_end) = (tabs.next()?, tabs.next()?);
    let (template_start, template_end) = (tabs.nth(5)?, tabs.next()?);
    let number = |range: &[u8]| std::str::from_utf8(range).ok()?.parse::<i64>().ok();
    let name = bare(&line[..name_end]);
    let flags = u16::try_from(number(&line[name_end + 1..flags_end])?).ok()?;
    Some(LineFields { name, flags, template_length: number(&line[template_start + 1..template_end])? })
}

#[cfg(test)]
mod tests;
