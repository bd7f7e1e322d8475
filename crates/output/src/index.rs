//! The index of a sorted BAM file: BAI (SAMv1, section 5.2) or CSI (CSIv1), made in parts that are put together.
//!
//! A virtual offset is the offset of a BGZF block, times 2^16, plus a place in its data. In a part, blocks are counted
//! from where the part begins; where that is becomes known at the end.

use crate::bins::{BAI_DEPTH, MIN_SHIFT, bin, first_bin};
use crate::format::Format;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use zerohop_bgzf::{BlockCompressor, END_MARKER};
use zerohop_cram::record::Fixed;
use zerohop_model::error::Error;
use zerohop_model::record::{CigarOp, Contig, UNMAPPED};

/// The format of an index file beside the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexFormat {
    /// BAI, for contigs of up to 2^29 bases.
    Bai,
    /// CSI, for contigs of any length.
    Csi,
    /// CRAI, for CRAM.
    Crai,
}

/// Longest contig that BAI can index, in bases.
const BAI_BASES: u64 = 1 << (MIN_SHIFT + 3 * BAI_DEPTH);

impl IndexFormat {
    /// Those that a file in this format can have.
    pub fn of(format: Format) -> &'static [Self] {
        match format {
            Format::Sam | Format::Paf | Format::Abundances => &[],
            Format::Bam { .. } => &[IndexFormat::Bai, IndexFormat::Csi],
            Format::Cram { .. } => &[IndexFormat::Crai],
        }
    }

    /// The one of BAM that these contigs need.
    pub fn for_contigs(contigs: &[Contig]) -> Self {
        match contigs.iter().any(|contig| contig.length > BAI_BASES) {
            true => IndexFormat::Csi,
            false => IndexFormat::Bai,
        }
    }

    /// What the name of the index adds to that of the file.
    pub fn suffix(self) -> &'static str {
        match self {
            IndexFormat::Bai => ".bai",
            IndexFormat::Csi => ".csi",
            IndexFormat::Crai => ".crai",
        }
    }

    /// Levels of bins above the smallest.
    fn depth(self, contigs: &[Contig]) -> u32 {
        let longest = contigs.iter().map(|contig| contig.length).max().unwrap_or(0);
        match self {
            IndexFormat::Bai | IndexFormat::Crai => BAI_DEPTH,
            // As many as htslib has (hts_idx_init in sam.c), which adds 256 bases.
            IndexFormat::Csi => (0..).find(|depth| longest + 256 <= 1 << (MIN_SHIFT + 3 * depth)).unwrap_or(BAI_DEPTH),
        }
    }
}

/// Level of the compression of CSI.
const CSI_LEVEL: u8 = 6;

/// From one virtual offset up to another.
type Range = (u64, u64);

/// What an index says of one contig.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct ContigIndex {
    /// Where the records of each bin lie.
    bins: BTreeMap<u32, Vec<Range>>,
    /// For each stretch of 2^14 bases, where the first record that touches it begins.
    first: BTreeMap<u32, u64>,
    mapped: u64,
    unmapped: u64,
    /// Where all its records lie.
    all: Option<Range>,
}

/// What an index says of some records that lie one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecordIndex {
    format: IndexFormat,
    /// What CSI holds besides: of lines, how tabix reads them.
    auxiliary: Vec<u8>,
    depth: u32,
    contigs: BTreeMap<u32, ContigIndex>,
    /// Records without a contig.
    without_contig: u64,
    /// Contig and bin of the last record, if it has a contig: it ends where the next one begins, and that is known when
    /// there is one.
    last: Option<(u32, u32)>,
}

impl RecordIndex {
    pub(crate) fn new(format: IndexFormat, contigs: &[Contig]) -> Self {
        let (depth, contigs) = (format.depth(contigs), BTreeMap::new());
        RecordIndex { format, auxiliary: Vec::new(), depth, contigs, without_contig: 0, last: None }
    }

