//! Optional fields (SAMv1, sections 1.5 and 4.2.4) as text.

use std::io::Write;
use zerohop_cram::record::{Field, bytes_of};

/// What only an aligner can know: the fields that `samtools reset` removes (reset.c of samtools 1.22), so that the
/// aligner says them anew.
const OF_ALIGNMENTS: [[u8; 2]; 15] = [
    *b"AS", *b"CC", *b"CG", *b"CP", *b"H1", *b"H2", *b"HI", *b"H0", *b"IH", *b"MC", *b"MD", *b"MQ", *b"NM", *b"SA",
    *b"TS",
];

/// Floats that are short without an exponent.
const SHORT: std::ops::Range<f32> = 1e-4..1e9;

/// Whether a field says something of an alignment.
pub(super) fn is_of_alignment(field: &Field<'_>) -> bool {
    OF_ALIGNMENTS.contains(&field.key)
}

/// Whether it is as aligners (bwa, bowtie, bowtie2, hisat2, minimap2, pbmm2) and `samtools fixmate` write it, though
/// `samtools reset` does not know it. Others write fields of the same names: dorado an array `pa` and a number `ts`,
/// PacBio the text `XA`, of which the one of bwa is a list of places, `chr,+pos,CIGAR,NM;`.
pub(super) fn is_as_of_aligner(field: &Field<'_>) -> bool {
    let is_integer = matches!(field.kind, b'c' | b'C' | b's' | b'S' | b'i' | b'I');
    match &field.key {
        b"XS" => is_integer || field.kind == b'A',
        b"ms" | b"cm" | b"nn" | b"rl" | b"s1" | b"s2" | b"zd" => is_integer,
        b"pa" | b"de" | b"dv" | b"mg" => field.kind == b'f',
        b"tp" | b"ts" => field.kind == b'A',
        b"cs" | b"ds" => field.text().is_some_and(is_of_differences),
        b"XA" => is_integer || field.text().is_some_and(is_list_of_places),
        _ => false,
    }
}

/// Appends a field as SAM has it, `RX:Z:ACGT`.
///
/// # Errors
/// A value that SAM cannot hold.
pub(super) fn write(field: &Field<'_>, out: &mut Vec<u8>) -> Result<(), String> {
    let Field { key, kind, value } = *field;
    let shown_kind = if matches!(kind, b'c' | b'C' | b's' | b'S' | b'i' | b'I') { b'i' } else { kind };
    out.extend_from_slice(&[key[0], key[1], b':', shown_kind, b':']);
    match kind {
        b'Z' | b'H' | b'A' => {
            let least = if kind == b'A' { b'!' } else { b' ' };
            if let Some(odd) = value.iter().find(|b| !(least..=b'~').contains(b)) {
                return Err(format!(
                    "its field {} holds '{}', which SAM does not allow",
                    name(key),
                    odd.escape_ascii()
                ));
            }
            if kind == b'H' && (value.len() % 2 == 1 || !value.iter().all(u8::is_ascii_hexdigit)) {
                return Err(format!("its field {} is not made of pairs of hexadecimal digits", name(key)));
            }
            out.extend_from_slice(value);
        }
        b'B' => {
            let (array, values) = (value[0], &value[5..]);
            out.push(array);
            for number in values.chunks(bytes_of(array).unwrap_or(1)) {
                out.push(b',');
                push_number(out, array, number);
            }
        }
        _ => push_number(out, kind, value),
    }
    Ok(())
}

/// Whether a text is as the XA of bwa.
fn is_list_of_places(text: &[u8]) -> bool {
    let is_place = |place: &[u8]| place.iter().filter(|b| **b == b',').count() >= 3;
    text.strip_suffix(b";").is_some_and(|places| places.split(|b| *b == b';').all(is_place))
}

/// Whether a text is as the cs and ds of minimap2: `:6-ata:10*ag`, or in its long form `=ACGTGA-ata=ACGTG`.
fn is_of_differences(text: &[u8]) -> bool {
    let is_sign = |byte: u8| b":=*+-~".contains(&byte);
    text.first().is_some_and(|first| is_sign(*first)) && text.iter().all(|&b| is_sign(b) || b.is_ascii_alphanumeric())
}

/// A key, as a message shows it.
pub(super) fn name(key: [u8; 2]) -> String {
    key.escape_ascii().to_string()
}

