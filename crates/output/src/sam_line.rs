//! A record that a program wrote as a line of SAM (SAMv1, section 1.4). Every byte is checked before anything is made
//! of it, for the program may have died in the middle of a line, or written something else.

use crate::tags::{push_fields_but, take_field, text_of};
use std::collections::HashMap;
use std::sync::OnceLock;
use zerohop_model::error::Error;
use zerohop_model::record::{CigarOp, Contig, Locus, UNMAPPED, is_primary};

/// Columns that every line has.
const COLUMNS: usize = 11;
/// Bytes of the program's words that a message quotes at most.
const QUOTED: usize = 40;

/// A place as BAM numbers it: -1 for none. Unlike [`Locus`] it can name a contig without a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BamPlace {
    pub(crate) contig: i32,
    pub(crate) position: i32,
}

impl BamPlace {
    pub(crate) const NONE: BamPlace = BamPlace { contig: -1, position: -1 };
}

impl From<Option<Locus>> for BamPlace {
    fn from(locus: Option<Locus>) -> Self {
        let number = |value: Option<u32>| value.map_or(-1, |v| v as i32);
        BamPlace { contig: number(locus.map(|l| l.contig)), position: number(locus.map(|l| l.position)) }
    }
}

/// The fields of a record that are not optional, whoever made it; bases, qualities and CIGAR are empty for `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fields<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) flags: u16,
    pub(crate) place: BamPlace,
    pub(crate) mapq: u8,
    pub(crate) cigar: &'a [CigarOp],
    pub(crate) mate_place: BamPlace,
    pub(crate) template_length: i32,
    pub(crate) seq: &'a [u8],
    pub(crate) qual: &'a [u8],
}

impl Fields<'_> {
    /// Whether it has not all bases of its read.
    pub(crate) fn lacks_bases(&self) -> bool {
        !is_primary(self.flags) && self.seq.is_empty()
            || [self.cigar.first(), self.cigar.last()].iter().flatten().any(|op| op.is_hard_clip())
    }
}

/// A line, taken apart.
#[derive(Debug)]
pub(crate) struct SamLine<'a> {
    text: &'a [u8],
    pub(crate) fields: Fields<'a>,
    /// What follows the fields: the optional ones, not looked at.
    optional: Option<&'a [u8]>,
}

impl<'a> SamLine<'a> {
    /// Whether it has an optional field of this name.
    pub(crate) fn has(&self, key: [u8; 2]) -> bool {
        let fields = self.optional.into_iter().flat_map(|optional| optional.split(|&b| b == b'\t'));
        fields.filter_map(|field| field.first_chunk()).any(|found| *found == key)
    }

    /// The text that an optional field holds.
    pub(crate) fn text_of(&self, key: [u8; 2]) -> Option<&'a [u8]> {
        text_of(self.optional?, key)
    }

    /// All of it, without its newline.
    pub(crate) fn text(&self) -> &[u8] {
        self.text
    }

    /// All of it, without its newline and the optional fields of some names.
    pub(crate) fn text_but(&self, is_left_out: impl Fn([u8; 2]) -> bool) -> Vec<u8> {
        let optional = self.optional.map_or(0, |optional| optional.len() + 1);
        let mut text = self.text[..self.text.len() - optional].to_vec();
        let mut rest = self.optional;
        while let Some(field) = take_field(&mut rest) {
            if !field.first_chunk().is_some_and(|key| is_left_out(*key)) {
                text.push(b'\t');
                text.extend_from_slice(field);
            }
        }
        text
    }

    /// Appends the optional fields in their binary form, but those of some names. Returns whether RG is one of them.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn push_optional(
        &self,
        out: &mut Vec<u8>,
        is_left_out: impl Fn([u8; 2]) -> bool,
    ) -> Result<bool, Error> {
        let Some(optional) = self.optional else { return Ok(false) };
        push_fields_but(out, optional, is_left_out).map_err(|odd| {
            let what = format!("'{}' is not TAG:TYPE:VALUE with a value of that type (as NM:i:5 is)", quote(odd));
            fault(self.text, &what)
        })
    }
}