    /// Of lines of BED: an index in the format CSI, with what tabix keeps there (tabix.pdf of htslib, section "tabix
    /// index format").
    pub(crate) fn of_lines(contigs: &[Contig]) -> Self {
        /// Positions are counted from 0, and do not include the last; columns from 1.
        const UCSC: i32 = 0x10000;
        const COLUMNS: [i32; 3] = [1, 2, 3];
        let names: Vec<u8> = contigs.iter().flat_map(|contig| [contig.name.as_bytes(), b"\0"].concat()).collect();
        let [name, begin, end] = COLUMNS;
        let numbers = [UCSC, name, begin, end, b'#'.into(), 0, names.len() as i32];
        let auxiliary = numbers.iter().flat_map(|number| number.to_le_bytes()).chain(names).collect();
        RecordIndex { auxiliary, ..RecordIndex::new(IndexFormat::Csi, contigs) }
    }

    pub(crate) fn format(&self) -> IndexFormat {
        self.format
    }

    /// An empty one of the same kind, to be appended to this: without what a file holds but once.
    pub(crate) fn like(&self) -> Self {
        RecordIndex { auxiliary: Vec::new(), contigs: BTreeMap::new(), without_contig: 0, last: None, ..*self }
    }

    /// Adds a record in the form of BAM that lies there. Records come in the order of their coordinates.
    pub(crate) fn add(&mut self, record: &[u8], at: Range) {
        self.extend_last(at.0);
        match PlacedRecord::of(record) {
            Some(placed) => self.place(placed, at),
            None => self.without_contig += 1,
        }
    }

    /// Adds a line that lies there, of these positions of a contig. Lines come in the order of where they begin.
    pub(crate) fn add_line(&mut self, contig: u32, positions: std::ops::Range<u64>, at: Range) {
        self.extend_last(at.0);
        // As far as bins reach; a line without a position counts as if it had the next one.
        let behind = 1 << (MIN_SHIFT + 3 * self.depth);
        let start = positions.start.min(behind - 1);
        let end = positions.end.clamp(start + 1, behind);
        self.place(PlacedRecord { contig, start, end, is_mapped: true }, at);
    }

    fn place(&mut self, PlacedRecord { contig, start, end, is_mapped }: PlacedRecord, at: Range) {
        let bin = bin(start as i64, end as i64, self.depth);
        self.last = Some((contig, bin));
        let contig = self.contigs.entry(contig).or_default();
        push(contig.bins.entry(bin).or_default(), at);
        for stretch in (start >> MIN_SHIFT)..=((end - 1) >> MIN_SHIFT) {
            contig.first.entry(stretch as u32).or_insert(at.0);
        }
        match is_mapped {
            true => contig.mapped += 1,
            false => contig.unmapped += 1,
        }
        contig.all = Some((contig.all.map_or(at.0, |(begin, _)| begin), at.1));
    }

    /// Has the last record end where another one begins, maybe in the next block: a reader seeks wherever a range does
    /// not begin where the one before it ends (hts_itr_next in htslib, which writes indexes so, too:
    /// hts_idx_amend_last).
    fn extend_last(&mut self, begin: u64) {
        let Some((contig, bin)) = self.last.take() else { return };
        let Some(contig) = self.contigs.get_mut(&contig) else { return };
        contig.all.iter_mut().for_each(|all| all.1 = begin);
        let range = contig.bins.get_mut(&bin).and_then(|ranges| ranges.last_mut());
        range.into_iter().for_each(|range| range.1 = begin);
    }

    /// Adds an index of records that follow, whose part begins at `offset`, in bytes.
    pub(crate) fn append(&mut self, part: RecordIndex, offset: u64) {
        if part.contigs.is_empty() && part.without_contig == 0 {
            return;
        }
        self.extend_last(offset << 16);
        self.last = part.last;
        let moved = |(begin, end): Range| (begin + (offset << 16), end + (offset << 16));
        for (number, part) in part.contigs {
            let contig = self.contigs.entry(number).or_default();
            for (bin, ranges) in part.bins {
                let bin = contig.bins.entry(bin).or_default();
                ranges.into_iter().for_each(|range| push(bin, moved(range)));
            }
            for (stretch, first) in part.first {
                contig.first.entry(stretch).or_insert(first + (offset << 16));
            }
            contig.mapped += part.mapped;
            contig.unmapped += part.unmapped;
            if let Some((begin, end)) = part.all.map(moved) {
                contig.all = Some((contig.all.map_or(begin, |(first, _)| first), end));
            }
        }
        self.without_contig += part.without_contig;
    }

