//! What the output adds to the records of an engine: the read group, and the comment of the read's header line.

use crate::header::Header;
use zerohop_model::error::Error;

/// What an encoder knows besides the record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordContext<'h> {
    pub(crate) header: &'h Header,
    /// Position in the header of each lane's read group.
    pub(crate) lane_groups: &'h [Option<usize>],
    /// Whether comments are copied.
    pub(crate) comments: bool,
    pub(crate) lane: usize,
}

impl<'h> RecordContext<'h> {
    pub(crate) fn contig_name(&self, contig: u32) -> &'h [u8] {
        self.header.contigs[contig as usize].name.as_bytes()
    }

    /// The ID of the present lane's read group.
    pub(crate) fn read_group(&self) -> Option<&'h [u8]> {
        let group = (*self.lane_groups.get(self.lane)?)?;
        Some(self.header.read_groups[group].id.as_bytes())
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

/// Appends the fields that a comment holds (`BC:Z:ACGT`, tab-separated) in their binary form.
///
/// # Errors
/// [`Error::Record`] when the comment does not consist of SAM fields.
pub(crate) fn push_comment(out: &mut Vec<u8>, name: &[u8], comment: &[u8]) -> Result<(), Error> {
    for field in comment.split(|&b| b == b'\t') {
        push_field(out, field).ok_or_else(|| Error::Record {
            read: String::from_utf8_lossy(name).into_owned(),
            what: format!(
                "its comment '{}' does not consist of SAM fields (such as BC:Z:ACGT), so it cannot be copied to BAM: \
                 drop -C, or write SAM",
                String::from_utf8_lossy(comment)
            ),
        })?;
    }
    Ok(())
}

fn push_field(out: &mut Vec<u8>, field: &[u8]) -> Option<()> {
    let [k1, k2, b':', kind, b':', value @ ..] = field else { return None };
    let key = [*k1, *k2];
    if !k1.is_ascii_alphabetic() || !k2.is_ascii_alphanumeric() || !value.iter().all(|b| (b' '..=b'~').contains(b)) {
        return None;
    }
    let text = std::str::from_utf8(value).ok()?;
    match kind {
        b'Z' => push_text(out, key, value),
        b'i' => push_integer(out, key, text.parse().ok().filter(|v| (-(1 << 31)..1 << 32).contains(v))?),
        b'A' => {
            let [character] = value else { return None };
            out.extend_from_slice(&[*k1, *k2, b'A', *character]);
        }
        b'f' => {
            let number: f32 = text.parse().ok()?;
            out.extend_from_slice(&[*k1, *k2, b'f']);
            out.extend_from_slice(&number.to_le_bytes());
        }
        b'H' if value.len() % 2 == 0 && value.iter().all(u8::is_ascii_hexdigit) => {
            push_text(out, key, value);
            let at = out.len() - value.len() - 2;
            out[at] = b'H';
        }
        b'B' => push_array(out, key, text)?,
        _ => return None,
    }
    Some(())
}

/// `c,1,-2`: an array of one type.
fn push_array(out: &mut Vec<u8>, key: [u8; 2], text: &str) -> Option<()> {
    let mut parts = text.split(',');
    let kind = parts.next().filter(|k| k.len() == 1)?.bytes().next()?;
    let numbers: Vec<&str> = parts.collect();
    out.extend_from_slice(&key);
    out.extend_from_slice(&[b'B', kind]);
    out.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
    for number in numbers {
        match kind {
            b'c' => out.extend_from_slice(&number.parse::<i8>().ok()?.to_le_bytes()),
            b'C' => out.extend_from_slice(&number.parse::<u8>().ok()?.to_le_bytes()),
            b's' => out.extend_from_slice(&number.parse::<i16>().ok()?.to_le_bytes()),
            b'S' => out.extend_from_slice(&number.parse::<u16>().ok()?.to_le_bytes()),
            b'i' => out.extend_from_slice(&number.parse::<i32>().ok()?.to_le_bytes()),
            b'I' => out.extend_from_slice(&number.parse::<u32>().ok()?.to_le_bytes()),
            b'f' => out.extend_from_slice(&number.parse::<f32>().ok()?.to_le_bytes()),
            _ => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_fields_or_errors() {
        let mut out = Vec::new();
        let comment = b"BC:Z:AC\tXI:i:-300\tXA:A:q\tXF:f:1.5\tXH:H:1AE3\tXB:B:s,1,-2";
        push_comment(&mut out, b"r", comment).unwrap();
        let mut expected = b"BCZAC\0XIs\xd4\xfeXAAqXFf\x00\x00\xc0\x3fXHH1AE3\0XBBs\x02\0\0\0\x01\0\xfe\xff".to_vec();
        assert_eq!(out, expected);
        for odd in [&b"1:N:0:ACGT"[..], b"BC:Z", b"BC:Q:x", b"XI:i:x", b"X:i:1"] {
            assert!(push_comment(&mut expected, b"r", odd).is_err(), "{}", odd.escape_ascii());
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
}
