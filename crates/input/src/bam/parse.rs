//! Makes FASTQ of the records of a chunk, and finds the reads in it. This is where an input is checked: every byte of
//! every record.

use super::fields::{fields, is_as_of_aligner, is_of_alignment, name as shown_key, write};
use super::mates::{Mate, SingleReads};
use super::record::{BamRecord, FoundRecord, RecordHead};
use crate::errors::{DAMAGED_RECORD, TRUNCATED_RECORD, odd_name, over_limit};
use crate::header::without_mate_number;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use zerohop_model::chunk::{Chunk, ReadSpans, Span, Text};
use zerohop_model::complement;
use zerohop_model::directed::Directed;
use zerohop_model::error::{Error, InputError, shown};
use zerohop_model::record::{FIRST, LAST, NO_QUALITY, QC_FAIL, REVERSE, UNMAPPED};
use zerohop_model::source::Parse;

/// The bases of their codes, two in a byte.
const PAIRS: [[u8; 2]; 256] = pairs(false);
/// The same, of the other strand: a table of its own, so that two bases are turned in one step.
const COMPLEMENTS: [[u8; 2]; 256] = pairs(true);

const fn pairs(is_reverse: bool) -> [[u8; 2]; 256] {
    let (mut letters, mut table, mut i) = (*b"=ACMGRSVTWYHKDBN", [[0; 2]; 256], 0);
    while i < 16 && is_reverse {
        letters[i] = complement::CODES.of(letters[i]);
        i += 1;
    }
    i = 0;
    while i < 256 {
        table[i] = [letters[i >> 4], letters[i & 15]];
        i += 1;
    }
    table
}

/// Best quality that FASTQ can hold.
const BEST_QUALITY: u8 = b'~' - b'!';
/// CIGAR operation of bases that are left out.
const HARD_CLIP: u8 = 5;
/// Those of bases of the read: M, I, S, = and X.
const OF_READ: [u8; 5] = [0, 1, 4, 7, 8];

/// The parser of one lane.
#[derive(Debug, Clone)]
pub(crate) struct BamParser {
    pub(crate) path: PathBuf,
    pub(crate) single_reads: SingleReads,
    /// Whether no read has qualities.
    pub(crate) lacks_qualities: bool,
    pub(crate) max_read_bases: usize,
    /// The IDs of the read groups of the header.
    pub(crate) read_groups: HashSet<Vec<u8>>,
    /// Whether reads keep their read groups.
    pub(crate) keeps_read_groups: bool,
    /// Other IDs for programs, by those that records have in PG.
    pub(crate) programs: HashMap<String, String>,
    /// Which fields go with the direction of a read.
    pub(crate) directed: Directed,
    /// Whether offsets are those of the file.
    pub(crate) has_places: bool,
}

impl Parse for BamParser {
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        chunk.forget_reads();
        chunk.comments_are_fields = true;
        let [records, mut fastq] = std::mem::take(&mut chunk.text);
        fastq.bytes.clear();
        (fastq.first_record, fastq.first_byte) = (records.first_record, records.first_byte);
        let mut parsing =
            ChunkParsing { parser: self, records: &records, number: 0, start: 0, fastq: &mut fastq.bytes };
        let outcome = parsing.fragments(chunk);
        // The memory of the records is for those of the next chunk.
        let spare = Text { bytes: cleared(records.bytes), ..Text::default() };
        chunk.text = [fastq, spare];
        Ok(outcome?)
    }

    fn path(&self, text: usize) -> Option<&Path> {
        (text == 0).then_some(&*self.path)
    }
}

fn cleared(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.clear();
    bytes
}

/// A chunk whose reads are being found.
struct ChunkParsing<'p> {
    parser: &'p BamParser,
    records: &'p Text,
    /// Number, in the chunk and from 1, of the present read, and where its record starts.
    number: u64,
    start: usize,
    fastq: &'p mut Vec<u8>,
}

/// A read, the beginning of its record, and the number of that in the chunk, from 1, and where it starts.
type MateRecord<'p> = (ReadSpans, RecordHead<'p>, (u64, usize));

impl<'p> ChunkParsing<'p> {
    fn fault(&self, name: &[u8], what: impl Into<String>) -> InputError {
        self.fault_at((self.number, self.start), name, what)
    }

    /// A fault of the read with this number in the chunk, whose record starts there.
    fn fault_at(&self, (number, start): (u64, usize), name: &[u8], what: impl Into<String>) -> InputError {
        let (record, byte) = (self.records.first_record + number, self.records.first_byte + start as u64);
        let mut fault = InputError::new(&self.parser.path, what).at(record, byte).read(name);
        fault.byte = fault.byte.filter(|_| self.parser.has_places);
        fault
    }