/// The numbers of the contigs by their names. Made when the first line asks: an embedded engine knows the numbers
/// itself.
#[derive(Debug, Default)]
pub(crate) struct ContigNumbers(OnceLock<HashMap<Vec<u8>, u32>>);

impl ContigNumbers {
    fn get(&self, contigs: &[Contig], name: &[u8]) -> Option<u32> {
        let number = |(number, contig): (usize, &Contig)| (contig.name.clone().into_bytes(), number as u32);
        self.0.get_or_init(|| contigs.iter().enumerate().map(number).collect()).get(name).copied()
    }
}

/// Takes lines apart, for one encoder.
#[derive(Debug)]
pub(crate) struct LineParser<'h> {
    contigs: &'h [Contig],
    numbers: &'h ContigNumbers,
    /// The contig that was named last: mostly the next one too.
    last: u32,
    cigar: Vec<CigarOp>,
}

impl<'h> LineParser<'h> {
    pub(crate) fn new(contigs: &'h [Contig], numbers: &'h ContigNumbers) -> Self {
        LineParser { contigs, numbers, last: 0, cigar: Vec::new() }
    }

    /// Takes `line` apart and checks everything but its optional fields.
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub(crate) fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<SamLine<'a>, Error> {
        self.parse_columns(line).map_err(|what| fault(line, &what))
    }

    fn parse_columns<'a>(&'a mut self, text: &'a [u8]) -> Result<SamLine<'a>, String> {
        if text.is_empty() {
            return Err("it is an empty line".to_owned());
        }
        let (mut columns, mut optional) = ([&text[..0]; COLUMNS], Some(text));
        for (before, column) in columns.iter_mut().enumerate() {
            let missing = || format!("it has {before} of the {COLUMNS} fields that every record has");
            *column = take_field(&mut optional).ok_or_else(missing)?;
        }
        let [name, flags, contig, position, mapq, cigar, mate_contig, mate_position, length, seq, qual] = columns;
        check_name(name)?;
        let contig = self.contig("RNAME", contig)?;
        let mate_contig = if mate_contig == b"=" { contig } else { self.contig("RNEXT", mate_contig)? };
        let flags = number("FLAG", flags, u16::MAX.into())? as u16;
        let (seq, qual) = match (seq, qual) {
            // bwa and minimap2 write a read of no bases so.
            ([], [] | b"*") if flags & UNMAPPED != 0 && cigar == b"*" => (&seq[..0], &seq[..0]),
            _ => bases(seq, qual)?,
        };
        self.parse_cigar(cigar, seq.len())?;
        let fields = Fields {
            name,
            flags,
            place: BamPlace { contig, position: place("POS", position)? },
            mapq: number("MAPQ", mapq, u8::MAX.into())? as u8,
            cigar: &self.cigar,
            mate_place: BamPlace { contig: mate_contig, position: place("PNEXT", mate_position)? },
            template_length: template_length(length)?,
            seq,
            qual,
        };
        Ok(SamLine { text, fields, optional })
    }

    /// The number of a contig; -1 for `*`.
    fn contig(&mut self, column: &str, name: &[u8]) -> Result<i32, String> {
        if name == b"*" {
            return Ok(-1);
        }
        if self.contigs.get(self.last as usize).is_none_or(|last| last.name.as_bytes() != name) {
            let unknown = || format!("its {column} is '{}', which the header does not name", quote(name));
            self.last = self.numbers.get(self.contigs, name).ok_or_else(unknown)?;
        }
        Ok(self.last as i32)
    }

    /// Takes the operations of a CIGAR and holds them against the bases, where there are both.
    fn parse_cigar(&mut self, text: &[u8], bases: usize) -> Result<(), String> {
        self.cigar.clear();
        if text == b"*" {
            return Ok(());
        }
        operations(text, &mut self.cigar)
            .ok_or_else(|| format!("its CIGAR '{}' is not valid (as 100M is, or 5S95M)", quote(text)))?;
        let moved = self.cigar.iter().filter(|op| op.consumes_query());
        match moved.map(|op| u64::from(op.length())).sum::<u64>() {
            sum if bases == 0 || sum == bases as u64 => Ok(()),
            sum => Err(format!("its CIGAR '{}' stands for {sum} bases, but it has {bases}", quote(text))),
        }
    }
}

