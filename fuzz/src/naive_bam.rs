//! Reads of BAM as one would parse them first: the whole file at once, byte by byte as SAMv1 (section 4.2) has them.

use crate::naive::{Chunks, Read, cut};
use crate::take;

/// What is known of all reads of a file.
#[derive(Debug, Clone)]
pub struct Lane {
    /// Whether all are pairs, or all single; none if both may be there, and reads without their mates.
    pub is_paired: Option<bool>,
    /// Whether they have no qualities.
    pub lacks_qualities: bool,
    /// The IDs of the read groups.
    pub read_groups: Vec<Vec<u8>>,
    /// Arrays and text that go with the direction of a read.
    pub reversed: Vec<[u8; 2]>,
    /// The longest read that is allowed.
    pub max_read_bases: usize,
}

/// The chunks of a whole file, inflated; `None` where anything is wrong with it. If `are_alike`, all its reads must be
/// pairs, or all single, as the first is.
pub fn chunks(file: &[u8], closes_past: u64, max_read_bases: usize, are_alike: bool) -> Option<Chunks> {
    let mut bytes = Bytes(file);
    if bytes.take(4)? != b"BAM\x01" {
        return None;
    }
    let length = bytes.length()?;
    let lines = bytes.take(length)?.split(|&b| b == b'\n' || b == 0).filter_map(|line| line.strip_prefix(b"@RG\t"));
    let id = |line: &[u8]| line.split(|&b| b == b'\t').find_map(|field| Some(field.strip_prefix(b"ID:")?.to_vec()));
    let read_groups = lines.filter_map(id).collect();
    for _ in 0..bytes.length()? {
        let name = bytes.length()?;
        bytes.take(name)?;
        bytes.take(4)?;
    }
    let reads = reads_of(bytes.0)?;
    let lane = Lane {
        is_paired: are_alike.then(|| reads.first().is_some_and(Record::is_paired)),
        lacks_qualities: reads.iter().find_map(|read| read.qual.first()) == Some(&0xff),
        read_groups,
        reversed: Vec::new(),
        max_read_bases,
    };
    Some(cut(fragments_of(&reads, &lane)?, closes_past))
}

/// The fragments of records that are of `lane`; `None` where anything is wrong with them.
pub fn fragments(records: &[u8], lane: &Lane) -> Option<Vec<Vec<Read>>> {
    fragments_of(&reads_of(records)?, lane)
}

/// Records out of any bytes, whose lengths fit: what a fuzzer changes in them remains a record.
pub fn records(mut data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while !data.is_empty() {
        let [flags, more_flags, name, operations, bases, fields] = take(&mut data);
        let mut part = |length: usize| {
            let (part, rest) = data.split_at(length.min(data.len()));
            data = rest;
            part.to_vec()
        };
        let name = match name >> 6 {
            0 => vec![b'a' + name % 4],
            1 => vec![b'a' + name % 4, b'/', b'1' + (name >> 2) % 3],
            _ => part(usize::from(name) % 64).into_iter().filter(|&b| b != 0).collect(),
        };
        let (cigar, seq, mut qual) = (
            part(4 * usize::from(operations % 4)),
            part(usize::from(bases % 32).div_ceil(2)),
            part(usize::from(bases % 32)),
        );
        qual.iter_mut().for_each(|quality| *quality = if bases & 0x80 == 0 { *quality % 95 } else { 0xff });
        let mut fields = part(fields.into());
        if bases & 0x40 != 0 {
            fields = whole_fields(&fields);
        }
        let mut fixed = [0xff; 32];
        (fixed[8], fixed[12], fixed[13]) = (name.len() as u8 + 1, (cigar.len() / 4) as u8, 0);
        (fixed[14], fixed[15]) = (flags, more_flags);
        fixed[16..20].copy_from_slice(&(qual.len() as u32).to_le_bytes());
        let seq = &seq[..qual.len().div_ceil(2)];
        let cigar = &cigar[..cigar.len() / 4 * 4];
        let body = [&fixed, &name[..], &[0], cigar, seq, &qual, &fields].concat();
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
        out.extend_from_slice(&body);
    }
    out
}

