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

/// Which mate a read says it is, by its name (`x/2`) or its comment (`2:N:0:ACGT`, as Illumina has it).
pub(crate) fn mate_number((name, comment): (&[u8], &[u8])) -> Option<u8> {
    match (name, comment) {
        ([.., b'/', number @ (b'1' | b'2')], _) => Some(number - b'0'),
        (_, [number @ (b'1' | b'2'), b':', b'Y' | b'N', b':', ..]) => Some(number - b'0'),
        _ => None,
    }
}

/// Whether two reads that stand at the same place of two files are mates: their names, without `/1` and `/2`, are the
/// same, or differ in the number of the mate alone, as in `x.1` and `x.2` (`fastq-dump -I`) or `x_1` and `x_2`.
pub(crate) fn are_mates(first: &[u8], mate: &[u8]) -> bool {
    first == mate
        || matches!((first, mate), ([one @ .., a, b'1'], [two @ .., b, b'2'])
            if a == b && b"/._".contains(a) && one == two)
}

/// The name of the other mate, where both have names of their own ([`are_mates`]).
pub(crate) fn name_of_other_mate(name: &[u8]) -> Option<Vec<u8>> {
    let [stem @ .., separator @ (b'.' | b'_'), number @ (b'1' | b'2')] = name else { return None };
    Some([stem, &[*separator, b'1' + b'2' - number]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mates() {
        for (first, mate) in [("r", "r"), ("r.1", "r.2"), ("r_1", "r_2"), ("r/1", "r/2"), ("r.1", "r.1"), (".1", ".2")]
        {
            assert!(are_mates(first.as_bytes(), mate.as_bytes()), "{first} {mate}");
        }
        let not =
            [("r.1", "s.2"), ("r.2", "r.1"), ("r1", "r2"), ("r.1", "r_2"), ("r.2", "r.3"), ("r.1", "r"), ("", "1")];
        for (first, mate) in not {
            assert!(!are_mates(first.as_bytes(), mate.as_bytes()), "{first} {mate}");
        }
    }

    #[test]
    fn names_of_the_other_mate() {
        for (name, other) in [("r.1", "r.2"), ("r_2", "r_1"), (".1", ".2")] {
            let found = name_of_other_mate(name.as_bytes());
            assert_eq!(found.as_deref(), Some(other.as_bytes()));
            assert!(are_mates(name.as_bytes(), other.as_bytes()) || are_mates(other.as_bytes(), name.as_bytes()));
        }
        for name in ["r", "r1", "r.3", "r-1", "1", ""] {
            assert_eq!(name_of_other_mate(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn numbers_of_mates() {
        for (line, number) in [("x/1", Some(1)), ("x/2 1:N:0:A", Some(2)), ("x 2:N:0:A", Some(2)), ("x.1 2:x", None)] {
            assert_eq!(mate_number(split(line.as_bytes())), number, "{line}");
        }
    }

    #[test]
    fn names_and_comments() {
        assert_eq!(split(b"r1 1:N:0 x \r"), (&b"r1"[..], &b"1:N:0 x"[..]));
        assert_eq!(split(b"r1\tBC:Z:A"), (&b"r1"[..], &b"BC:Z:A"[..]));
        assert_eq!(split(b"r1  "), (&b"r1"[..], &b""[..]));
        assert_eq!(without_mate_number(b"r/2"), b"r");
        assert_eq!(without_mate_number(b"r/3"), b"r/3");
    }
}
