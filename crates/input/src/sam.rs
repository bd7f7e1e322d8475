//! SAM and CRAM, which htslib makes BAM of in another process.

use crate::reference::for_cram;

/// Makes BAM of SAM or CRAM, and ends, if this program was started for that. A program that reads them begins with
/// this.
pub fn convert_if_asked() {
    // M5 is what htslib compares, slice by slice.
    zerohop_cram::convert_if_asked(|path| for_cram(path, false));
}

/// Bytes of what tells a header of SAM (SAMv1, section 1.3): `@SQ`, a tab, and the tag of a field, but for @CO.
const HEADER: usize = b"@HD\tVN:".len();
/// Bytes within which the first record has its first fields, if there is no header.
const FIRST_FIELDS: usize = 1 << 16;
/// Fields before the bases, which may be many.
const FIELDS: usize = 9;
/// Which of these are numbers: FLAG, POS, MAPQ and PNEXT.
const NUMBERS: [usize; 4] = [1, 3, 4, 7];

/// Whether it is CRAM (CRAMv3, section 6).
pub(crate) fn is_cram(text: &[u8]) -> bool {
    text.starts_with(b"CRAM")
}

/// How many bytes [`is_sam`] wants of a text that begins with `first`.
pub(crate) fn wanted(first: Option<&u8>) -> usize {
    match first {
        None | Some(b'>') => 0,
        Some(b'@') => HEADER,
        Some(_) => FIRST_FIELDS,
    }
}

/// Whether a text is SAM, with a header or without.
pub(crate) fn is_sam(text: &[u8]) -> bool {
    match text.first() {
        Some(b'@') => return is_header(text),
        Some(b'!'..=b'=' | b'?'..=b'~') => {}
        _ => return false,
    }
    let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let fields: Vec<&[u8]> = line.split(|&b| b == b'\t').take(FIELDS + 1).collect();
    let is_number = |at: &usize| !fields[*at].is_empty() && fields[*at].iter().all(u8::is_ascii_digit);
    fields.len() > FIELDS && NUMBERS.iter().all(is_number)
}

/// Whether a text begins with a header of SAM. A read may have such a name, but hardly with such a comment.
fn is_header(text: &[u8]) -> bool {
    let has_field =
        matches!(text.get(4..HEADER), Some([a, b, b':']) if a.is_ascii_uppercase() && b.is_ascii_uppercase());
    match text.get(..4) {
        Some(b"@CO\t") => true,
        Some(b"@HD\t" | b"@SQ\t" | b"@RG\t" | b"@PG\t") => has_field,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_sam;

    #[test]
    fn headers_are_told_from_reads() {
        for sam in
            ["@HD\tSO:unsorted\tVN:1.6\n", "@SQ\tLN:9\tSN:a\n", "@RG\tSM:s\tID:g\n", "@PG\tPN:x\tID:x\n", "@CO\tx\n"]
        {
            assert!(is_sam(sam.as_bytes()), "{sam}");
        }
        for fastq in ["@SQ\nA\n+\n#\n", "@HD 1\nA\n+\n#\n", "@PG\tlength=3\nACG\n", "@x\tVN:1\nA\n", "@CO"] {
            assert!(!is_sam(fastq.as_bytes()), "{fastq}");
        }
        assert!(is_sam(b"r\t4\t*\t0\t0\t*\t*\t0\t0\tA\t#\n") && !is_sam(b">r\nA\n"));
    }
}