/// Fields out of any bytes, none of which is cut off.
fn whole_fields(mut data: &[u8]) -> Vec<u8> {
    const KEYS: [[u8; 2]; 8] = [*b"RG", *b"CG", *b"cd", *b"aq", *b"NM", *b"RX", *b"ML", *b"SA"];
    let mut out = Vec::new();
    while !data.is_empty() {
        let [key, kind, length] = take(&mut data);
        let kind = b"AcCsSiIfZHBB"[usize::from(kind) % 12];
        out.extend_from_slice(&KEYS[usize::from(key) % 8]);
        out.push(kind);
        let bytes = match kind {
            b'A' | b'c' | b'C' => 1,
            b's' | b'S' => 2,
            b'i' | b'I' | b'f' => 4,
            b'Z' | b'H' => usize::from(length) % 16,
            _ => {
                let (kind, size) =
                    [(b'C', 1), (b's', 2), (b'i', 4), (b'I', 4), (b'f', 4)][usize::from(length >> 4) % 5];
                out.extend_from_slice(&[kind, length % 4, 0, 0, 0]);
                usize::from(length % 4) * size
            }
        };
        let (value, rest) = data.split_at(bytes.min(data.len()));
        data = rest;
        out.extend_from_slice(value);
        out.extend(std::iter::repeat_n(b'g', bytes - value.len()));
        out.extend(matches!(kind, b'Z' | b'H').then_some(0));
    }
    out
}

struct Bytes<'t>(&'t [u8]);

impl<'t> Bytes<'t> {
    fn take(&mut self, count: usize) -> Option<&'t [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A little-endian number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<u32> {
        Some(self.take(bytes)?.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    /// A number of 32 bits with a sign, which must not be negative.
    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number(4)? as i32).ok()
    }
}

struct Record<'t> {
    flags: u32,
    name: &'t [u8],
    /// Numbers of operations, without their lengths.
    cigar: Vec<u8>,
    bases: Vec<u8>,
    qual: &'t [u8],
    fields: &'t [u8],
}

/// The records of reads: neither secondary nor supplementary.
fn reads_of(records: &[u8]) -> Option<Vec<Record<'_>>> {
    let (mut bytes, mut reads) = (Bytes(records), Vec::new());
    while !bytes.0.is_empty() {
        let size = bytes.length()?;
        let record = Record::read(Bytes(bytes.take(size)?))?;
        if record.flags & 0x900 == 0 {
            reads.push(record);
        }
    }
    Some(reads)
}

fn fragments_of(records: &[Record<'_>], lane: &Lane) -> Option<Vec<Vec<Read>>> {
    let reads: Vec<Read> = records.iter().map(|record| record.as_sequenced(lane)).collect::<Option<_>>()?;
    let is_odd = |record: &Record<'_>| lane.is_paired.is_some_and(|is_paired| record.is_paired() != is_paired);
    if records.iter().any(is_odd) {
        return None;
    }
    let (mut fragments, mut orphans, mut at) = (Vec::new(), Vec::new(), 0);
    let is_mate = |at: usize, of: usize| {
        at < reads.len() && records[at].is_paired() && records[of].is_paired() && reads[at].name == reads[of].name
    };
    while at < reads.len() {
        if is_mate(at + 1, at) {
            // more than two of one name
            if is_mate(at + 2, at) {
                return None;
            }
            let (first, second) = (reads[at].clone(), reads[at + 1].clone());
            fragments.push(match (records[at].flags & 0xc0, records[at + 1].flags & 0xc0) {
                (0x40, 0x80) => vec![first, second],
                (0x80, 0x40) => vec![second, first],
                _ => return None,
            });
            at += 2;
            continue;
        }
        if records[at].is_paired() {
            orphans.push((reads[at].name.clone(), records[at].flags & 0xc0));
        }
        fragments.push(vec![reads[at].clone()]);
        at += 1;
    }
    let are_mates = |(one, first): &(Vec<u8>, u32), (two, second): &(Vec<u8>, u32)| {
        let is_apart = [b".", b"_"].iter().any(|separator| {
            let stem = |name: &'_ Vec<u8>, number: &[u8]| {
                name.strip_suffix(number)?.strip_suffix(&separator[..]).map(<[u8]>::to_vec)
            };
            let [ones, twos] = [(b"1", b"2"), (b"2", b"1")].map(|(n, m)| (stem(one, n), stem(two, m)));
            [ones, twos].iter().any(|(one, two)| one.is_some() && one == two)
        });
        one == two || is_apart && first & second == 0
    };
    let has_mate = |at: usize| orphans[..at].iter().any(|before| are_mates(before, &orphans[at]));
    let is_refused = !orphans.is_empty() && lane.is_paired.is_some() || (0..orphans.len()).any(has_mate);
    (!is_refused).then_some(fragments)
}

