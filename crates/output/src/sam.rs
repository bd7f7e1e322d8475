//! SAM text (SAMv1, section 1.4).

use crate::bam::{MAX_CIGAR, stand_in};
use crate::mates::{Mate, is_replaced};
use crate::records::EngineRecord;
use crate::sam_line::{BamPlace, Fields, SamLine};
use crate::tags::RecordContext;
use zerohop_model::error::Error;
use zerohop_model::record::{CigarOp, TagValue};

/// Appends a record of an embedded engine as a line.
pub(crate) fn put(context: &RecordContext<'_>, record: &EngineRecord<'_>, out: &mut Vec<u8>) {
    SamText { context, out }.record(record);
}

/// Appends what a program wrote, with what the output adds. Optional fields are checked by translating them into
/// those of BAM, in `translated`, so that both formats take the same lines.
///
/// # Errors
/// [`Error::Damaged`].
pub(crate) fn put_line(
    context: &RecordContext<'_>,
    (line, mate): (&SamLine<'_>, Option<&Mate>),
    comment: &[u8],
    translated: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    translated.clear();
    let is_other_group = context.is_other_group(line.text_of(*b"RG"), comment);
    let is_left_out = |key| mate.is_some() && is_replaced(key) || is_other_group && key == *b"RG";
    let has_read_group = line.push_optional(translated, is_left_out)?;
    match mate.is_some() || is_other_group {
        false => out.extend_from_slice(line.text()),
        true => out.extend_from_slice(&line.text_but(is_left_out)),
    }
    let has = |key| mate.is_some() && is_replaced(key) || !is_left_out(key) && line.has(key);
    SamText { context, out }.end(has_read_group, (comment, &has), mate, &line.fields);
    Ok(())
}

/// The comment of a read, and which fields its record has already.
type Comment<'c> = (&'c [u8], &'c dyn Fn([u8; 2]) -> bool);

/// Lines that are being written.
struct SamText<'t, 'h> {
    context: &'t RecordContext<'h>,
    out: &'t mut Vec<u8>,
}

impl SamText<'_, '_> {
    fn record(&mut self, record: &EngineRecord<'_>) {
        let fields = &record.fields;
        self.out.extend_from_slice(fields.name);
        self.integer(i64::from(fields.flags));
        self.place(fields.place, None);
        self.integer(i64::from(fields.mapq));
        let is_long = fields.cigar.len() > MAX_CIGAR;
        match is_long && record.aligned.tags().any(|tag| tag.value == TagValue::LongCigar) {
            true => self.cigar(&stand_in(fields)),
            false => self.cigar(fields.cigar),
        }
        self.place(fields.mate_place, Some(fields.place.contig));
        self.integer(i64::from(fields.template_length));
        self.column_or_star(fields.seq);
        self.column_or_star(fields.qual);
        let (mut has_read_group, mut comment) = (false, record.comment);
        let is_left_out = |key| record.mate.is_some() && is_replaced(key);
        let has = |key| record.has(key);
        for tag in record.aligned.tags().filter(|tag| !is_left_out(tag.key)) {
            match tag.value {
                TagValue::Int(value) => {
                    self.key(tag.key, b":i:");
                    self.digits(value);
                }
                TagValue::Text(text) => {
                    self.key(tag.key, b":Z:");
                    self.out.extend_from_slice(text);
                }
                TagValue::Character(character) => {
                    self.key(tag.key, b":A:");
                    self.out.push(character);
                }
                TagValue::Decimal(digits) => {
                    self.key(tag.key, b":f:");
                    self.out.extend_from_slice(digits);
                }
                TagValue::LongCigar => {
                    self.key(*b"CG", b":B:");
                    self.out.push(b'I');
                    for CigarOp(op) in fields.cigar {
                        self.out.push(b',');
                        self.digits(i64::from(*op));
                    }
                }
                TagValue::Float(value) => {
                    self.key(tag.key, b":f:");
                    self.out.extend_from_slice(format!("{value:.3}").as_bytes());
                }
                TagValue::ReadGroup => {
                    self.read_group();
                    has_read_group = true;
                }
                TagValue::Comment => self.comment((std::mem::take(&mut comment), &has), fields),
            }
        }
        self.end(has_read_group, (comment, &has), record.mate, fields);
    }

    fn cigar(&mut self, cigar: &[CigarOp]) {
        if cigar.is_empty() {
            return self.column(b"*");
        }
        self.out.push(b'\t');
        for op in cigar {
            self.digits(i64::from(op.length()));
            self.out.push(op.letter());
        }
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
    fn place(&mut self, BamPlace { contig, position }: BamPlace, same: Option<i32>) {
        match u32::try_from(contig) {
            Err(_) => self.column(b"*"),
            Ok(_) if same == Some(contig) => self.column(b"="),
            Ok(contig) => self.column(self.context.contig_name(contig)),
        }
        self.integer(i64::from(position) + 1);
    }

    /// Ends a line with what the output adds.
    fn end(&mut self, has_read_group: bool, comment: Comment<'_>, mate: Option<&Mate>, fields: &Fields<'_>) {
        if !has_read_group {
            self.read_group();
        }
        self.comment(comment, fields);
        mate.into_iter().for_each(|mate| mate.push_as_text(fields.flags, self.out));
        self.out.push(b'\n');
    }

    /// The comment of the read, if comments are copied.
    fn comment(&mut self, (comment, has): Comment<'_>, fields: &Fields<'_>) {
        if let Some(comment) = self.context.comment(comment, (fields.flags, fields.lacks_bases()), has) {
            self.column(&comment);
        }
    }
}
