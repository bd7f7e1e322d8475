//! Optional fields (SAMv1, sections 1.5 and 4.2.4): what the output adds to the records, which is the read group and
//! the comment of the read's header line, and the translation of text into BAM.

use crate::doubts::Doubts;
use crate::header::Header;
use crate::mate_tags::MateTags;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use zerohop_model::directed::Directed;
use zerohop_model::error::shown;
use zerohop_model::record::REVERSE;

/// What of the comments of reads the records show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comments {
    /// Nothing.
    None,
    /// Optional fields of BAM.
    OfBam,
    /// All, as they stand, as `bwa mem -C` does.
    AsTheyStand,
}

/// Fields whose values are counted along all bases of a read: base modifications (SAMtags, section 1.7), and their
/// drafts. Records that have not all bases are without.
const OF_ALL_BASES: [[u8; 2]; 5] = [*b"MM", *b"ML", *b"MN", *b"Mm", *b"Ml"];

/// What an encoder knows besides the record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordContext<'h> {
    pub(crate) header: &'h Header,
    /// Position in the header of each lane's read group.
    pub(crate) lane_groups: &'h [Option<usize>],
    /// What of comments is copied.
    pub(crate) comments: Comments,
    /// Which fields of comments go with the direction of the read.
    pub(crate) directed: &'h Directed,
    /// Which records have MQ, MC and ms.
    pub(crate) mate_tags: MateTags,
    /// Where it is noted that a record of SAM may not be read.
    pub(crate) doubts: &'h Doubts,
    pub(crate) lane: usize,
}

impl<'h> RecordContext<'h> {
    pub(crate) fn contig_name(&self, contig: u32) -> &'h [u8] {
        self.header.contigs[contig as usize].name.as_bytes()
    }

    /// Whether comments are copied.
    pub(crate) fn copies_comments(&self) -> bool {
        self.comments != Comments::None
    }

    /// The comment of a read as a record shows it, which has these flags and may lack bases of the read, if comments
    /// are copied and it has one: without fields that the record has already, for what the aligner says counts.
    pub(crate) fn comment<'t>(
        &self,
        comment: &'t [u8],
        (flags, lacks_bases): (u16, bool),
        has: impl Fn([u8; 2]) -> bool,
    ) -> Option<Cow<'t, [u8]>> {
        if !self.copies_comments() || comment.is_empty() {
            return None;
        }
        let shown = match flags & REVERSE {
            0 => Cow::Borrowed(comment),
            _ => self.directed.turned(comment),
        };
        let is_new = |field: &&[u8]| match **field {
            [a, b, b':', _, b':', ..] => {
                let is_other_group = [a, b] == *b"RG" && self.read_group().is_some();
                !(has([a, b]) || is_other_group || lacks_bases && OF_ALL_BASES.contains(&[a, b]))
            }
            _ => true,
        };
        if shown.split(|&b| b == b'\t').all(|field| is_new(&field)) {
            return Some(shown);
        }
        let kept: Vec<&[u8]> = shown.split(|&b| b == b'\t').filter(is_new).collect();
        (!kept.is_empty()).then(|| Cow::Owned(kept.join(&b'\t')))
    }

    /// The text that a field of a comment holds, if records show it: not its read group where the lane has one.
    pub(crate) fn text_of_comment<'t>(&self, comment: &'t [u8], key: [u8; 2]) -> Option<&'t [u8]> {
        let is_shown = self.copies_comments() && !(key == *b"RG" && self.read_group().is_some());
        text_of(comment, key).filter(|_| is_shown)
    }

    /// The ID of the present lane's read group.
    pub(crate) fn read_group(&self) -> Option<&'h [u8]> {
        let group = (*self.lane_groups.get(self.lane)?)?;
        Some(self.header.read_groups[group].id.as_bytes())
    }

    /// Whether a record must not keep the read group that a program wrote: the lane or the read has another one.
    pub(crate) fn is_other_group(&self, written: Option<&[u8]>, comment: &[u8]) -> bool {
        let of_read = || text_of(comment, *b"RG").filter(|_| self.copies_comments());
        let ours = self.read_group().or_else(of_read);
        written.is_some() && (ours.is_some() || self.header.has_own_groups_alone) && written != ours
    }
}

