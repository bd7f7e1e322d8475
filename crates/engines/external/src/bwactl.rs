//! The segments of `bwa shm`: their names, bwa's list of them, and how they are removed.
//!
//! The list (`bwactl`: two 16-bit numbers, how many entries there are and how many bytes are used, then for each entry
//! its length as 64 bits and its name with a 0) can only be emptied as a whole with bwa itself; we take out our own
//! entries alone. bwa knows no lock for it; ours keeps at least our own runs apart.

use crate::error::ExternalError;
use crate::shm;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerohop_process::lock::{self, Hold};

/// What keeps our runs apart when they change bwa's list.
const LOCK: &str = "bwactl.lock";
/// How the names of our segments begin, and those of no other copies: an aligner's name would come first.
pub(crate) const OURS: &str = "zerohop-";

/// Keeps our other runs from changing bwa's list.
///
/// # Errors
/// When /dev/shm cannot be used.
pub(crate) fn lock() -> Result<File, ExternalError> {
    Ok(lock::take(&shm::root()?.join(LOCK), Hold::Alone)?)
}

/// The name of the segment that a copy's folder stands for, if it stands for one.
pub(crate) fn name_of(folder: &Path) -> Option<&OsStr> {
    folder.file_name().filter(|name| name.as_bytes().starts_with(OURS.as_bytes()))
}

/// The file that bwa keeps a segment in.
pub(crate) fn file(name: &OsStr) -> PathBuf {
    let mut whole = OsString::from("bwaidx-");
    whole.push(name);
    Path::new(shm::SHM).join(whole)
}

/// Removes a segment, and its entry in bwa's list. What cannot be removed there names a segment that is gone, which bwa
/// takes as not there.
pub(crate) fn remove(name: &OsStr) {
    let path = shm::root().map(|root| root.join(LOCK));
    let _lock = path.as_ref().map(|path| lock::take(path, Hold::Alone));
    let _ = std::fs::remove_file(file(name));
    take_out(&Path::new(shm::SHM).join("bwactl"), name.as_bytes());
    // Last, and while it is held: who waits for it will find that it is nobody's.
    let _ = path.map(std::fs::remove_file);
}

/// Takes an entry out of bwa's list.
fn take_out(list: &Path, name: &[u8]) {
    let Ok(old) = std::fs::read(list) else { return };
    match without_entry(&old, name) {
        Some(new) if new[..2] == [0, 0] => drop(std::fs::remove_file(list)),
        // In place: a bwa that has the list mapped must not find it shorter.
        Some(new) if new != old => drop(File::options().write(true).open(list).and_then(|f| f.write_all_at(&new, 0))),
        _ => {}
    }
}

/// The list without an entry; nothing if it is not such a list.
fn without_entry(list: &[u8], ours: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u16::from_le_bytes([*list.get(at)?, *list.get(at + 1)?]));
    let (count, end) = (number(0)?, usize::from(number(2)?));
    let (mut kept, mut left, mut at) = (vec![0u8; 4], 0u16, 4);
    for _ in 0..count {
        let name_at = at + 8;
        let length = list.get(name_at..end)?.iter().position(|&byte| byte == 0)?;
        let name = &list[name_at..name_at + length];
        let entry = &list[at..name_at + length + 1];
        if ours != name {
            kept.extend_from_slice(entry);
            left += 1;
        }
        at += entry.len();
    }
    kept[..2].copy_from_slice(&left.to_le_bytes());
    let used = u16::try_from(kept.len()).ok()?;
    kept[2..4].copy_from_slice(&used.to_le_bytes());
    kept.resize(list.len().max(kept.len()), 0);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_entries_leave_the_list() {
        let entry = |name: &str| [&7u64.to_le_bytes()[..], name.as_bytes(), b"\0"].concat();
        let list = |names: &[&str]| {
            let entries: Vec<u8> = names.iter().flat_map(|name| entry(name)).collect();
            let head = [(names.len() as u16).to_le_bytes(), (4 + entries.len() as u16).to_le_bytes()].concat();
            let mut list = [head, entries].concat();
            list.resize(256, 0);
            list
        };
        assert_eq!(without_entry(&list(&["a", "b", "c", "dd"]), b"dd"), Some(list(&["a", "b", "c"])));
        assert_eq!(without_entry(&list(&["a", "b", "c", "dd"]), b"b"), Some(list(&["a", "c", "dd"])));
        assert_eq!(without_entry(&list(&["a", "b"]), b"x"), Some(list(&["a", "b"])));
        assert_eq!(without_entry(&list(&["b"]), b"b").map(|list| list[..4].to_vec()), Some(vec![0, 0, 4, 0]));
        assert_eq!(without_entry(&[1, 0, 200, 0, 1], b"b"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_can_be_taken_for_a_list(list: Vec<u8>) {
            let _ = without_entry(&list, b"b");
        }
    }
}
