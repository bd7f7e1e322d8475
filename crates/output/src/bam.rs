//! BAM (SAMv1, section 4.2): the binary form of records.

use crate::bins::{BAI_DEPTH, bin};
use crate::mates::{Mate, is_replaced};
use crate::records::EngineRecord;
use crate::sam_line::{Fields, SamLine};
use crate::tags::{RecordContext, float, push_comment, push_float, push_integer, push_text};
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{CigarOp, NO_QUALITY, TagValue, mate};

/// Longest read name, without its end.
pub(crate) const MAX_NAME: usize = 254;
/// Most CIGAR operations that the record itself can hold; more go into the tag CG.
pub(crate) const MAX_CIGAR: usize = 65535;

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

/// Appends a record of an embedded engine. Nothing is left of a record that fails, here and below.
///
/// # Errors
/// [`Error::Record`] if BAM cannot hold it.
pub(crate) fn put(context: &RecordContext<'_>, record: &EngineRecord<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    put_fields(out, &record.fields, |out| {
        let (of, mut comment) = (&record.fields, record.comment);
        let mut has_read_group = false;
        let is_left_out = |key| record.mate.is_some() && is_replaced(key);
        let has = |key| record.has(key);
        for tag in record.aligned.tags().filter(|tag| !is_left_out(tag.key)) {
            match tag.value {
                TagValue::Int(value) => push_integer(out, tag.key, value),
                TagValue::Text(text) => push_text(out, tag.key, text),
                TagValue::Character(character) => out.extend_from_slice(&[tag.key[0], tag.key[1], b'A', character]),
                TagValue::Float(value) => push_float(out, tag.key, value),
                TagValue::Decimal(digits) => {
                    let wrong = || Error::Internal("the engine gave a number that is none".to_owned());
                    push_float(out, tag.key, float(digits).ok_or_else(wrong)?);
                }
                // Where CIGAR has no room for it: in `put_all`.
                TagValue::LongCigar => {}
                TagValue::ReadGroup => {
                    context.read_group().into_iter().for_each(|id| push_text(out, *b"RG", id));
                    has_read_group = true;
                }
                TagValue::Comment => push_comment_of(context, out, of, std::mem::take(&mut comment), &has)?,
            }
        }
        push_additions(context, out, of, has_read_group, comment, &has)?;
        record.mate.into_iter().for_each(|mate| mate.push(record.fields.flags, out));
        Ok(())
    })
}

