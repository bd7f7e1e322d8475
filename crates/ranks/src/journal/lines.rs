//! The lines of a rank's journal.

use super::{Entry, fault};
use crate::error::RanksError;
use std::path::Path;

/// A line that is no entry.
#[derive(Debug, PartialEq, Eq)]
struct Damaged {
    /// Its number, from 1.
    line: usize,
    /// Where it begins in the file.
    byte: usize,
}

/// The entries in a file. A last line that was cut off is a batch that is not finished.
///
/// # Errors
/// A file that cannot be read, or a line that is damaged.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, RanksError> {
    let bytes = std::fs::read(path).map_err(|error| fault(path, error))?;
    parse(&bytes).map_err(|Damaged { line, byte }| {
        RanksError::Failed(format!(
            "{}: line {line} (from byte {byte} on) is damaged: remove it, and its batches are done again, or throw all \
             progress away with --restart",
            path.display()
        ))
    })
}

fn parse(bytes: &[u8]) -> Result<Vec<Entry>, Damaged> {
    let (mut entries, mut byte) = (Vec::new(), 0);
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(entry) => entries.push(entry),
            Err(_) if line == b"\n" || !line.ends_with(b"\n") => {}
            Err(_) => return Err(Damaged { line: number + 1, byte }),
        }
        byte += line.len();
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    fn journal(entries: u64) -> (Vec<Entry>, Vec<u8>) {
        let entries: Vec<Entry> = (0..entries).map(|batch| entry(batch, 1, 10 * batch, 10)).collect();
        let text = entries.iter().flat_map(|entry| serde_json::to_vec(entry).unwrap().into_iter().chain(*b"\n"));
        let text = text.collect();
        (entries, text)
    }

    #[test]
    fn a_journal_that_was_cut_anywhere_has_what_was_entered_before() {
        let (entries, text) = journal(4);
        for cut in 0..=text.len() {
            let ended = text[..cut].iter().filter(|byte| **byte == b'\n').count();
            // A line is complete without what ends it.
            let complete = ended + usize::from(text.get(cut) == Some(&b'\n'));
            assert_eq!(parse(&text[..cut]).unwrap(), entries[..complete], "cut at {cut}");
            // As a file system may leave what was not safe yet: no text.
            for torn in [&[0xff, 0xfe][..], &[0; 40]] {
                let bytes = [&text[..cut], torn].concat();
                assert_eq!(parse(&bytes).unwrap(), entries[..ended], "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_line_that_is_damaged_is_told() {
        let (_, text) = journal(3);
        let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for damage in [b'\xff', b'{', 0, b'\n'] {
            let mut bytes = text.clone();
            bytes[second + 2] = damage;
            assert_eq!(parse(&bytes), Err(Damaged { line: 2, byte: second }), "{damage}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rank-3.jsonl");
        std::fs::write(&path, b"\n\xff\n{\"batch\"").unwrap();
        let said = read(&path).unwrap_err().to_string();
        assert!(said.contains("rank-3.jsonl: line 2 (from byte 1 on) is damaged: remove it"), "{said}");
    }
}
