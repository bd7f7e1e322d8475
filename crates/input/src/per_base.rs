//! Optional fields with one value per base, and those of base modifications: they are cut with the bases.

use crate::modifications::{self, Modifications};
use std::ops::Range;
use zerohop_model::directed::Directed;

/// Fields of one value per base, besides those that [`Directed`] knows: of SAM (BQ), of subreads and of kinetics (the
/// BAM format of PacBio, 13.0).
const PER_BASE: [[u8; 2]; 11] =
    [*b"BQ", *b"ip", *b"pw", *b"fi", *b"fp", *b"dq", *b"iq", *b"mq", *b"sq", *b"dt", *b"st"];
/// The same, in the order of the other strand.
const OF_OTHER_STRAND: [[u8; 2]; 2] = [*b"ri", *b"rp"];
/// Base modifications: places, and the probabilities that belong to them.
const PLACES: [[u8; 2]; 2] = [*b"MM", *b"Mm"];
const PROBABILITIES: [[u8; 2]; 2] = [*b"ML", *b"Ml"];
/// The bases of the read that places are counted in.
const BASES_COUNTED: [u8; 2] = *b"MN";
/// Moves of the signal: of DNA they go with the bases, of RNA against them, and the record does not say which it is.
const MOVES: [u8; 3] = *b"mv:";

/// Appends the optional fields of a record, tab-separated, whose read has these bases, of which only those in `kept`
/// stay. Without `directed` they are a comment ([`cut_comment`]).
///
/// # Errors
/// In words: a field that cannot be cut.
pub(crate) fn cut(
    fields: &[u8],
    (bases, kept): (&[u8], Range<usize>),
    directed: Option<&Directed>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    if directed.is_none() {
        cut_comment(fields, (bases, kept), out);
        return Ok(());
    }
    if kept == (0..bases.len()) {
        out.extend_from_slice(fields);
        return Ok(());
    }
    if fields.split(|byte| *byte == b'\t').any(|field| field.starts_with(&MOVES)) {
        let why = "its field mv is about the signal of the whole read, and cannot be cut with the bases: leave it out \
                   ('samtools view -b -x mv'), or --trim and --read-structure";
        return Err(why.to_owned());
    }
    let modified = modifications_of(fields, bases, &kept)?;
    put_fields(fields, (bases, &kept), (directed, &modified), out);
    Ok(())
}

/// The same of a comment of FASTQ, with fields that zerohop put there: base modifications alone are cut, if they fit
/// the bases. All else stays as it stands.
pub(crate) fn cut_comment(comment: &[u8], (bases, kept): (&[u8], Range<usize>), out: &mut Vec<u8>) {
    if kept == (0..bases.len()) || !modifications::may_be_in(comment) {
        return out.extend_from_slice(comment);
    }
    match modifications_of(comment, bases, &kept) {
        Ok(modified) => put_fields(comment, (bases, &kept), (None, &modified), out),
        Err(_) => out.extend_from_slice(comment),
    }
}

/// What stays of each of [`PLACES`], if the read has it.
type Modified = [Option<Modifications>; PLACES.len()];

/// Without `directed` no field has values of bases, but for base modifications.
fn put_fields(
    fields: &[u8],
    (bases, kept): (&[u8], &Range<usize>),
    (directed, modified): (Option<&Directed>, &Modified),
    out: &mut Vec<u8>,
) {
    for (number, field) in fields.split(|byte| *byte == b'\t').enumerate() {
        if number > 0 {
            out.push(b'\t');
        }
        let [a, b, b':', kind, b':', value @ ..] = field else {
            out.extend_from_slice(field);
            continue;
        };
        let key = [*a, *b];
        let modified_by = |keys: &[[u8; 2]; 2]| modified[keys.iter().position(|one| *one == key)?].as_ref();
        let is_turned = OF_OTHER_STRAND.contains(&key);
        let is_per_base = directed.is_some_and(|of| is_turned || PER_BASE.contains(&key) || of.is_per_base(key));
        let kept_values = if is_turned { bases.len() - kept.end..bases.len() - kept.start } else { kept.clone() };
        if let Some(modified) = modified_by(&PLACES).filter(|_| *kind == b'Z') {
            out.extend_from_slice(&field[..5]);
            out.extend_from_slice(&modified.places);
            continue;
        }
        if let Some(modified) = modified_by(&PROBABILITIES).filter(|_| *kind == b'B') {
            push_numbers(field, &modified.stay, out);
            continue;
        }
        match kind {
            b'i' if key == BASES_COUNTED && value == bases.len().to_string().as_bytes() => {
                out.extend_from_slice(&field[..5]);
                out.extend_from_slice(kept.len().to_string().as_bytes());
            }
            b'Z' if is_per_base && value.len() == bases.len() => {
                out.extend_from_slice(&field[..5]);
                out.extend_from_slice(&value[kept_values]);
            }
            b'B' if is_per_base && numbers(value) == bases.len() => push_numbers(field, &[kept_values], out),
            _ => out.extend_from_slice(field),
        }
    }
}