#[cold]
fn fault(line: &[u8], what: &str) -> Error {
    let name = line.split(|&b| b == b'\t').next().unwrap_or_default();
    Error::Damaged { read: quote(name), what: format!("the aligner's record is not valid SAM: {what}") }
}

/// What the program wrote, as a message can hold it.
fn quote(text: &[u8]) -> String {
    match text.get(..QUOTED) {
        Some(start) if text.len() > QUOTED => format!("{}...", start.escape_ascii()),
        _ => text.escape_ascii().to_string(),
    }
}

/// The line with one flag more; none if it has it already, or has no flags.
pub(crate) fn with_flag(line: &[u8], flag: u16) -> Option<Vec<u8>> {
    with_flags(line, |flags| flags | flag)
}

/// The line without a flag; none if it has not got it.
pub(crate) fn without_flag(line: &[u8], flag: u16) -> Option<Vec<u8>> {
    with_flags(line, |flags| flags & !flag)
}

/// The line with other flags; none if they are the same.
fn with_flags(line: &[u8], changed: impl FnOnce(u16) -> u16) -> Option<Vec<u8>> {
    let mut columns = line.splitn(3, |&b| b == b'\t');
    let (name, flags, rest) = (columns.next()?, columns.next()?, columns.next()?);
    let flags = digits(flags, u16::MAX.into())? as u16;
    let new = Some(changed(flags)).filter(|new| *new != flags)?;
    Some([name, itoa::Buffer::new().format(new).as_bytes(), rest].join(&b'\t'))
}

/// The flags of a line; none are set where it has no flags.
pub(crate) fn flags_of(line: &[u8]) -> u16 {
    let flags = line.splitn(3, |&b| b == b'\t').nth(1);
    flags.and_then(|flags| digits(flags, u16::MAX.into())).unwrap_or_default() as u16
}

/// SAMv1 rules out every '@'; reads have it, and what matters is that the line is not taken for one of the header.
fn check_name(name: &[u8]) -> Result<(), String> {
    match name {
        [] => Err("its QNAME is empty".to_owned()),
        [b'@', ..] => Err("its QNAME starts with '@', as only lines of the header do".to_owned()),
        _ if !all(name, |b| (b'!'..=b'~').contains(&b)) => {
            Err(format!("its QNAME '{}' holds a character that SAM does not allow", quote(name)))
        }
        _ => Ok(()),
    }
}

/// Whether all bytes are such. It looks at every byte, so that it can look at many at once.
fn all(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(true, |all, &b| all & is_such(b))
}

fn digits(text: &[u8], max: u32) -> Option<u32> {
    if text.is_empty() || text.len() > 10 {
        return None;
    }
    let add = |sum: u64, &b: &u8| b.is_ascii_digit().then(|| sum * 10 + u64::from(b - b'0'));
    text.iter().try_fold(0, add).filter(|&n| n <= u64::from(max)).map(|n| n as u32)
}

fn number(column: &str, text: &[u8], max: u32) -> Result<u32, String> {
    digits(text, max).ok_or_else(|| format!("its {column} is '{}', not a number from 0 to {max}", quote(text)))
}

/// A position from 0, of one from 1; -1 for none.
fn place(column: &str, text: &[u8]) -> Result<i32, String> {
    Ok(number(column, text, i32::MAX as u32)? as i32 - 1)
}

fn template_length(text: &[u8]) -> Result<i32, String> {
    let (negative, size) = text.strip_prefix(b"-").map_or((false, text), |size| (true, size));
    let size = digits(size, 1 << 31).map(i64::from);
    let value = size.map(|size| if negative { -size } else { size });
    let wrong = || format!("its TLEN is '{}', not a number from {} to {}", quote(text), i32::MIN, i32::MAX);
    value.and_then(|value| i32::try_from(value).ok()).ok_or_else(wrong)
}