    /// The bytes of the index file; `contigs` is their number. CSI is compressed.
    ///
    /// # Errors
    /// [`Error::Internal`] if compression fails.
    pub(crate) fn file(&self, contigs: usize) -> Result<Vec<u8>, Error> {
        let bytes = self.bytes(contigs);
        if self.format == IndexFormat::Bai {
            return Ok(bytes);
        }
        let mut file = Vec::new();
        BlockCompressor::new(CSI_LEVEL).compress(&bytes, &mut file)?;
        file.extend_from_slice(&END_MARKER);
        Ok(file)
    }

    fn bytes(&self, contigs: usize) -> Vec<u8> {
        let mut out = Vec::new();
        if self.format == IndexFormat::Csi {
            out.extend_from_slice(b"CSI\x01");
            let numbers = [MIN_SHIFT, self.depth, self.auxiliary.len() as u32];
            numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
            out.extend_from_slice(&self.auxiliary);
        } else {
            out.extend_from_slice(b"BAI\x01");
        }
        put_count(&mut out, contigs);
        let nothing = ContigIndex::default();
        for number in 0..contigs as u32 {
            self.put_contig(self.contigs.get(&number).unwrap_or(&nothing), &mut out);
        }
        out.extend_from_slice(&self.without_contig.to_le_bytes());
        out
    }

    fn put_contig(&self, contig: &ContigIndex, out: &mut Vec<u8>) {
        let linear = contig.linear();
        put_count(out, contig.bins.len() + usize::from(contig.all.is_some()));
        for (&bin, ranges) in &contig.bins {
            out.extend_from_slice(&bin.to_le_bytes());
            if self.format == IndexFormat::Csi {
                let first = linear.get(self.stretch(bin)).or(linear.last()).copied().unwrap_or(0);
                out.extend_from_slice(&first.to_le_bytes());
            }
            put_ranges(out, ranges);
        }
        if let Some(all) = contig.all {
            // A bin of its own holds the counts (SAMv1, section 5.2).
            out.extend_from_slice(&(first_bin(self.depth + 1) + 1).to_le_bytes());
            if self.format == IndexFormat::Csi {
                out.extend_from_slice(&0u64.to_le_bytes());
            }
            put_ranges(out, &[all, (contig.mapped, contig.unmapped)]);
        }
        if self.format == IndexFormat::Bai {
            put_count(out, linear.len());
            linear.iter().for_each(|first| out.extend_from_slice(&first.to_le_bytes()));
        }
    }

    /// The first stretch of 2^14 bases of a bin.
    fn stretch(&self, bin: u32) -> usize {
        let level = (0..=self.depth).rev().find(|&level| bin >= first_bin(level)).unwrap_or(0);
        ((bin - first_bin(level)) as usize) << (3 * (self.depth - level))
    }
}

impl ContigIndex {
    /// For each stretch of 2^14 bases up to the last that has records, where to begin to read: a stretch without
    /// records is as the one before.
    fn linear(&self) -> Vec<u64> {
        let Some((&last, _)) = self.first.last_key_value() else { return Vec::new() };
        let mut before = 0;
        let mut at = |stretch| {
            before = self.first.get(&stretch).copied().unwrap_or(before);
            before
        };
        (0..=last).map(&mut at).collect()
    }
}