impl<'t> Record<'t> {
    fn read(mut bytes: Bytes<'t>) -> Option<Self> {
        bytes.take(8)?;
        let name = bytes.number(1)? as usize;
        bytes.take(3)?;
        let (operations, flags, bases) = (bytes.number(2)?, bytes.number(2)?, bytes.length()?);
        bytes.take(12)?;
        let (end, name) = bytes.take(name)?.split_last()?;
        if *end != 0 || name.contains(&0) {
            return None;
        }
        let cigar = (0..operations).map(|_| Some(bytes.number(4)? as u8 & 15)).collect::<Option<_>>()?;
        let packed = bytes.take(bases.div_ceil(2))?;
        let bases: Vec<u8> = packed.iter().flat_map(|two| [two >> 4, two & 15]).take(bases).collect();
        let qual = bytes.take(bases.len())?;
        Some(Record { flags, name, cigar, bases, qual, fields: bytes.0 })
    }

    fn is_paired(&self) -> bool {
        self.flags & 1 != 0
    }

    /// The read in its own direction.
    fn as_sequenced(&self, lane: &Lane) -> Option<Read> {
        let name = self.name.strip_suffix(b"/1").or(self.name.strip_suffix(b"/2")).unwrap_or(self.name);
        if name.is_empty() || name[0] == b'@' || name == b"*" || !name.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        let fields = fields(self.fields);
        let long_cigar = fields.iter().map_while(Option::as_ref).find(|field| field.key == *b"CG");
        let cigar = match (&self.cigar[..], long_cigar) {
            ([4, 3], Some(Field { value: Value::Array(b'i' | b'I', numbers), .. })) => {
                numbers.iter().map(|number| number.parse::<i64>().unwrap() as u8 & 15).collect()
            }
            _ => self.cigar.clone(),
        };
        let of_read = |operation: &u8| matches!(operation, 0 | 1 | 4 | 7 | 8);
        if self.bases.len() > lane.max_read_bases
            || self.bases.is_empty() && cigar.iter().any(of_read)
            || cigar.first() == Some(&5)
            || cigar.last() == Some(&5)
        {
            return None;
        }
        let is_good = |quality: &u8| if lane.lacks_qualities { *quality == 255 } else { *quality <= 93 };
        if !self.qual.iter().all(is_good) {
            return None;
        }
        let is_reverse = self.flags & 16 != 0;
        let mut seq: Vec<u8> = self.bases.clone();
        let mut qual: Vec<u8> = self.qual.iter().map(|quality| quality.wrapping_add(33)).collect();
        if is_reverse {
            // The code of a base is that of its complement backwards, bit by bit.
            seq = seq.iter().rev().map(|code| code.reverse_bits() >> 4).collect();
            qual.reverse();
        }
        let mut comment = Vec::new();
        let fields = fields.into_iter().collect::<Option<Vec<Field>>>()?;
        let was_aligned = self.flags & 4 == 0 || fields.iter().any(|field| OF_ALIGNMENTS.contains(&field.key));
        for field in fields {
            if OF_ALIGNMENTS.contains(&field.key) || was_aligned && field.is_of_aligner() {
                continue;
            }
            let reversed = is_reverse && lane.reversed.contains(&field.key);
            comment.push(field.shown(reversed, &lane.read_groups)?);
        }
        Some(Read {
            name: name.to_vec(),
            comment: comment.join(&b'\t'),
            seq: seq.iter().map(|code| b"=ACMGRSVTWYHKDBN"[usize::from(*code)]).collect(),
            qual: (!lane.lacks_qualities).then_some(qual),
            failed_filters: self.flags & 0x200 != 0,
        })
    }
}

/// What only an aligner can know.
const OF_ALIGNMENTS: [[u8; 2]; 15] = [
    *b"AS", *b"CC", *b"CG", *b"CP", *b"H0", *b"H1", *b"H2", *b"HI", *b"IH", *b"MC", *b"MD", *b"MQ", *b"NM", *b"SA",
    *b"TS",
];

struct Field {
    key: [u8; 2],
    kind: u8,
    value: Value,
}

enum Value {
    Number(String),
    Text(Vec<u8>),
    Array(u8, Vec<String>),
}