fn operations(text: &[u8], out: &mut Vec<CigarOp>) -> Option<()> {
    let mut length = None;
    for &b in text {
        if b.is_ascii_digit() {
            // More than this no operation holds; not growing further it cannot overflow.
            let former: u32 = length.unwrap_or(0);
            length = Some((former * 10 + u32::from(b - b'0')).min(1 << 28));
        } else {
            out.push(CigarOp::new(length.take()?, b)?);
        }
    }
    (length.is_none() && !out.is_empty()).then_some(())
}

/// SEQ and QUAL, empty for `*`.
fn bases<'a>(seq: &'a [u8], qual: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), String> {
    let seq = if seq == b"*" { &seq[..0] } else { check_seq(seq)? };
    // One quality of '*' counts as none: so does samtools have it.
    let qual = if qual == b"*" { &qual[..0] } else { check_qual(qual)? };
    if !qual.is_empty() && qual.len() != seq.len() {
        return Err(format!("it has {} bases but {} qualities", seq.len(), qual.len()));
    }
    Ok((seq, qual))
}

fn check_seq(seq: &[u8]) -> Result<&[u8], String> {
    let is_base = |b: u8| (b | 0x20).wrapping_sub(b'a') < 26 || b == b'=' || b == b'.';
    match seq {
        [] => Err("its SEQ is empty".to_owned()),
        _ if all(seq, is_base) => Ok(seq),
        _ => Err(format!("its SEQ '{}' holds a character that is not a base", quote(seq))),
    }
}

fn check_qual(qual: &[u8]) -> Result<&[u8], String> {
    match qual {
        [] => Err("its QUAL is empty".to_owned()),
        _ if all(qual, |b| (b'!'..=b'~').contains(&b)) => Ok(qual),
        _ => Err("its QUAL holds a character that is not a quality (allowed are '!' to '~')".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_bounds() {
        assert_eq!(digits(b"65535", 65535), Some(65535));
        assert_eq!(digits(b"0000000007", 9), Some(7));
        for odd in [&b""[..], b"65536", b"-1", b"+1", b"1 ", b"0x1", b"99999999999999999999"] {
            assert_eq!(digits(odd, 65535), None, "{}", odd.escape_ascii());
        }
        assert_eq!(template_length(b"-2147483648"), Ok(i32::MIN));
        assert_eq!(template_length(b"2147483647"), Ok(i32::MAX));
        assert!(template_length(b"2147483648").is_err() && template_length(b"--1").is_err());
        assert_eq!((place("POS", b"0"), place("POS", b"2147483647")), (Ok(-1), Ok(i32::MAX - 1)));
    }

    #[test]
    fn flags_are_set_and_taken_away() {
        let with = |line: &str| with_flag(line.as_bytes(), 1024).map(|line| String::from_utf8(line).unwrap());
        let without = |line: &str| without_flag(line.as_bytes(), 1024).map(|line| String::from_utf8(line).unwrap());
        let [unset, set] = ["r\t16\t*\tx", "r\t1040\t*\tx"];
        assert_eq!((with(unset), with(set)), (Some(set.to_owned()), None));
        assert_eq!((without(unset), without(set)), (None, Some(unset.to_owned())));
        assert_eq!([unset, set, "r", "r\tx\t"].map(|line| flags_of(line.as_bytes())), [16, 1040, 0, 0]);
        assert_eq!((with("r"), without("r\t1024")), (None, None));
    }

    #[test]
    fn operations_and_their_bounds() {
        let parse = |text: &str| {
            let mut out = Vec::new();
            operations(text.as_bytes(), &mut out).map(|()| out)
        };
        let op = |length, letter| CigarOp::new(length, letter).unwrap();
        assert_eq!(parse("5S268435455M0I"), Some(vec![op(5, b'S'), op(268_435_455, b'M'), op(0, b'I')]));
        for odd in ["", "M", "5", "5M3", "5M*", "5m", "268435456M", "99999999999999999999M", "-1M"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
