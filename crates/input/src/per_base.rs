//! Optional fields with one value per base: they are cut with the bases.

use std::ops::Range;
use zerohop_model::directed::Directed;

/// Fields of one value per base, besides those that [`Directed`] knows: of SAM (BQ), of subreads and of kinetics (the
/// BAM format of PacBio, 13.0).
const PER_BASE: [[u8; 2]; 11] =
    [*b"BQ", *b"ip", *b"pw", *b"fi", *b"fp", *b"dq", *b"iq", *b"mq", *b"sq", *b"dt", *b"st"];
/// The same, in the order of the other strand.
const OF_OTHER_STRAND: [[u8; 2]; 2] = [*b"ri", *b"rp"];
/// Fields that count bases, or samples of the signal, from the beginning of the read.
const OF_WHOLE_READ: [[u8; 2]; 5] = [*b"MM", *b"ML", *b"Mm", *b"Ml", *b"mv"];

/// Appends the optional fields, tab-separated, of a read of so many bases of which only those in `kept` stay: of
/// records. Without `directed` they are comments of FASTQ, which stay as they stand.
///
/// # Errors
/// In words: a field that cannot be cut.
pub(crate) fn cut(
    fields: &[u8],
    (bases, kept): (usize, Range<usize>),
    directed: Option<&Directed>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let Some(directed) = directed.filter(|_| kept != (0..bases)) else {
        out.extend_from_slice(fields);
        return Ok(());
    };
    let start = out.len();
    for field in fields.split(|byte| *byte == b'\t') {
        if out.len() > start {
            out.push(b'\t');
        }
        let [a, b, b':', kind, b':', value @ ..] = field else {
            out.extend_from_slice(field);
            continue;
        };
        let key = [*a, *b];
        if OF_WHOLE_READ.contains(&key) {
            let key = key.escape_ascii();
            return Err(format!(
                "its field {key} is about places in the whole read, and cannot be cut with the bases: leave it out \
                 ('samtools view -b -x {key}'), or --trim and --read-structure"
            ));
        }
        let is_turned = OF_OTHER_STRAND.contains(&key);
        let kept = if is_turned { bases - kept.end..bases - kept.start } else { kept.clone() };
        let is_per_base = is_turned || PER_BASE.contains(&key) || directed.is_per_base(key);
        match (kind, is_per_base) {
            (b'Z', true) if value.len() == bases => {
                out.extend_from_slice(&field[..5]);
                out.extend_from_slice(&value[kept]);
            }
            // Behind the type of the numbers each has a comma before it.
            (b'B', true) if value.iter().filter(|byte| **byte == b',').count() == bases => {
                out.extend_from_slice(&field[..5]);
                let mut parts = value.split(|byte| *byte == b',');
                out.extend_from_slice(parts.next().unwrap_or_default());
                for number in parts.skip(kept.start).take(kept.len()) {
                    out.push(b',');
                    out.extend_from_slice(number);
                }
            }
            _ => out.extend_from_slice(field),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(kept: Range<usize>, fields: &str) -> Result<String, String> {
        let mut out = b"x ".to_vec();
        let directed = Directed::new(&["zz".to_owned()], &[]).unwrap();
        cut(fields.as_bytes(), (4, kept), Some(&directed), &mut out)?;
        Ok(String::from_utf8(out[2..].to_vec()).unwrap())
    }

    #[test]
    fn values_of_bases_that_go_go_with_them() {
        let fields = "RX:Z:ACGT\tOQ:Z:abcd\tcd:B:s,1,-2,3,4\tri:B:C,5,6,7,8\tzz:Z:1234\tip:B:C,1,2\tBQ:Z:abc\tNM:i:1";
        let wanted = "RX:Z:ACGT\tOQ:Z:b\tcd:B:s,-2\tri:B:C,7\tzz:Z:2\tip:B:C,1,2\tBQ:Z:abc\tNM:i:1";
        assert_eq!(cut_to(1..2, fields).as_deref(), Ok(wanted));
        assert_eq!(cut_to(0..4, fields).as_deref(), Ok(fields));
        assert_eq!(cut_to(2..2, "OQ:Z:abcd\tcd:B:s,1,-2,3,4").as_deref(), Ok("OQ:Z:\tcd:B:s"));
        assert_eq!(cut_to(1..2, "").as_deref(), Ok(""));
        assert!(cut_to(0..4, "MM:Z:C+m,0;").is_ok());
        let refused = cut_to(0..3, "OQ:Z:abcd\tMM:Z:C+m,0;").unwrap_err();
        assert!(refused.contains("its field MM is about places"), "{refused}");
    }
}
