//! A gzip stream of any number of members (RFC 1952, section 2.2), with the rule of gzip(1) for what follows the last
//! one: zeros up to the end are padding, anything else is trailing garbage. gzip(1) passes over garbage with a warning;
//! here it is a fault.

use crate::garbage::TrailingGarbage;
use crate::lasting::Lasting;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much is read at a time, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// The text in `raw`: inflated if it begins as gzip or BGZF does, as it is otherwise.
///
/// # Errors
/// What reading the first bytes says.
pub fn inflated<'r>(mut raw: impl Read + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    let mut first = Vec::new();
    raw.by_ref().take(2).read_to_end(&mut first)?;
    let is_gzip = zerohop_gzip::is_member(&first);
    let raw = Cursor::new(first).chain(raw);
    Ok(match is_gzip {
        true => Box::new(BufReader::with_capacity(BUFFER_BYTES, GzipMembers::new(raw, BUFFER_BYTES))),
        false => Box::new(BufReader::with_capacity(BUFFER_BYTES, raw)),
    })
}

/// Compressed bytes, of which the next two can be looked at, and the place in them.
struct CompressedBytes<R> {
    raw: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is not taken yet.
    start: usize,
    end: usize,
    /// Bytes that were taken.
    taken: u64,
}

impl<R: Read> CompressedBytes<R> {
    /// The bytes that come next: two at least, but at the end.
    fn next_two(&mut self) -> io::Result<&[u8]> {
        while self.end - self.start < 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            match self.raw.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Whether another member follows. If not, all that is left is taken.
    fn has_member(&mut self) -> io::Result<bool> {
        if zerohop_gzip::is_member(self.next_two()?) {
            return Ok(true);
        }
        loop {
            let zeros = self.next_two()?.iter().take_while(|&&b| b == 0).count();
            self.consume(zeros);
            if self.start < self.end {
                let garbage = TrailingGarbage { offset: self.taken };
                return Err(io::Error::new(io::ErrorKind::InvalidData, garbage));
            }
            if zeros == 0 {
                return Ok(false);
            }
        }
    }
}

impl<R: Read> Read for CompressedBytes<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: Read> BufRead for CompressedBytes<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.next_two()
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        self.taken += bytes as u64;
    }
}

/// Inflates all members, one after the other.
pub(crate) struct GzipMembers<R> {
    members: Lasting<MemberReader<R>>,
    /// Set at the end, if the last member had text: as written, BGZF ends in one without.
    pub(crate) ends_in_text: Arc<AtomicBool>,
}

struct MemberReader<R> {
    /// The member being read; none at the end.
    member: Option<GzDecoder<CompressedBytes<R>>>,
    has_text: bool,
    ends_in_text: Arc<AtomicBool>,
}

impl<R: Read> GzipMembers<R> {
    /// Reads `buffer_bytes` at a time, two at least.
    pub(crate) fn new(raw: R, buffer_bytes: usize) -> Self {
        let compressed = CompressedBytes { raw, buffer: vec![0; buffer_bytes.max(2)], start: 0, end: 0, taken: 0 };
        let ends_in_text = Arc::default();
        let member = Some(GzDecoder::new(compressed));
        let members = MemberReader { member, has_text: false, ends_in_text: Arc::clone(&ends_in_text) };
        GzipMembers { members: Lasting::new(members), ends_in_text }
    }
}

impl<R: Read> Read for GzipMembers<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.members.read(out)
    }
}

impl<R: Read> Read for MemberReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while let Some(mut member) = self.member.take() {
            let n = match member.read(out) {
                Ok(n) => n,
                Err(error) => {
                    // It is read on if it was only interrupted.
                    self.member = Some(member);
                    return Err(error);
                }
            };
            if n > 0 {
                self.member = Some(member);
                self.has_text = true;
                return Ok(n);
            }
            let mut compressed = member.into_inner();
            if compressed.has_member()? {
                self.member = Some(GzDecoder::new(compressed));
                self.has_text = false;
            } else {
                self.ends_in_text.store(self.has_text, Ordering::Relaxed);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn inflate(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        // A small buffer, so that members and padding lie across its seams.
        GzipMembers::new(bytes, 7).read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn text_is_inflated_if_it_must_be() {
        for (raw, text) in [(member(b">a\nM\n"), ">a\nM\n"), (b">a".into(), ">a"), (b">".into(), ">"), (vec![], "")] {
            let mut read = String::new();
            inflated(&raw[..]).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn whether_the_last_member_has_text_is_known_at_the_end() {
        for (raw, expected) in [
            (member(b"abc"), true),
            ([member(b"abc"), member(b"")].concat(), false),
            ([member(b"abc"), member(b""), member(b"def")].concat(), true),
            ([&member(b"abc")[..], &member(b""), &[0; 512]].concat(), false),
        ] {
            let mut members = GzipMembers::new(&raw[..], 7);
            let ends_in_text = Arc::clone(&members.ends_in_text);
            members.by_ref().take(3).read_to_end(&mut Vec::new()).unwrap();
            assert!(!ends_in_text.load(Ordering::Relaxed), "before the end");
            members.read_to_end(&mut Vec::new()).unwrap();
            assert_eq!(ends_in_text.load(Ordering::Relaxed), expected);
        }
    }

    #[test]
    fn members_empty_members_and_padding() {
        let both = [member(b"abc"), member(b""), member(b"def")].concat();
        assert_eq!(inflate(&both).unwrap(), b"abcdef");
        assert_eq!(inflate(&[&both[..], &[0; 512]].concat()).unwrap(), b"abcdef");
        let at = both.len();
        for (trailing, offset) in [
            (&b"no gzip"[..], at),
            (b"\0\0\0x", at + 3),
            (b"x", at),
            (b"\x1fx", at),
            (&[&[0; 9], &both[..]].concat(), at + 9),
        ] {
            let error = inflate(&[&both[..], trailing].concat()).unwrap_err().to_string();
            let wanted = format!("trailing garbage follows the compressed data, from compressed offset {offset} on: ");
            assert!(error.starts_with(&wanted), "{trailing:?}: {error}");
        }
        for cut in [&both[..at - 1], &[&both[..], b"\x1f"].concat(), &[&both[..], &both[..5]].concat()] {
            assert_eq!(inflate(cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