/// Appends what a program wrote as a line.
///
/// # Errors
/// [`Error::Damaged`]; [`Error::Record`] if BAM cannot hold it.
pub(crate) fn put_line(
    context: &RecordContext<'_>,
    (line, mate): (&SamLine<'_>, Option<&Mate>),
    comment: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    put_fields(out, &line.fields, |out| {
        let is_other_group = context.is_other_group(line.text_of(*b"RG"), comment);
        let is_left_out = |key| mate.is_some() && is_replaced(key) || is_other_group && key == *b"RG";
        let has_read_group = line.push_optional(out, is_left_out)?;
        let has = |key| mate.is_some() && is_replaced(key) || !is_left_out(key) && line.has(key);
        push_additions(context, out, &line.fields, has_read_group, comment, &has)?;
        mate.into_iter().for_each(|mate| mate.push(line.fields.flags, out));
        Ok(())
    })
}

/// Appends a read that was not aligned, with what the output adds.
///
/// # Errors
/// [`Error::Record`] if BAM cannot hold it.
pub(crate) fn put_read(
    context: &RecordContext<'_>,
    fields: &Fields<'_>,
    comment: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    put_fields(out, fields, |out| push_additions(context, out, fields, false, comment, &|_| false))
}

/// Appends a record; `push_tags` appends its optional fields.
fn put_fields(
    out: &mut Vec<u8>,
    fields: &Fields<'_>,
    push_tags: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = out.len();
    let done = put_all(out, fields, push_tags);
    if done.is_err() {
        out.truncate(start);
    }
    done
}

fn put_all(
    out: &mut Vec<u8>,
    fields: &Fields<'_>,
    push_tags: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let wrong = |what: &str| {
        let what = format!("{what}, which BAM cannot hold: write SAM");
        Error::Record { read: shown(fields.name), mate: mate(fields.flags), what }
    };
    if fields.name.len() > MAX_NAME {
        return Err(wrong("its name has more than 254 bytes"));
    }
    let start = out.len();
    let spans = spans(fields);
    let position = i64::from(fields.place.position);
    let in_tag = fields.cigar.len() > MAX_CIGAR;
    if in_tag && (fields.seq.len() as u64).max(spans) >= 1 << 28 {
        return Err(wrong("it has more than 65,535 CIGAR operations over 2^28 bases or more"));
    }
    let stand_in = stand_in(fields);
    let cigar = if in_tag { &stand_in[..] } else { fields.cigar };

    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&fields.place.contig.to_le_bytes());
    out.extend_from_slice(&fields.place.position.to_le_bytes());
    out.extend_from_slice(&[fields.name.len() as u8 + 1, fields.mapq]);
    out.extend_from_slice(&(bin(position, position + spans.max(1) as i64, BAI_DEPTH) as u16).to_le_bytes());
    out.extend_from_slice(&(cigar.len() as u16).to_le_bytes());
    out.extend_from_slice(&fields.flags.to_le_bytes());
    out.extend_from_slice(&(fields.seq.len() as u32).to_le_bytes());
    out.extend_from_slice(&fields.mate_place.contig.to_le_bytes());
    out.extend_from_slice(&fields.mate_place.position.to_le_bytes());
    out.extend_from_slice(&fields.template_length.to_le_bytes());
    out.extend_from_slice(fields.name);
    out.push(0);
    cigar.iter().for_each(|op| out.extend_from_slice(&op.0.to_le_bytes()));
    let code = |base: u8| BASE_CODES[usize::from(base)];
    let (pairs, rest) = fields.seq.as_chunks::<2>();
    out.extend(pairs.iter().map(|[a, b]| code(*a) << 4 | code(*b)));
    out.extend(rest.first().map(|a| code(*a) << 4));
    if fields.qual.is_empty() {
        out.resize(out.len() + fields.seq.len(), NO_QUALITY);
    } else {
        out.extend(fields.qual.iter().map(|q| q.wrapping_sub(33)));
    }
    push_tags(out)?;
    if in_tag {
        // Behind all others, where htslib has it.
        out.extend_from_slice(b"CGBI");
        out.extend_from_slice(&(fields.cigar.len() as u32).to_le_bytes());
        fields.cigar.iter().for_each(|op| out.extend_from_slice(&op.0.to_le_bytes()));
    }
    let size = i32::try_from(out.len() - start - 4).map_err(|_| wrong("it takes 2 GiB or more"))?;
    out[start..start + 4].copy_from_slice(&size.to_le_bytes());
    Ok(())
}

/// Bases of the reference that an alignment spans.
fn spans(fields: &Fields<'_>) -> u64 {
    fields.cigar.iter().filter(|op| op.consumes_reference()).map(|op| u64::from(op.length())).sum()
}

/// What stands where CIGAR stands when that is in a field of its own (SAMv1, section 4.2.2).
pub(crate) fn stand_in(fields: &Fields<'_>) -> [CigarOp; 2] {
    [CigarOp((fields.seq.len() as u32) << 4 | 4), CigarOp((spans(fields) as u32) << 4 | 3)]
}

/// What the output adds.
fn push_additions(
    context: &RecordContext<'_>,
    out: &mut Vec<u8>,
    of: &Fields<'_>,
    has_read_group: bool,
    comment: &[u8],
    has: &dyn Fn([u8; 2]) -> bool,
) -> Result<(), Error> {
    if let Some(id) = context.read_group().filter(|_| !has_read_group) {
        push_text(out, *b"RG", id);
    }
    push_comment_of(context, out, of, comment, has)
}

/// The comment of a read, if comments are copied; `has` says which fields the record has already.
fn push_comment_of(
    context: &RecordContext<'_>,
    out: &mut Vec<u8>,
    of: &Fields<'_>,
    comment: &[u8],
    has: &dyn Fn([u8; 2]) -> bool,
) -> Result<(), Error> {
    if let Some(comment) = context.comment(comment, (of.flags, of.lacks_bases()), has) {
        let refused = |what| Error::Record { read: shown(of.name), mate: mate(of.flags), what };
        push_comment(out, &comment).map_err(refused)?;
    }
    Ok(())
}