fn push_number(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    let mut word = [0; 4];
    word[..bytes.len()].copy_from_slice(bytes);
    let low = [word[0], word[1]];
    let number = match kind {
        b'c' => i64::from(word[0] as i8),
        b'C' => i64::from(word[0]),
        b's' => i64::from(i16::from_le_bytes(low)),
        b'S' => i64::from(u16::from_le_bytes(low)),
        b'i' => i64::from(i32::from_le_bytes(word)),
        b'I' => i64::from(u32::from_le_bytes(word)),
        _ => {
            // The shortest number that is read as the same. (Writing to memory cannot fail.)
            let value = f32::from_le_bytes(word);
            let _ = match value == 0.0 || SHORT.contains(&value.abs()) {
                true => write!(out, "{value}"),
                false => write!(out, "{value:e}"),
            };
            return;
        }
    };
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The fields of a record, in order.
///
/// # Errors
/// Bytes that are no field.
pub(super) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = Result<Field<'_>, String>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        match Field::split(bytes) {
            Some((field, rest)) => {
                bytes = rest;
                Some(Ok(field))
            }
            None => {
                let key = bytes.get(..2).unwrap_or(bytes).escape_ascii().to_string();
                bytes = &[];
                Some(Err(format!("its field '{key}' is damaged, or of a type that BAM does not have")))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<String, String> {
        let mut out = Vec::new();
        for field in fields(bytes) {
            out.push(b'|');
            write(&field?, &mut out)?;
        }
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn fields_of_all_types() {
        let numbers = b"a0c\xffa1C\xffa2s\xfe\xffa3S\xfe\xffa4i\xff\xff\xff\xffa5I\xff\xff\xff\xff";
        assert_eq!(text(numbers).unwrap(), "|a0:i:-1|a1:i:255|a2:i:-2|a3:i:65534|a4:i:-1|a5:i:4294967295");
        assert!(text(b"b0fcc\xc6\x40b1Ax b2Z two w\0").is_err(), "a blank is no key");
        assert!(text(b"b4H1AE\0").is_err() && text(b"b4H1G\0").is_err());
        assert_eq!(text(b"b1Axb2Ztwo w\0b3Z\0b4H1AE3\0").unwrap(), "|b1:A:x|b2:Z:two w|b3:Z:|b4:H:1AE3");
        for (value, shown) in [(6.2f32, "6.2"), (1e-30, "1e-30"), (-1.5e-7, "-1.5e-7"), (0.0, "0"), (3e20, "3e20")] {
            assert_eq!(text(&[&b"b0f"[..], &value.to_le_bytes()].concat()).unwrap(), format!("|b0:f:{shown}"));
            assert_eq!(shown.parse(), Ok(value));
        }
    }

    #[test]
    fn arrays() {
        assert_eq!(text(b"MLBC\x02\0\0\0\x05\xff").unwrap(), "|ML:B:C,5,255");
        assert_eq!(text(b"xsBs\x01\0\0\0\xff\xff").unwrap(), "|xs:B:s,-1");
        assert_eq!(text(b"xeBi\0\0\0\0").unwrap(), "|xe:B:i");
        assert_eq!(text(b"xfBf\x01\0\0\0\0\0\xc0\x3f").unwrap(), "|xf:B:f,1.5");
    }

    #[test]
    fn fields_of_aligners_are_known_by_their_values() {
        let is_of_aligner = |bytes: &[u8]| is_as_of_aligner(&fields(bytes).next().unwrap().unwrap());
        for field in [&b"XSC\x07"[..], b"XSA+", b"msS\x07\x01", b"paf\0\0\0\0", b"XAC\x01"] {
            assert!(is_of_aligner(field), "{}", field.escape_ascii());
        }
        for field in [&b"tpAP"[..], b"tsA-", b"cmC\x07", b"zdC\x01", b"def\0\0\0\0", b"csZ:6-ata\0", b"dsZ=ACG*ag\0"] {
            assert!(is_of_aligner(field), "{}", field.escape_ascii());
        }
        assert!(is_of_aligner(b"XAZchr1,+10,5M,0;\0") && is_of_aligner(b"XAZa,1,-10,5M,0;chr2,-1,3M2S,1;\0"));
        for field in [&b"tsi\x01\0\0\0"[..], b"csZACGT\0", b"dsZ\0", b"csZ:6 a\0", b"deZx\0", b"dsBC\x01\0\0\0\x05"] {
            assert!(!is_of_aligner(field), "{}", field.escape_ascii());
        }
        for field in [&b"XAZXM-XC\0"[..], b"XAZa,+1,5M;\0", b"paBi\x01\0\0\0\x05\0\0\0", b"XSZx\0", b"MDZ5\0"] {
            assert!(!is_of_aligner(field), "{}", field.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_field_is_refused() {
        for odd in
            [&b"RX"[..], b"RXZabc", b"RXi\0\0\0", b"RXd\0\0\0\0\0\0\0\0", b"ABBx\0\0\0\0", b"ABBC\x02\0\0\0a", b"1XAa"]
        {
            assert!(text(odd).is_err(), "{}", odd.escape_ascii());
        }
        assert!(text(b"RXZa\tb\0").unwrap_err().contains("RX holds '\\t'"));
    }
}
