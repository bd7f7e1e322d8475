//! How a record lies in BAM (SAMv1, section 4.2), for all who read some of it: of input, of what is written, of what
//! becomes CRAM.

/// Bytes of the fields of a fixed size, with the length of the record before them.
pub const FIXED: usize = 36;

/// The fields of a fixed size, as they lie there. Nothing is known yet of whether they fit each other.
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    /// Bytes of the record behind those that say so.
    pub length: i32,
    /// The number of its contig, from 0, or -1.
    pub contig: i32,
    /// Its position, from 0, or -1.
    pub position: i32,
    /// Bytes of its name, with the zero behind it.
    pub name_bytes: usize,
    /// Its mapping quality.
    pub mapq: u8,
    /// Its bin in the index scheme of BAI.
    pub bin: u16,
    /// Operations of its CIGAR.
    pub operations: usize,
    /// FLAG.
    pub flags: u16,
    /// Its bases.
    pub bases: i32,
    /// The number of its mate's contig, from 0, or -1.
    pub mate_contig: i32,
    /// Its mate's position, from 0, or -1.
    pub mate_position: i32,
    /// TLEN.
    pub template_length: i32,
}

impl Fixed {
    /// Those of the record that `bytes` begin with, with its length before it, and what is behind them: the name; none
    /// if the bytes end before that.
    #[inline]
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (fixed, rest) = bytes.split_first_chunk::<FIXED>()?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let int = |at: usize| i32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let fixed = Fixed {
            length: int(0),
            contig: int(4),
            position: int(8),
            name_bytes: fixed[12].into(),
            mapq: fixed[13],
            bin: short(14),
            operations: short(16).into(),
            flags: short(FLAGS),
            bases: int(20),
            mate_contig: int(24),
            mate_position: int(28),
            template_length: int(32),
        };
        Some((fixed, rest))
    }
}

/// Where FLAG is.
const FLAGS: usize = 18;

/// Gives a record other flags; one that is cut off before them stays.
pub fn set_flags(record: &mut [u8], flags: u16) {
    if let Some(old) = record.get_mut(FLAGS..FLAGS + 2) {
        old.copy_from_slice(&flags.to_le_bytes());
    }
}

/// An optional field (SAMv1, section 4.2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'b> {
    /// Its two letters.
    pub key: [u8; 2],
    /// The letter of its type.
    pub kind: u8,
    /// Without the zero at the end of text; of an array with its type and its number of values.
    pub value: &'b [u8],
}

impl<'b> Field<'b> {
    /// Its value, if that is text (Z).
    pub fn text(&self) -> Option<&'b [u8]> {
        (self.kind == b'Z').then_some(self.value)
    }

    /// The numbers of an array of integers with 32 bits, as they lie there.
    pub fn words(&self) -> Option<&'b [u8]> {
        match (self.kind, self.value) {
            (b'B', [b'i' | b'I', _, _, _, _, words @ ..]) => Some(words),
            _ => None,
        }
    }

    /// The field that `bytes` begin with, and what is behind it; none if there is none of a type that BAM has.
    #[inline]
    pub fn split(bytes: &'b [u8]) -> Option<(Self, &'b [u8])> {
        let [k1, k2, kind, rest @ ..] = bytes else { return None };
        if !k1.is_ascii_alphabetic() || !k2.is_ascii_alphanumeric() {
            return None;
        }
        let (length, end) = match kind {
            b'A' => (1, 0),
            b'Z' | b'H' => (memchr::memchr(0, rest)?, 1),
            b'B' => {
                let count = u32::from_le_bytes(*rest.get(1..)?.first_chunk()?);
                (5 + (count as usize).checked_mul(bytes_of(rest[0])?)?, 0)
            }
            _ => (bytes_of(*kind)?, 0),
        };
        let (value, rest) = (rest.get(..length)?, rest.get(length + end..)?);
        Some((Field { key: [*k1, *k2], kind: *kind, value }, rest))
    }
}

/// Bytes of one value of a type of numbers.
pub fn bytes_of(kind: u8) -> Option<usize> {
    match kind {
        b'c' | b'C' => Some(1),
        b's' | b'S' => Some(2),
        b'i' | b'I' | b'f' => Some(4),
        _ => None,
    }
}

/// The CIGAR of a record that has more operations than the record can count: it is in the field CG, and one of two
/// operations stands in its place (SAMv1, section 4.2.2). With it comes what is behind that field; none if `cigar` is
/// the one that is meant.
pub fn long_cigar<'b>(cigar: &[u8], mut fields: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
    const SOFT_CLIP: u8 = 4;
    const SKIP: u8 = 3;
    if !matches!(cigar, [clip, _, _, _, skip, _, _, _] if clip & 15 == SOFT_CLIP && skip & 15 == SKIP) {
        return None;
    }
    while let Some((field, rest)) = Field::split(fields) {
        if field.key == *b"CG" {
            return Some((field.words()?, rest));
        }
        fields = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_fixed_size_and_what_is_behind_them() {
        let numbers: Vec<u8> = (1..=40).collect();
        let (fixed, rest) = Fixed::split(&numbers).unwrap();
        assert_eq!((fixed.length, fixed.contig, fixed.position), (0x0403_0201, 0x0807_0605, 0x0c0b_0a09));
        assert_eq!((fixed.name_bytes, fixed.mapq, fixed.bin), (13, 14, 0x100f));
        assert_eq!((fixed.operations, fixed.flags, fixed.bases), (0x1211, 0x1413, 0x1817_1615));
        assert_eq!((fixed.mate_contig, fixed.mate_position), (0x1c1b_1a19, 0x201f_1e1d));
        assert_eq!((fixed.template_length, rest), (0x2423_2221, &[37, 38, 39, 40][..]));
        assert!(Fixed::split(&numbers[..35]).is_none());
        let mut other = numbers.clone();
        set_flags(&mut other, 0x400);
        assert_eq!(Fixed::split(&other).unwrap().0.flags, 0x400);
        other[18..20].copy_from_slice(&numbers[18..20]);
        assert_eq!(other, numbers);
    }

    #[test]
    fn a_long_cigar_is_in_its_field() {
        let stands_in: Vec<u8> = [4u32 << 4 | 4, 9 << 4 | 3].iter().flat_map(|op| op.to_le_bytes()).collect();
        let fields = b"XAZCGBI\x01\0CGBI\x01\0\0\0abcdNMC\x02";
        assert_eq!(long_cigar(&stands_in, fields), Some((&b"abcd"[..], &b"NMC\x02"[..])));
        assert_eq!(long_cigar(&stands_in[..4], fields), None);
        assert_eq!(long_cigar(&stands_in, b"NMC\x02"), None);
        assert_eq!(long_cigar(&stands_in, b"CGZx\0"), None);
    }
}
