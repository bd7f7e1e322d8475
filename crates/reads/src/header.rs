//! The header line of a read: its name and its comment.

/// Splits a header line, without its `@` or `>`, at the first blank into name and comment, as strobealign does: white
/// space at its end is dropped first.
pub(crate) fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.trim_ascii_end();
    match memchr::memchr2(b' ', b'\t', line) {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => (line, b""),
    }
}

/// The name without `/1` or `/2`, which say which mate it is and are no part of the name.
pub(crate) fn without_mate_number(name: &[u8]) -> &[u8] {
    name.strip_suffix(b"/1").or_else(|| name.strip_suffix(b"/2")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_comments() {
        assert_eq!(split(b"r1 1:N:0 x \r"), (&b"r1"[..], &b"1:N:0 x"[..]));
        assert_eq!(split(b"r1\tBC:Z:A"), (&b"r1"[..], &b"BC:Z:A"[..]));
        assert_eq!(split(b"r1  "), (&b"r1"[..], &b""[..]));
        assert_eq!(without_mate_number(b"r/2"), b"r");
        assert_eq!(without_mate_number(b"r/3"), b"r/3");
    }
}
