//! SAM and CRAM, which htslib makes BAM of.

use std::path::Path;

/// What headers of SAM begin with (SAMv1, section 1.3). A read may have such a name, but hardly with such a comment.
const HEADERS: [&[u8]; 5] = [b"@HD\tVN:", b"@SQ\tSN:", b"@RG\tID:", b"@PG\tID:", b"@CO\t"];
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
        Some(b'@') => HEADERS[0].len(),
        Some(_) => FIRST_FIELDS,
    }
}

/// Whether a text is SAM, with a header or without.
pub(crate) fn is_sam(text: &[u8]) -> bool {
    match text.first() {
        Some(b'@') => return HEADERS.iter().any(|header| text.starts_with(header)),
        Some(b'!'..=b'=' | b'?'..=b'~') => {}
        _ => return false,
    }
    let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let fields: Vec<&[u8]> = line.split(|&b| b == b'\t').take(FIELDS + 1).collect();
    let is_number = |at: &usize| !fields[*at].is_empty() && fields[*at].iter().all(u8::is_ascii_digit);
    fields.len() > FIELDS && NUMBERS.iter().all(is_number)
}

/// Whether a reference has the index that htslib wants of it.
pub(crate) fn has_index(reference: &Path) -> bool {
    let mut index = reference.as_os_str().to_owned();
    index.push(".fai");
    Path::new(&index).is_file()
}
