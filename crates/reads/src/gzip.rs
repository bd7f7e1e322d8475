//! A gzip stream of any number of members (RFC 1952, section 2.2). Zeros behind the last one are padding, as for gzip(1).

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How much is read at a time, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// The text in `raw`: inflated if it begins as gzip or BGZF does, as it is otherwise.
///
/// # Errors
/// What reading the first bytes says.
pub fn inflated<'r>(mut raw: impl Read + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    let mut first = Vec::new();
    raw.by_ref().take(2).read_to_end(&mut first)?;
    let is_gzip = first == [0x1f, 0x8b];
    let raw = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(first).chain(raw));
    Ok(if is_gzip { Box::new(BufReader::with_capacity(BUFFER_BYTES, GzipMembers::new(raw))) } else { Box::new(raw) })
}

/// Inflates all members, one after the other.
pub(crate) struct GzipMembers<R> {
    /// The member being read; none at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    pub(crate) fn new(compressed: R) -> Self {
        GzipMembers { member: Some(GzDecoder::new(compressed)) }
    }
}

/// Skips zeros; true at the end.
fn only_padding(compressed: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = compressed.fill_buf()?;
        let zeros = buffer.iter().take_while(|&&b| b == 0).count();
        let (empty, other) = (buffer.is_empty(), zeros < buffer.len());
        compressed.consume(zeros);
        if empty || other {
            return Ok(empty);
        }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while let Some(mut member) = self.member.take() {
            let n = member.read(out)?;
            if n > 0 {
                self.member = Some(member);
                return Ok(n);
            }
            let mut compressed = member.into_inner();
            if !only_padding(&mut compressed)? {
                self.member = Some(GzDecoder::new(compressed));
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
        GzipMembers::new(BufReader::with_capacity(7, bytes)).read_to_end(&mut out).map(|_| out)
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
    fn members_empty_members_and_padding() {
        let both = [member(b"abc"), member(b""), member(b"def")].concat();
        assert_eq!(inflate(&both).unwrap(), b"abcdef");
        assert_eq!(inflate(&[&both[..], &[0; 512]].concat()).unwrap(), b"abcdef");
        assert_eq!(
            inflate(&[&both[..], b"no gzip member, only text"].concat()).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(inflate(&both[..both.len() - 1]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
