//! What stands before and behind the deflate data of a member (RFC 1952, section 2.3).

use crate::fault::GzipFault;

/// What every member begins with.
pub const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// How members are compressed: the only way that there is.
const DEFLATE: u8 = 8;

/// Bytes of the longest name or comment, as in flate2.
const LONGEST_FIELD: usize = 65_535;
/// Bytes of a header before what is optional.
const FIXED: usize = 10;
/// Bytes of a trailer.
pub(crate) const TRAILER: usize = 8;

/// Bytes of the longest header.
pub(crate) const LONGEST_HEADER: usize = FIXED + 2 + u16::MAX as usize + 2 * (LONGEST_FIELD + 1) + 2;

const CHECKSUM: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0xe0;

/// What the trailer of a member says of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) crc: u32,
    /// Bytes, modulo 2^32.
    pub(crate) size: u32,
}

impl Trailer {
    /// The trailer at the start of `bytes`; none if it is not all there.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let &[a, b, c, d, e, f, g, h] = bytes.first_chunk::<TRAILER>()?;
        Some(Trailer { crc: u32::from_le_bytes([a, b, c, d]), size: u32::from_le_bytes([e, f, g, h]) })
    }
}

/// Whether a member begins here, also one that is cut off after its first byte.
pub fn is_member(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || bytes == &MAGIC[..1]
}

/// The length in bytes of the header at the start of `bytes`; none if it is not all there.
///
/// # Errors
/// What begins so that it is no header, whatever follows.
pub(crate) fn header(bytes: &[u8]) -> Result<Option<usize>, GzipFault> {
    let is_so_far = |wanted: &[u8]| wanted.iter().zip(bytes).all(|(wanted, byte)| wanted == byte);
    let [first, second] = MAGIC;
    if !is_so_far(&[first, second, DEFLATE]) {
        return Err(GzipFault::Header);
    }
    let Some(&flags) = bytes.get(3) else { return Ok(None) };
    if flags & RESERVED != 0 {
        return Err(GzipFault::Header);
    }
    let mut length = FIXED;
    if flags & EXTRA != 0 {
        let Some(&[low, high]) = bytes.get(length..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
        length += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for field in [NAME, COMMENT] {
        if flags & field != 0 {
            let Some(rest) = bytes.get(length..) else { return Ok(None) };
            match rest.iter().take(LONGEST_FIELD + 1).position(|&byte| byte == 0) {
                Some(end) => length += end + 1,
                None if rest.len() > LONGEST_FIELD => return Err(GzipFault::LongField),
                None => return Ok(None),
            }
        }
    }
    if flags & CHECKSUM != 0 {
        let Some(&[low, high]) = bytes.get(length..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
        if crc32fast::hash(&bytes[..length]) as u16 != u16::from_le_bytes([low, high]) {
            return Err(GzipFault::Checksum);
        }
        length += 2;
    }
    Ok((length <= bytes.len()).then_some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(flags: u8) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3];
        for (field, part) in [(EXTRA, &b"\x03\0abc"[..]), (NAME, b"name\0"), (COMMENT, b"what\0")] {
            if flags & field != 0 {
                bytes.extend_from_slice(part);
            }
        }
        if flags & CHECKSUM != 0 {
            bytes.extend_from_slice(&(crc32fast::hash(&bytes) as u16).to_le_bytes());
        }
        bytes
    }

    #[test]
    fn headers_with_any_fields_and_parts_of_them() {
        for flags in 0..32 {
            let bytes = whole(flags);
            let behind = [&bytes[..], b"x\0"].concat();
            assert_eq!(header(&behind), Ok(Some(bytes.len())), "{flags}");
            for cut in 0..bytes.len() {
                assert_eq!(header(&bytes[..cut]), Ok(None), "{flags}, {cut} bytes");
            }
        }
    }

    #[test]
    fn what_is_no_header() {
        for (bytes, fault) in [
            (&b"\x1f\x8c"[..], GzipFault::Header),
            (b"x", GzipFault::Header),
            (b"\x1f\x8b\x07", GzipFault::Header),
            (b"\x1f\x8b\x08\x20", GzipFault::Header),
            (b"\x1f\x8b\x08\x02\0\0\0\0\0\0\0\0", GzipFault::Checksum),
            (&[&whole(NAME)[..14], &[1; LONGEST_FIELD]].concat(), GzipFault::LongField),
        ] {
            assert_eq!(header(bytes), Err(fault));
        }
    }
}