    fn fragments(&mut self, chunk: &mut Chunk) -> Result<(), InputError> {
        let (mut at, mut open): (usize, Option<MateRecord<'p>>) = (0, None);
        let (mut last_pair, mut pairs, mut single): (&[u8], _, _) = (b"", 0, 0);
        while let Some(bytes) = self.records.bytes.get(at..).filter(|bytes| !bytes.is_empty()) {
            self.number += 1;
            self.start = at;
            let record = self.record(bytes)?;
            let head = record.head;
            at += head.size;
            if !head.is_read() {
                self.number -= 1;
                continue;
            }
            let read = (self.read(&record)?, head, (self.number, self.start));
            let name = without_mate_number(head.name);
            if head.is_paired() && name == last_pair {
                let what = "more than two reads with this name follow one another: was it merged from files that \
                            share reads?";
                return Err(self.fault(name, what));
            }
            if let Some(first) = open.take_if(|first| head.is_paired() && without_mate_number(first.1.name) == name) {
                self.push_pair(chunk, first, read)?;
                (last_pair, pairs) = (name, pairs + 1);
                continue;
            }
            last_pair = b"";
            if let Some(orphan) = open.take() {
                self.push_single(chunk, orphan)?;
            }
            if head.is_paired() {
                open = Some(read);
            } else {
                self.push_single(chunk, read)?;
                single += 1;
            }
        }
        if let Some(orphan) = open {
            self.push_single(chunk, orphan)?;
        }
        if let SingleReads::Taken(seen) = &self.parser.single_reads {
            seen.add(pairs, single);
        }
        Ok(())
    }

    /// Adds a read whose mate does not follow it.
    fn push_single(&self, chunk: &mut Chunk, (read, head, place): MateRecord<'_>) -> Result<(), InputError> {
        let mate = if head.is_paired() { Mate::Lost } else { Mate::None };
        let checked = self.parser.single_reads.check(mate, &head);
        checked.map_err(|what| self.fault_at(place, without_mate_number(head.name), what))?;
        chunk.push(read, None);
        Ok(())
    }

    /// Adds two reads of one name, of which either may be the first mate.
    fn push_pair(&self, chunk: &mut Chunk, one: MateRecord<'_>, two: MateRecord<'_>) -> Result<(), InputError> {
        let fault = |read: &MateRecord<'_>, what| self.fault_at(read.2, without_mate_number(read.1.name), what);
        self.parser.single_reads.check(Mate::Follows, &one.1).map_err(|what| fault(&one, what))?;
        match [one.1, two.1].map(|head| head.flags & (FIRST | LAST)) {
            [FIRST, LAST] => chunk.push(one.0, Some(two.0)),
            [LAST, FIRST] => chunk.push(two.0, Some(one.0)),
            _ => {
                let what = "the flags of the two reads with this name do not say which is the first and which the \
                            second of the pair (0x40 and 0x80)";
                return Err(fault(&two, what.to_owned()));
            }
        }
        Ok(())
    }

    fn record(&self, bytes: &'p [u8]) -> Result<BamRecord<'p>, InputError> {
        let cut_off = || self.fault(b"", TRUNCATED_RECORD);
        match RecordHead::read(bytes) {
            FoundRecord::Head(head) => BamRecord::of(head, bytes).ok_or_else(cut_off),
            FoundRecord::CutOff => Err(cut_off()),
            FoundRecord::Damaged => Err(self.fault(b"", DAMAGED_RECORD)),
        }
    }

    /// Appends a read and finds its parts.
    fn read(&mut self, record: &BamRecord<'_>) -> Result<ReadSpans, InputError> {
        let name = without_mate_number(record.head.name);
        self.check(record, name)?;
        let is_reverse = record.head.flags & REVERSE != 0;
        self.fastq.push(if self.parser.lacks_qualities { b'>' } else { b'@' });
        // A number of the mate stays behind it: so nobody takes one more for such.
        let start = self.fastq.len();
        self.append(record.head.name);
        let name_span = Span { start: start as u32, end: (start + name.len()) as u32 };
        self.fastq.push(b' ');
        let start = self.fastq.len();
        self.write_fields(record, name)?;
        if is_reverse && let Cow::Owned(turned) = self.parser.directed.turned(&self.fastq[start..]) {
            self.fastq.truncate(start);
            self.fastq.extend_from_slice(&turned);
        }
        let comment = self.span_from(start);
        if self.fastq.len() == start {
            self.fastq.pop();
        }
        self.fastq.push(b'\n');
        let start = self.fastq.len();
        write_bases(record, is_reverse, self.fastq);
        let seq = self.span_from(start);
        self.fastq.push(b'\n');
        let qual = if self.parser.lacks_qualities {
            None
        } else {
            self.fastq.extend_from_slice(b"+\n");
            let start = self.fastq.len();
            self.fastq.extend(record.qualities.iter().map(|q| q + b'!'));
            if is_reverse {
                self.fastq[start..].reverse();
            }
            let qual = self.span_from(start);
            self.fastq.push(b'\n');
            Some(qual)
        };
        if u32::try_from(self.fastq.len()).is_err() {
            let what = "the reads of one batch have more than 4 GiB of text: make batches smaller (-K)";
            return Err(self.fault(name, what));
        }
        let failed_filters = record.head.flags & QC_FAIL != 0;
        let comment = if comment.start == comment.end { Span::default() } else { comment };
        Ok(ReadSpans { text: 0, name: name_span, comment, seq, qual, failed_filters })
    }

    fn check(&self, record: &BamRecord<'_>, name: &[u8]) -> Result<(), InputError> {
        if matches!(name, b"" | b"*") {
            return Err(self.fault(b"", "the read has no name"));
        }
        if let Some(what) = odd_name(name) {
            return Err(self.fault(name, what));
        }
        if record.head.bases as usize > self.parser.max_read_bases {
            return Err(self.fault(name, over_limit(self.parser.max_read_bases as u64)));
        }
        let operations = record.operations();
        let codes = || operations.chunks_exact(4).map(|op| op[0] & 15);
        if record.head.bases == 0 && codes().any(|code| OF_READ.contains(&code)) {
            return Err(self.fault(name, "it was aligned, but its bases are not in the file"));
        }
        if [codes().next(), codes().next_back()].contains(&Some(HARD_CLIP)) {
            let what = "it is hard-clipped: the bases that were clipped off are not in the file; take the reads from \
                        before they were aligned";
            return Err(self.fault(name, what));
        }
        let worst = record.qualities.iter().fold(0, |worst, q| worst.max(*q));
        match self.parser.lacks_qualities {
            true if record.qualities.iter().any(|q| *q != NO_QUALITY) => {
                Err(self.fault(name, "it has qualities, and the reads before have none: align them separately"))
            }
            false if record.qualities.first() == Some(&NO_QUALITY) => {
                Err(self.fault(name, "it has no qualities, and the reads before have some: align them separately"))
            }
            false if worst > BEST_QUALITY => {
                Err(self
                    .fault(name, format!("it has a quality of {worst}; the best that SAM allows is {BEST_QUALITY}")))
            }
            _ => Ok(()),
        }
    }

    /// Appends the optional fields, with tabs between them.
    fn write_fields(&mut self, record: &BamRecord<'_>, name: &[u8]) -> Result<(), InputError> {
        let start = self.fastq.len();
        // Aligners write fields of reads, too, that they could not align: bwa an AS and an XS of 0.
        let was_aligned = LazyCell::new(|| {
            let mut all = fields(record.fields).map_while(Result::ok);
            record.head.flags & UNMAPPED == 0 || all.any(|field| is_of_alignment(&field))
        });
        for field in fields(record.fields) {
            let mut field = field.map_err(|what| self.fault(name, what))?;
            let is_group = field.key == *b"RG";
            let is_of_aligner = is_of_alignment(&field) || is_as_of_aligner(&field) && *was_aligned;
            if is_of_aligner || is_group && !self.parser.keeps_read_groups {
                continue;
            }
            if is_group && !field.text().is_some_and(|id| self.parser.read_groups.contains(id)) {
                let what = format!(
                    "its {} is '{}', which the header does not name: give the reads another read group (-R)",
                    shown_key(field.key),
                    shown(field.value)
                );
                return Err(self.fault(name, what));
            }
            if self.fastq.len() > start {
                self.fastq.push(b'\t');
            }
            if field.key == *b"PG"
                && let Some(id) = field.text().and_then(|id| self.parser.programs.get(std::str::from_utf8(id).ok()?))
            {
                field.value = id.as_bytes();
            }
            write(&field, self.fastq).map_err(|what| {
                let what = format!("{what}: 'samtools view -b -x {}' leaves it out", shown_key(field.key));
                self.fault(name, what)
            })?;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Span {
        let start = self.fastq.len();
        self.fastq.extend_from_slice(bytes);
        self.span_from(start)
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.fastq.len() as u32 }
    }
}

/// Appends the bases, in the direction in which they were sequenced.
pub(super) fn write_bases(record: &BamRecord<'_>, is_reverse: bool, out: &mut Vec<u8>) {
    let (start, count) = (out.len(), record.head.bases as usize);
    let table = if is_reverse { &COMPLEMENTS } else { &PAIRS };
    out.resize(start + 2 * record.bases.len(), 0);
    let pairs = out[start..].as_chunks_mut::<2>().0;
    pairs.iter_mut().zip(record.bases).for_each(|(pair, two)| *pair = table[usize::from(*two)]);
    out.truncate(start + count);
    if is_reverse {
        out[start..].reverse();
    }
}

/// The bases of the reads of a text of records, as far as they are whole and undamaged.
pub(crate) fn sequences(mut text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    std::iter::from_fn(move || {
        loop {
            let FoundRecord::Head(head) = RecordHead::read(text) else { return None };
            let record = BamRecord::of(head, text)?;
            text = text.get(head.size..).unwrap_or_default();
            if head.is_read() {
                let mut bases = Vec::with_capacity(head.bases as usize + 1);
                write_bases(&record, head.flags & REVERSE != 0, &mut bases);
                return Some(bases);
            }
        }
    })
}