/// Appends an integer field as htslib does: in the smallest type that holds it.
pub(crate) fn push_integer(out: &mut Vec<u8>, key: [u8; 2], value: i64) {
    out.extend_from_slice(&key);
    match value {
        -128..=-1 => {
            out.push(b'c');
            out.push(value as i8 as u8);
        }
        -32768..=-129 => {
            out.push(b's');
            out.extend_from_slice(&(value as i16).to_le_bytes());
        }
        i64::MIN..=-32769 => {
            out.push(b'i');
            out.extend_from_slice(&(value as i32).to_le_bytes());
        }
        0..=255 => {
            out.push(b'C');
            out.push(value as u8);
        }
        256..=65535 => {
            out.push(b'S');
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        65536.. => {
            out.push(b'I');
            out.extend_from_slice(&(value as u32).to_le_bytes());
        }
    }
}

/// Appends a text field.
pub(crate) fn push_text(out: &mut Vec<u8>, key: [u8; 2], text: &[u8]) {
    out.extend_from_slice(&key);
    out.push(b'Z');
    out.extend_from_slice(text);
    out.push(0);
}

/// Appends a field of one number with a fraction.
pub(crate) fn push_float(out: &mut Vec<u8>, key: [u8; 2], value: f32) {
    out.extend_from_slice(&[key[0], key[1], b'f']);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends the fields that a comment holds (`BC:Z:ACGT`, tab-separated) in their binary form.
///
/// # Errors
/// What is wrong, in words, when the comment does not consist of SAM fields.
pub(crate) fn push_comment(out: &mut Vec<u8>, comment: &[u8]) -> Result<(), String> {
    push_fields(out, comment).map(drop).map_err(|_| {
        format!(
            "its comment '{}' does not consist of SAM fields (such as BC:Z:ACGT), so it cannot be copied to BAM: \
             drop -C, or write SAM",
            shown(comment)
        )
    })
}

/// Appends optional fields, tab-separated, in their binary form. Returns whether RG is one of them, or what is no
/// field.
pub(crate) fn push_fields<'a>(out: &mut Vec<u8>, fields: &'a [u8]) -> Result<bool, &'a [u8]> {
    push_fields_but(out, fields, |_| false)
}

/// The same, without those of some names.
pub(crate) fn push_fields_but<'a>(
    out: &mut Vec<u8>,
    fields: &'a [u8],
    is_left_out: impl Fn([u8; 2]) -> bool,
) -> Result<bool, &'a [u8]> {
    let (mut rest, mut has_read_group) = (Some(fields), false);
    while let Some(field) = take_field(&mut rest) {
        let start = out.len();
        push_field(out, field).ok_or(field)?;
        if field.first_chunk().is_some_and(|key| is_left_out(*key)) {
            out.truncate(start);
        } else {
            has_read_group |= field.starts_with(b"RG:");
        }
    }
    Ok(has_read_group)
}

/// Takes the first field off, up to a tab; `None` when there is none left.
pub(crate) fn take_field<'a>(rest: &mut Option<&'a [u8]>) -> Option<&'a [u8]> {
    let text = (*rest)?;
    let end = memchr::memchr(b'\t', text).unwrap_or(text.len());
    *rest = text.get(end + 1..);
    Some(&text[..end])
}

/// The text that the optional field `key` holds, of tab-separated ones.
pub(crate) fn text_of(fields: &[u8], key: [u8; 2]) -> Option<&[u8]> {
    let [first, second] = key;
    fields.split(|&byte| byte == b'\t').find_map(|field| field.strip_prefix(&[first, second, b':', b'Z', b':']))
}

/// SAMv1, section 1.5.
fn push_field(out: &mut Vec<u8>, field: &[u8]) -> Option<()> {
    let [k1, k2, b':', kind, b':', value @ ..] = field else { return None };
    let key = [*k1, *k2];
    if !k1.is_ascii_alphabetic() || !k2.is_ascii_alphanumeric() {
        return None;
    }
    match kind {
        b'Z' if value.iter().fold(true, |all, b| all & (b' '..=b'~').contains(b)) => push_text(out, key, value),
        b'i' => push_integer(out, key, integer(value, -(1 << 31)..=(1 << 32) - 1)?),
        b'A' => {
            let [character @ b'!'..=b'~'] = value else { return None };
            out.extend_from_slice(&[*k1, *k2, b'A', *character]);
        }
        b'f' => push_float(out, key, float(value)?),
        b'H' if value.len() % 2 == 0 && value.iter().all(u8::is_ascii_hexdigit) => {
            push_text(out, key, value);
            let at = out.len() - value.len() - 2;
            out[at] = b'H';
        }
        b'B' => push_array(out, key, value)?,
        _ => return None,
    }
    Some(())
}