fn modifications_of(fields: &[u8], bases: &[u8], kept: &Range<usize>) -> Result<Modified, String> {
    let value_of = |wanted: [u8; 2], kind: u8| {
        let is_wanted = |field: &&[u8]| field.starts_with(&[wanted[0], wanted[1], b':', kind, b':']);
        fields.split(|byte| *byte == b'\t').find(is_wanted).map(|field| &field[5..])
    };
    let mut found = [None, None];
    for ((places, probabilities), found) in PLACES.iter().zip(&PROBABILITIES).zip(&mut found) {
        let Some(text) = value_of(*places, b'Z') else { continue };
        let left = modifications::cut(text, bases, kept.clone()).map_err(|why| not_cut(*places, &why))?;
        let wanted = left.probabilities;
        if let Some(given) = value_of(*probabilities, b'B').map(numbers).filter(|given| *given != wanted) {
            return Err(not_cut(*probabilities, &format!("it has {given} values and not {wanted}")));
        }
        *found = Some(left);
    }
    Ok(found)
}

fn not_cut(key: [u8; 2], why: &str) -> String {
    let key = key.escape_ascii();
    format!(
        "its base modifications do not fit its bases, and cannot be cut with them ({key}: {why}): leave them out \
         ('samtools view -b -x MM -x ML'), or --trim and --read-structure"
    )
}

/// How many numbers a field of type B has: behind the type of the numbers each has a comma before it.
fn numbers(value: &[u8]) -> usize {
    value.iter().filter(|byte| **byte == b',').count()
}

/// Appends a field of type B with these of its numbers alone.
fn push_numbers(field: &[u8], stay: &[Range<usize>], out: &mut Vec<u8>) {
    let mut parts = field.split(|byte| *byte == b',');
    out.extend_from_slice(parts.next().unwrap_or_default());
    let mut next = 0;
    for range in stay {
        for number in parts.by_ref().skip(range.start - next).take(range.len()) {
            out.push(b',');
            out.extend_from_slice(number);
        }
        next = range.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(kept: Range<usize>, fields: &str) -> Result<String, String> {
        let mut out = b"x ".to_vec();
        let directed = Directed::new(&["zz".to_owned()], &[]).unwrap();
        cut(fields.as_bytes(), (b"ACGC", kept), Some(&directed), &mut out)?;
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
        assert!(cut_to(0..4, "MM:Z:C+m,0;\tmv:B:c,5,1").is_ok());
        let refused = cut_to(0..3, "OQ:Z:abcd\tmv:B:c,5,1").unwrap_err();
        assert!(refused.contains("its field mv is about the signal"), "{refused}");
    }

    #[test]
    fn of_comments_base_modifications_alone_are_cut() {
        for (comment, wanted) in [
            (
                "1:N:0:AC\tOQ:Z:abcd\tMM:Z:C+m,1;\tML:B:C,9\tmv:B:c,5,1",
                "1:N:0:AC\tOQ:Z:abcd\tMM:Z:C+m,0;\tML:B:C,9\tmv:B:c,5,1",
            ),
            ("OQ:Z:abcd\tMN:i:4", "OQ:Z:abcd\tMN:i:4"),
            ("\tMM:Z:C+m,1;", "\tMM:Z:C+m,0;"),
            ("MM:Z:C+m,1;\tML:B:C,9,9\tMN:i:4", "MM:Z:C+m,1;\tML:B:C,9,9\tMN:i:4"),
        ] {
            let mut out = Vec::new();
            cut_comment(comment.as_bytes(), (b"ACGC", 2..4), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }

    #[test]
    fn base_modifications_are_those_of_the_bases_that_stay() {
        let fields = "ML:B:C,9,8,7\tMM:Z:C+m?,0,0;A+a,0;\tMN:i:4\tMm:Z:C+m,1;\tMl:B:C,6";
        assert_eq!(cut_to(2..4, fields).as_deref(), Ok("ML:B:C,8\tMM:Z:C+m?,0;A+a;\tMN:i:2\tMm:Z:C+m,0;\tMl:B:C,6"));
        assert_eq!(cut_to(0..1, "MM:Z:C+m,0;\tML:B:C,3\tMN:i:9").as_deref(), Ok("MM:Z:C+m;\tML:B:C\tMN:i:9"));
        for fields in ["MM:Z:C+m,2;\tML:B:C,9", "MM:Z:C+m,0;\tML:B:C,9,8"] {
            let refused = cut_to(0..2, fields).unwrap_err();
            assert!(refused.contains("its base modifications do not fit its bases"), "{refused}");
        }
    }
}
