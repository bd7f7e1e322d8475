//! SAM text (SAMv1, section 1.4).

use crate::line::LineParser;
use crate::tags::RecordContext;
use zerohop_model::error::Error;
use zerohop_model::record::{Locus, Record, RecordWriter, TagValue};
use zerohop_model::sink::Encoder;

/// Writes records as lines of text.
pub(crate) struct SamEncoder<'h> {
    context: RecordContext<'h>,
    parser: LineParser<'h>,
    /// What a line's optional fields would be in BAM: translating them is how they are checked, so that both formats take
    /// the same lines.
    translated: Vec<u8>,
    out: Vec<u8>,
}

impl<'h> SamEncoder<'h> {
    pub(crate) fn new(context: RecordContext<'h>, parser: LineParser<'h>) -> Self {
        SamEncoder { context, parser, translated: Vec::new(), out: Vec::new() }
    }

    fn text(&mut self, text: &[u8]) {
        self.out.push(b'\t');
        self.out.extend_from_slice(text);
    }

    fn integer(&mut self, value: i64) {
        self.text(itoa::Buffer::new().format(value).as_bytes());
    }

    fn text_or_star(&mut self, text: &[u8]) {
        self.text(if text.is_empty() { b"*" } else { text });
    }

    fn contig(&mut self, contig: u32) {
        let name = self.context.contig_name(contig);
        self.text(name);
    }

    /// RNAME and POS, or RNEXT and PNEXT: there `=` stands for `same`.
    fn locus(&mut self, locus: Option<Locus>, same: Option<u32>) -> i64 {
        match locus {
            None => self.text(b"*"),
            Some(locus) if same == Some(locus.contig) => self.text(b"="),
            Some(locus) => self.contig(locus.contig),
        }
        locus.map_or(0, |l| i64::from(l.position) + 1)
    }

    /// Ends a line with what the output adds.
    fn end(&mut self, has_read_group: bool, comment: &[u8]) {
        if let Some(id) = self.context.read_group().filter(|_| !has_read_group) {
            self.out.extend_from_slice(b"\tRG:Z:");
            self.out.extend_from_slice(id);
        }
        if self.context.comments && !comment.is_empty() {
            self.text(comment);
        }
        self.out.push(b'\n');
    }
}

impl RecordWriter for SamEncoder<'_> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), Error> {
        self.out.extend_from_slice(record.name);
        self.integer(i64::from(record.flags));
        let position = self.locus(record.locus, None);
        self.integer(position);
        self.integer(i64::from(record.mapq));
        if record.cigar.is_empty() {
            self.text(b"*");
        } else {
            self.out.push(b'\t');
            for op in record.cigar {
                self.out.extend_from_slice(itoa::Buffer::new().format(op.length()).as_bytes());
                self.out.push(op.letter());
            }
        }
        let mate_position = self.locus(record.mate_locus, record.locus.map(|l| l.contig));
        self.integer(mate_position);
        self.integer(i64::from(record.template_length));
        self.text_or_star(record.seq);
        self.text_or_star(record.qual);
        for tag in record.tags {
            self.text(&tag.key);
            match tag.value {
                TagValue::Int(value) => {
                    self.out.extend_from_slice(b":i:");
                    self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                }
                TagValue::Text(text) => {
                    self.out.extend_from_slice(b":Z:");
                    self.out.extend_from_slice(text);
                }
            }
        }
        self.end(false, record.comment);
        Ok(())
    }
}

impl Encoder for SamEncoder<'_> {
    fn begin(&mut self, lane: u32, buffer: Vec<u8>) {
        self.context.lane = lane as usize;
        self.out = buffer;
    }

    fn line(&mut self, line: &[u8], comment: &[u8]) -> Result<(), Error> {
        self.translated.clear();
        let has_read_group = self.parser.parse(line)?.push_optional(&mut self.translated)?;
        self.out.extend_from_slice(line);
        self.end(has_read_group, comment);
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        Ok(std::mem::take(&mut self.out))
    }

    fn records(&mut self) -> &mut dyn RecordWriter {
        self
    }
}
