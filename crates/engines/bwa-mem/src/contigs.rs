//! What the library does not tell of contigs: the comments of the reference (`.ann`), and which of them are ALT contigs
//! (`.alt`).

use std::collections::HashSet;

/// Bytes of a comment that bwa keeps, with the space before it.
const KEPT: usize = 8192;
/// Bytes of a line of `.alt` up to its first tab that bwa takes; more end it.
pub(crate) const ALT_NAME: usize = 1022;

/// The comment of each contig, of the text of `.ann`; may be empty.
pub(crate) fn comments(ann: &[u8]) -> Vec<Vec<u8>> {
    let comment = |line: &[u8]| {
        let line = line.strip_prefix(b"0 ").unwrap_or(line);
        let behind = line.iter().position(u8::is_ascii_whitespace).map_or(&[][..], |end| &line[end..]);
        match behind {
            b" (null)" | [] => Vec::new(),
            behind => behind[1..behind.len().min(KEPT)].iter().map(|b| if *b == b'\t' { b' ' } else { *b }).collect(),
        }
    };
    ann.split(|byte| *byte == b'\n').skip(1).step_by(2).filter(|line| !line.is_empty()).map(comment).collect()
}

/// The names in the text of `.alt`: the first column of SAM, without its header. A line without an end does not count.
pub(crate) fn alternates(alt: &[u8]) -> HashSet<&[u8]> {
    let lines = alt.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines.map(alt_name).filter(|name| !name.starts_with(b"@")).collect()
}

/// What bwa takes for the name in a line of `.alt`.
pub(crate) fn alt_name(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| matches!(byte, b'\t' | b'\n' | b'\r')).unwrap_or(line.len());
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_those_that_bwa_keeps() {
        let ann = b"30 4 11\n0 a first one\twith a tab\n0 10 0\n0 b (null)\n10 10 0\n0 c \n20 5 0\n0 d x\n25 5 0\n";
        let kept: [&[u8]; 4] = [b"first one with a tab", b"", b"", b"x"];
        assert_eq!(comments(ann), kept);
        let long = [b"9 1 11\n0 a ", &[b'y'; 9000][..], b"\n0 9 0\n"].concat();
        assert_eq!(comments(&long)[0].len(), 8191);
    }

    #[test]
    fn alternates_are_the_names_in_sam() {
        let alt = b"@SQ\tSN:x\nHLA-A\t0\tchr6\nb\r\nc\nd";
        assert_eq!(alternates(alt), HashSet::from([&b"HLA-A"[..], b"b", b"c"]));
    }
}