/// The fields, up to one that is none.
fn fields(bytes: &[u8]) -> Vec<Option<Field>> {
    let (mut bytes, mut all) = (Bytes(bytes), Vec::new());
    while !bytes.0.is_empty() && !matches!(all.last(), Some(None)) {
        all.push(Field::read(&mut bytes));
    }
    all
}

impl Field {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let key: [u8; 2] = bytes.take(2)?.try_into().ok()?;
        if !key[0].is_ascii_alphabetic() || !key[1].is_ascii_alphanumeric() {
            return None;
        }
        let kind = bytes.take(1)?[0];
        let value = match kind {
            b'A' => Value::Text(bytes.take(1)?.to_vec()),
            b'Z' | b'H' => {
                let text = bytes.0.split(|&b| b == 0).next()?;
                bytes.take(text.len())?;
                bytes.take(1)?;
                Value::Text(text.to_vec())
            }
            b'B' => {
                let kind = bytes.take(1)?[0];
                let count = bytes.number(4)?;
                // An array of no numbers has a type, too.
                number(kind, &mut Bytes(&[0; 4]))?;
                let numbers = (0..count).map(|_| number(kind, bytes)).collect::<Option<_>>()?;
                Value::Array(kind, numbers)
            }
            _ => Value::Number(number(kind, bytes)?),
        };
        Some(Field { key, kind, value })
    }

    /// Whether it is one that aligners write, and may mean something else in a read that had no alignment.
    fn is_of_aligner(&self) -> bool {
        let is_integer = b"cCsSiI".contains(&self.kind);
        match (&self.key, &self.value) {
            (b"XS", Value::Text(_)) => self.kind == b'A',
            (b"XS" | b"ms" | b"XA", Value::Number(_)) => is_integer,
            (b"pa", Value::Number(_)) => self.kind == b'f',
            (b"XA", Value::Text(text)) if self.kind == b'Z' => {
                let mut places: Vec<&[u8]> = text.split(|b| *b == b';').collect();
                let is_ended = places.pop() == Some(b"") && !places.is_empty();
                is_ended && places.iter().all(|place| place.split(|b| *b == b',').count() > 3)
            }
            _ => false,
        }
    }

    /// As SAM has it, backwards if it is to be `reversed`.
    fn shown(&self, reversed: bool, read_groups: &[Vec<u8>]) -> Option<Vec<u8>> {
        let is_number = matches!(self.value, Value::Number(_)) && self.kind != b'f';
        let kind = if is_number { b'i' } else { self.kind };
        let value = match &self.value {
            Value::Number(number) => number.clone().into_bytes(),
            Value::Text(text) => {
                let is_allowed = match self.kind {
                    b'A' => text.iter().all(u8::is_ascii_graphic),
                    b'H' => text.len().is_multiple_of(2) && text.iter().all(u8::is_ascii_hexdigit),
                    _ => text.iter().all(|b| *b == b' ' || b.is_ascii_graphic()),
                };
                if !is_allowed {
                    return None;
                }
                let backwards = reversed && self.kind == b'Z';
                if backwards { text.iter().rev().copied().collect() } else { text.clone() }
            }
            Value::Array(kind, numbers) => {
                let mut parts = vec![(*kind as char).to_string()];
                match reversed {
                    true => parts.extend(numbers.iter().rev().cloned()),
                    false => parts.extend(numbers.iter().cloned()),
                }
                parts.join(",").into_bytes()
            }
        };
        if self.key == *b"RG" && (self.kind != b'Z' || !read_groups.contains(&value)) {
            return None;
        }
        Some([&self.key[..], &[b':', kind, b':'], &value].concat())
    }
}

fn number(kind: u8, bytes: &mut Bytes<'_>) -> Option<String> {
    Some(match kind {
        b'c' => (bytes.number(1)? as i8).to_string(),
        b'C' => bytes.number(1)?.to_string(),
        b's' => (bytes.number(2)? as i16).to_string(),
        b'S' => bytes.number(2)?.to_string(),
        b'i' => (bytes.number(4)? as i32).to_string(),
        b'I' => bytes.number(4)?.to_string(),
        b'f' => match f32::from_bits(bytes.number(4)?) {
            value if value == 0.0 || (1e-4..1e9).contains(&value.abs()) => value.to_string(),
            value => format!("{value:e}"),
        },
        _ => return None,
    })
}
