//! BAM (SAMv1, section 4.2), as BGZF blocks of its own per chunk, so that chunks can be put one after the other.

use crate::bgzf::BlockCompressor;
use crate::tags::{RecordContext, push_comment, push_integer, push_text};
use zerohop_model::error::Error;
use zerohop_model::record::{Record, RecordWriter, TagValue};
use zerohop_model::sink::Encoder;

/// Longest read name, without its end.
const MAX_NAME: usize = 254;
/// Most CIGAR operations that the record itself can hold; more go into the tag CG.
const MAX_CIGAR: usize = 65535;

/// Codes of the bases `=ACMGRSVTWYHKDBN`; anything else counts as N.
const BASE_CODES: [u8; 256] = {
    let (letters, mut table, mut i) = (*b"=ACMGRSVTWYHKDBN", [15u8; 256], 0);
    while i < 16 {
        table[letters[i] as usize] = i as u8;
        table[letters[i].to_ascii_lowercase() as usize] = i as u8;
        i += 1;
    }
    table
};

/// Writes records as BAM.
pub(crate) struct BamEncoder<'h> {
    context: RecordContext<'h>,
    compressor: BlockCompressor,
    /// Records of the chunk, not compressed.
    raw: Vec<u8>,
    out: Vec<u8>,
}

impl<'h> BamEncoder<'h> {
    pub(crate) fn new(context: RecordContext<'h>, compressor: BlockCompressor) -> Self {
        BamEncoder { context, compressor, raw: Vec::new(), out: Vec::new() }
    }
}

/// The bin of the smallest interval of the index scheme that holds `start..end` (SAMv1, section 5.3).
fn bin(start: i64, end: i64) -> u16 {
    let last = end - 1;
    for (shift, first) in [(14, 4681), (17, 585), (20, 73), (23, 9), (26, 1)] {
        if start >> shift == last >> shift {
            return (first + (start >> shift)) as u16;
        }
    }
    0
}

fn wrong(record: &Record<'_>, what: impl Into<String>) -> Error {
    Error::Record { read: String::from_utf8_lossy(record.name).into_owned(), what: what.into() }
}

impl RecordWriter for BamEncoder<'_> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), Error> {
        if record.name.len() > MAX_NAME {
            return Err(wrong(record, "its name has more than 254 bytes, which BAM cannot hold: write SAM"));
        }
        let out = &mut self.raw;
        let start = out.len();
        let integer = |value: Option<u32>| value.map_or(-1i32, |v| v as i32).to_le_bytes();
        let spans: u32 = record.cigar.iter().filter(|op| op.consumes_reference()).map(|op| op.length()).sum();
        let position = record.locus.map_or(-1, |l| i64::from(l.position));
        let in_tag = record.cigar.len() > MAX_CIGAR;
        let seq_length = record.seq.len() as u32;
        let stand_in = [seq_length << 4 | 4, spans << 4 | 3];

        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&integer(record.locus.map(|l| l.contig)));
        out.extend_from_slice(&integer(record.locus.map(|l| l.position)));
        out.extend_from_slice(&[record.name.len() as u8 + 1, record.mapq]);
        out.extend_from_slice(&bin(position, position + i64::from(spans.max(1))).to_le_bytes());
        let operations = if in_tag { stand_in.len() } else { record.cigar.len() };
        out.extend_from_slice(&(operations as u16).to_le_bytes());
        out.extend_from_slice(&record.flags.to_le_bytes());
        out.extend_from_slice(&seq_length.to_le_bytes());
        out.extend_from_slice(&integer(record.mate_locus.map(|l| l.contig)));
        out.extend_from_slice(&integer(record.mate_locus.map(|l| l.position)));
        out.extend_from_slice(&record.template_length.to_le_bytes());
        out.extend_from_slice(record.name);
        out.push(0);
        if in_tag {
            stand_in.iter().for_each(|op| out.extend_from_slice(&op.to_le_bytes()));
        } else {
            record.cigar.iter().for_each(|op| out.extend_from_slice(&op.0.to_le_bytes()));
        }
        let code = |base: u8| BASE_CODES[usize::from(base)];
        let (pairs, rest) = record.seq.as_chunks::<2>();
        out.extend(pairs.iter().map(|[a, b]| code(*a) << 4 | code(*b)));
        out.extend(rest.first().map(|a| code(*a) << 4));
        if record.qual.is_empty() {
            out.resize(out.len() + record.seq.len(), 0xff);
        } else {
            out.extend(record.qual.iter().map(|q| q.wrapping_sub(33)));
        }
        for tag in record.tags {
            match tag.value {
                TagValue::Int(value) => push_integer(out, tag.key, value),
                TagValue::Text(text) => push_text(out, tag.key, text),
            }
        }
        if let Some(id) = self.context.read_group() {
            push_text(out, *b"RG", id);
        }
        if in_tag {
            out.extend_from_slice(b"CGBI");
            out.extend_from_slice(&(record.cigar.len() as u32).to_le_bytes());
            record.cigar.iter().for_each(|op| out.extend_from_slice(&op.0.to_le_bytes()));
        }
        if self.context.comments && !record.comment.is_empty() {
            push_comment(out, record.name, record.comment)?;
        }
        let size = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&size.to_le_bytes());
        Ok(())
    }
}

impl Encoder for BamEncoder<'_> {
    fn begin(&mut self, lane: u32, buffer: Vec<u8>) {
        self.context.lane = lane as usize;
        self.raw.clear();
        self.out = buffer;
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        self.compressor.compress(&self.raw, &mut self.out)?;
        Ok(std::mem::take(&mut self.out))
    }

    fn records(&mut self) -> &mut dyn RecordWriter {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_the_specification() {
        assert_eq!(bin(-1, 0), 4680);
        assert_eq!(bin(0, 1), 4681);
        assert_eq!(bin(0, 1 << 14), 4681);
        assert_eq!(bin(0, (1 << 14) + 1), 585);
        assert_eq!(bin(0, 1 << 29), 0);
        assert_eq!(bin(1 << 26, (1 << 26) + 5), 4681 + (1 << 12));
    }
}