fn integer(text: &[u8], range: RangeInclusive<i64>) -> Option<i64> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let add = |sum: i64, b: &u8| b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0'));
    let size = digits.iter().try_fold(0, add)?;
    Some(if text[0] == b'-' { -size } else { size }).filter(|value| range.contains(value))
}

/// By way of a double, as htslib has it: where rounding twice makes a difference, it is the same.
pub(crate) fn float(text: &[u8]) -> Option<f32> {
    Some(std::str::from_utf8(text).ok()?.parse::<f64>().ok()? as f32)
}

/// `c,1,-2`: an array of one type.
fn push_array(out: &mut Vec<u8>, key: [u8; 2], text: &[u8]) -> Option<()> {
    let [kind, numbers @ ..] = text else { return None };
    out.extend_from_slice(&key);
    out.extend_from_slice(&[b'B', *kind]);
    let count_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let (range, bytes) = match kind {
        b'c' => (-(1 << 7)..=(1 << 7) - 1, 1),
        b'C' => (0..=(1 << 8) - 1, 1),
        b's' => (-(1 << 15)..=(1 << 15) - 1, 2),
        b'S' => (0..=(1 << 16) - 1, 2),
        b'i' => (-(1 << 31)..=(1 << 31) - 1, 4),
        b'I' => (0..=(1 << 32) - 1, 4),
        b'f' => (0..=0, 4),
        _ => return None,
    };
    let (mut parts, mut count) = (numbers.split(|&b| b == b','), 0u32);
    // What stands before the first comma: nothing.
    parts.next().filter(|before| before.is_empty())?;
    for number in parts {
        match kind {
            b'f' => out.extend_from_slice(&float(number)?.to_le_bytes()),
            _ => out.extend_from_slice(&integer(number, range.clone())?.to_le_bytes()[..bytes]),
        }
        count += 1;
    }
    out[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_fields_or_errors() {
        let mut out = Vec::new();
        let comment = b"BC:Z:AC\tXI:i:-300\tXA:A:q\tXF:f:1.5\tXH:H:1AE3\tXB:B:s,1,-2";
        push_comment(&mut out, comment).unwrap();
        let mut expected = b"BCZAC\0XIs\xd4\xfeXAAqXFf\x00\x00\xc0\x3fXHH1AE3\0XBBs\x02\0\0\0\x01\0\xfe\xff".to_vec();
        assert_eq!(out, expected);
        for odd in [&b"1:N:0:ACGT"[..], b"BC:Z", b"BC:Q:x", b"XI:i:x", b"X:i:1"] {
            assert!(push_comment(&mut expected, odd).is_err(), "{}", odd.escape_ascii());
        }
    }

    #[test]
    fn integers_take_the_smallest_type() {
        for (value, bytes) in [(0, &b"NMC\0"[..]), (256, b"NMS\0\x01"), (-1, b"NMc\xff"), (65536, b"NMI\0\0\x01\0")] {
            let mut out = Vec::new();
            push_integer(&mut out, *b"NM", value);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn the_read_group_of_a_lane_counts_before_that_of_a_comment() {
        let read_groups = vec![crate::read_group::ReadGroup::parse("@RG\tID:lane").unwrap()];
        let header = Header { read_groups, ..Header::default() };
        let shown = |lane, comments| {
            let directed = &Directed::default();
            let lane_groups = &[Some(0), None];
            let (header, mate_tags, doubts) = (&header, MateTags::None, &Doubts::default());
            let context = RecordContext { header, lane_groups, comments, directed, mate_tags, doubts, lane };
            let comment = b"BC:Z:AC\tRG:Z:read";
            [*b"RG", *b"BC"]
                .map(|key| context.text_of_comment(comment, key).map(|text| text.escape_ascii().to_string()))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(shown(0, Comments::AsTheyStand), [None, some("AC")]);
        assert_eq!(shown(1, Comments::AsTheyStand), [some("read"), some("AC")]);
        assert_eq!(shown(1, Comments::None), [None, None]);
    }
}
