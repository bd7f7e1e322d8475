//! SAM text (SAMv1, section 1.4).

use crate::line::{LineParser, Place};
use crate::records::{Bases, Record};
use crate::tags::RecordContext;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::record::TagValue;
use zerohop_model::sink::Encoder;

/// Writes records as lines of text.
pub(crate) struct SamEncoder<'h> {
    parser: LineParser<'h>,
    /// What a line's optional fields would be in BAM: translating them is how they are checked, so that both formats
    /// take the same lines.
    translated: Vec<u8>,
    bases: Bases,
    text: Text<'h>,
}

/// The text of a chunk.
struct Text<'h> {
    context: RecordContext<'h>,
    out: Vec<u8>,
}

impl<'h> SamEncoder<'h> {
    pub(crate) fn new(context: RecordContext<'h>, parser: LineParser<'h>) -> Self {
        let text = Text { context, out: Vec::new() };
        SamEncoder { parser, translated: Vec::new(), bases: Bases::default(), text }
    }
}

impl Text<'_> {
    fn record(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        self.out.extend_from_slice(fields.name);
        self.integer(i64::from(fields.flags));
        self.place(fields.place, None);
        self.integer(i64::from(fields.mapq));
        if fields.cigar.is_empty() {
            self.column(b"*");
        } else {
            self.out.push(b'\t');
            for op in fields.cigar {
                self.digits(i64::from(op.length()));
                self.out.push(op.letter());
            }
        }
        self.place(fields.mate_place, Some(fields.place.contig));
        self.integer(i64::from(fields.template_length));
        self.column_or_star(fields.seq);
        self.column_or_star(fields.qual);
        let (mut has_read_group, mut comment) = (false, record.comment);
        for tag in record.aligned.tags() {
            match tag.value {
                TagValue::Int(value) => {
                    self.key(tag.key, b":i:");
                    self.digits(value);
                }
                TagValue::Text(text) => {
                    self.key(tag.key, b":Z:");
                    self.out.extend_from_slice(text);
                }
                TagValue::Float(value) => {
                    self.key(tag.key, b":f:");
                    self.out.extend_from_slice(format!("{value:.3}").as_bytes());
                }
                TagValue::ReadGroup => {
                    self.read_group();
                    has_read_group = true;
                }
                TagValue::Comment => self.comment(std::mem::take(&mut comment)),
            }
        }
        self.end(has_read_group, comment);
    }

    fn column(&mut self, text: &[u8]) {
        self.out.push(b'\t');
        self.out.extend_from_slice(text);
    }

    /// The beginning of an optional field.
    fn key(&mut self, key: [u8; 2], kind: &[u8; 3]) {
        self.column(&key);
        self.out.extend_from_slice(kind);
    }

    /// RG, if the lane has one.
    fn read_group(&mut self) {
        if let Some(id) = self.context.read_group() {
            self.key(*b"RG", b":Z:");
            self.out.extend_from_slice(id);
        }
    }

    fn column_or_star(&mut self, text: &[u8]) {
        self.column(if text.is_empty() { b"*" } else { text });
    }

    fn integer(&mut self, value: i64) {
        self.out.push(b'\t');
        self.digits(value);
    }

    fn digits(&mut self, value: i64) {
        self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// RNAME and POS, or RNEXT and PNEXT, where `=` stands for the contig `same`.
    fn place(&mut self, Place { contig, position }: Place, same: Option<i32>) {
        match u32::try_from(contig) {
            Err(_) => self.column(b"*"),
            Ok(_) if same == Some(contig) => self.column(b"="),
            Ok(contig) => self.column(self.context.contig_name(contig)),
        }
        self.integer(i64::from(position) + 1);
    }

    /// Ends a line with what the output adds.
    fn end(&mut self, has_read_group: bool, comment: &[u8]) {
        if !has_read_group {
            self.read_group();
        }
        self.comment(comment);
        self.out.push(b'\n');
    }

    /// The comment of the read, if comments are copied.
    fn comment(&mut self, comment: &[u8]) {
        if self.context.comments && !comment.is_empty() {
            self.column(comment);
        }
    }
}

impl Encoder for SamEncoder<'_> {
    fn begin(&mut self, lane: u32, buffer: Vec<u8>) {
        self.text.context.lane = lane as usize;
        self.text.out = buffer;
    }

    fn encode(&mut self, chunk: &Chunk, alignments: &Alignments) -> Result<(), Error> {
        let text = &mut self.text;
        self.bases.records(chunk, alignments, |record| {
            text.record(record);
            Ok(())
        })
    }

    fn line(&mut self, line: &[u8], comment: &[u8]) -> Result<(), Error> {
        self.translated.clear();
        let has_read_group = self.parser.parse(line)?.push_optional(&mut self.translated)?;
        self.text.out.extend_from_slice(line);
        self.text.end(has_read_group, comment);
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        Ok(std::mem::take(&mut self.text.out))
    }
}
