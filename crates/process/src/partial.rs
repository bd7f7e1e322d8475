//! Names of files that are not complete: that of the file, `.partial-`, and two numbers.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What stands between the name of a file and the numbers that make its temporary name unique.
const PARTIAL: &str = ".partial-";
/// Bytes that are taken of a name. Up to 29 follow, and eCryptfs holds names of 143 bytes, other file systems of 255.
const LONGEST: usize = 112;

/// A name that is beside `target` and, as far as can be told, nobody else's.
///
/// # Errors
/// A path that names no file.
pub(crate) fn partial_name(target: &Path) -> Result<PathBuf, Error> {
    let mut name = beginning(target.file_name().ok_or(ErrorKind::InvalidFilename)?).to_owned();
    // On a shared disk another machine's process may have our number.
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
    name.push(format!("{PARTIAL}{}-{nanos:09}", std::process::id()));
    Ok(target.with_file_name(name))
}

/// Whether `other` is such a name of a file `name`: with `.partial-PID-NANOSECONDS` behind it.
pub(crate) fn is_partial_of(name: &OsStr, other: &OsStr) -> bool {
    let rest = other.as_bytes().strip_prefix(beginning(name).as_bytes());
    let rest = rest.and_then(|rest| rest.strip_prefix(PARTIAL.as_bytes()));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = rest.and_then(|rest| std::str::from_utf8(rest).ok()).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, nanos)| is_number(process) && is_number(nanos))
}

/// What is taken of a name: whole characters of UTF-8.
fn beginning(name: &OsStr) -> &OsStr {
    let bytes = name.as_bytes();
    let is_start = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let end = (0..=LONGEST.min(bytes.len())).rev().find(is_start).unwrap_or(0);
    OsStr::from_bytes(&bytes[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_again_and_long_ones_are_cut_between_characters() {
        let umlauts = format!("x{}", "\u{e4}".repeat(127));
        for name in ["o", "o.bam", &"o".repeat(112), &"o".repeat(255), &umlauts] {
            let partial = partial_name(&Path::new("/folder").join(name)).unwrap();
            let partial = partial.file_name().unwrap();
            assert!(partial.len() < 143 && partial.to_str().is_some(), "{partial:?}");
            assert!(is_partial_of(name.as_ref(), partial) && !is_partial_of("p".as_ref(), partial));
            assert!(!is_partial_of(name.as_ref(), name.as_ref()));
        }
        assert!(partial_name(Path::new("/")).is_err());
        for other in ["o.partial-x", "o.partial-12", "oo.partial-1-2", "o.partial--2", "o.partial-1-"] {
            assert!(!is_partial_of("o".as_ref(), other.as_ref()), "{other}");
        }
    }
}