/// Adds a range; one that begins where the one before ends, or in the same block, is joined with it, as htslib does.
fn push(ranges: &mut Vec<Range>, range: Range) {
    match ranges.last_mut() {
        Some(last) if last.1 >> 16 >= range.0 >> 16 => last.1 = range.1,
        _ => ranges.push(range),
    }
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn put_ranges(out: &mut Vec<u8>, ranges: &[Range]) {
    put_count(out, ranges.len());
    for (begin, end) in ranges {
        out.extend_from_slice(&begin.to_le_bytes());
        out.extend_from_slice(&end.to_le_bytes());
    }
}

/// A record with a contig.
struct PlacedRecord {
    contig: u32,
    start: u64,
    end: u64,
    is_mapped: bool,
}

impl PlacedRecord {
    /// Of a record as BAM has it, with its length before it; none without a contig. (A CIGAR that stands in for a long
    /// one covers as many bases of the reference.)
    fn of(record: &[u8]) -> Option<Self> {
        let (fixed, rest) = Fixed::split(record)?;
        let contig = u32::try_from(fixed.contig).ok()?;
        let start = u64::try_from(fixed.position).unwrap_or(0);
        let is_mapped = fixed.flags & UNMAPPED == 0;
        let cigar = rest.get(fixed.name_bytes..).unwrap_or_default().as_chunks().0;
        let operations = cigar.iter().take(if is_mapped { fixed.operations } else { 0 });
        let operations = operations.map(|op| CigarOp(u32::from_le_bytes(*op))).filter(|op| op.consumes_reference());
        let bases: u64 = operations.map(|op| u64::from(op.length())).sum();
        Some(PlacedRecord { contig, start, end: start + bases.max(1), is_mapped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_stretches_are_those_of_the_specification() {
        let contigs = [Contig::new("c", 1 << 29)];
        let index = RecordIndex::new(IndexFormat::for_contigs(&contigs), &contigs);
        assert_eq!((index.format, index.depth), (IndexFormat::Bai, 5));
        assert_eq!((index.stretch(4683), index.stretch(586), index.stretch(0)), (2, 8, 0));
        assert_eq!(IndexFormat::for_contigs(&[Contig::new("c", (1 << 29) + 1)]), IndexFormat::Csi);
    }

    #[test]
    fn parts_give_the_index_of_the_whole() {
        let contigs = [Contig::new("a", 100_000), Contig::new("b", 100_000)];
        let record = |contig: i32, position: i32, flags: u16| {
            let mut record = vec![0; 40];
            record[4..8].copy_from_slice(&contig.to_le_bytes());
            record[8..12].copy_from_slice(&position.to_le_bytes());
            record[12] = 2;
            record[16] = 1;
            record[18..20].copy_from_slice(&flags.to_le_bytes());
            record.splice(38.., (150u32 << 4).to_le_bytes());
            record
        };
        let records = [
            (0, 5, 0),
            (0, 5, 0),
            (0, 16_300, 0),
            (0, 50_000, 4),
            (0, 50_000, 0),
            (1, 0, 0),
            (1, 70_000, 0),
            (-1, -1, 4),
        ];
        let records = records.map(|(contig, position, flags)| record(contig, position, flags));
        // Each fills a block, and ends in it: the next one begins in the next block.
        let at = |number: usize| ((number as u64 * 100) << 16, (number as u64 * 100) << 16 | 200);
        for format in [IndexFormat::Bai, IndexFormat::Csi] {
            let mut whole = RecordIndex::new(format, &contigs);
            records.iter().enumerate().for_each(|(number, record)| whole.add(record, at(number)));
            let ranges: Vec<_> = whole.contigs.values().flat_map(|contig| contig.bins.values().flatten()).collect();
            let ends = |number: usize| (number as u64 * 100) << 16;
            let expected = [(0, 2), (2, 3), (3, 5), (5, 6), (6, 7)].map(|(first, next)| (ends(first), ends(next)));
            let mut sorted: Vec<Range> = ranges.into_iter().copied().collect();
            sorted.sort_unstable();
            assert_eq!(sorted, expected, "each begins where the one before ends");
            for cut in 0..=records.len() {
                let mut parts = [whole.like(), whole.like()];
                for (number, record) in records.iter().enumerate() {
                    let begins = if number < cut { 0 } else { cut };
                    parts[usize::from(number >= cut)].add(record, at(number - begins));
                }
                let (mut both, [first, second]) = (whole.like(), parts);
                both.append(first, 0);
                both.append(second, cut as u64 * 100);
                assert_eq!(both.bytes(2), whole.bytes(2), "{format:?} {cut}");
            }
        }
    }
}
