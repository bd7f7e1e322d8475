//! Index copies that `bwa shm` makes, one per placement, for this run alone.
//!
//! bwa finds a segment by the last part of the index's name, whoever made it, so each copy gets a name of its own by links to
//! the index's files. Its list of segments (`bwactl`: two 16-bit numbers, how many entries there are and how many bytes are
//! used, then for each entry its length as 64 bits and its name with a 0) can only be emptied as a whole with bwa itself; we
//! take out our own entries alone. bwa knows no lock for it; ours keeps at least our own runs apart.

use crate::charge::Charge;
use crate::copies;
use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::locks::{self, Hold};
use crate::tool::{Tell, run_tool};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zerohop_memory::Placed;
use zerohop_model::plan::Placement;

/// What keeps our runs apart when they change bwa's list.
const LOCK: &str = "bwactl.lock";

/// Segments of this run; removed when dropped.
#[derive(Debug)]
pub(crate) struct Segments {
    links: TempDir,
    names: Vec<String>,
}

impl Segments {
    /// Segments of `index`, one per placement, and the names by which bwa finds them.
    pub(crate) fn make(
        found: &Found,
        index: &FoundIndex,
        placements: &[Placement],
        tell: Tell<'_>,
    ) -> Result<(Self, Vec<PathBuf>), ExternalError> {
        let links = tempfile::Builder::new().prefix("zerohop-links-").tempdir();
        let links = links.map_err(ExternalError::system("a temporary folder"))?;
        tell(Charge::folder(links.path()))?;
        let names: Vec<String> = (0..placements.len()).map(|i| format!("zerohop-{}-{i}", std::process::id())).collect();
        tell(Charge::Segments(names.clone()))?;
        let segments = Segments { links, names };
        let _lock = locks::take(&copies::root()?.join(LOCK), Hold::Alone)?;
        let stage = |(i, placement)| segments.stage(found, index, i, placement, tell);
        let prefixes = placements.iter().enumerate().map(stage).collect::<Result<_, _>>()?;
        Ok((segments, prefixes))
    }

    /// Has bwa load the index under `placement`.
    fn stage(
        &self,
        found: &Found,
        index: &FoundIndex,
        number: usize,
        placement: &Placement,
        tell: Tell<'_>,
    ) -> Result<PathBuf, ExternalError> {
        let prefix = self.links.path().join(&self.names[number]);
        let with = |suffix: &str| PathBuf::from(format!("{}{suffix}", prefix.display()));
        for file in &index.files {
            let suffix = file.to_string_lossy()[index.prefix.to_string_lossy().len()..].to_owned();
            let original = file.canonicalize().map_err(ExternalError::system(file.display().to_string()))?;
            let link = with(&suffix);
            std::os::unix::fs::symlink(original, &link).map_err(ExternalError::system(link.display().to_string()))?;
        }
        let words =
            [found.program.to_string_lossy().into_owned(), "shm".to_owned(), prefix.to_string_lossy().into_owned()];
        let out = File::create(with(".out")).map_err(ExternalError::system(prefix.display().to_string()))?;
        Placed::new(placement).run(|| run_tool(&words, out, &with(".log"), tell))?;
        Ok(prefix)
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        remove(&self.names);
    }
}

/// Removes segments, and their entries in bwa's list. What cannot be removed there names segments that are gone, which bwa takes
/// as not there.
pub(crate) fn remove(names: &[String]) {
    let path = copies::root().map(|root| root.join(LOCK));
    let _lock = path.as_ref().map(|path| locks::take(path, Hold::Alone));
    for name in names {
        let _ = std::fs::remove_file(Path::new(copies::SHM).join(format!("bwaidx-{name}")));
    }
    take_out(&Path::new(copies::SHM).join("bwactl"), names);
    // Last, and while it is held: who waits for it will find that it is nobody's.
    let _ = path.map(std::fs::remove_file);
}

/// Takes entries out of bwa's list.
fn take_out(list: &Path, names: &[String]) {
    let Ok(old) = std::fs::read(list) else { return };
    match without_entries(&old, names) {
        Some(new) if new[..2] == [0, 0] => drop(std::fs::remove_file(list)),
        // In place: a bwa that has the list mapped must not find it shorter.
        Some(new) if new != old => drop(File::options().write(true).open(list).and_then(|f| f.write_all_at(&new, 0))),
        _ => {}
    }
}

/// The list without these entries; nothing if it is not such a list.
fn without_entries(list: &[u8], names: &[String]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u16::from_le_bytes([*list.get(at)?, *list.get(at + 1)?]));
    let (count, end) = (number(0)?, usize::from(number(2)?));
    let (mut kept, mut left, mut at) = (vec![0u8; 4], 0u16, 4);
    for _ in 0..count {
        let name_at = at + 8;
        let length = list.get(name_at..end)?.iter().position(|&byte| byte == 0)?;
        let name = &list[name_at..name_at + length];
        let entry = &list[at..name_at + length + 1];
        if !names.iter().any(|ours| ours.as_bytes() == name) {
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
        let names = ["b".to_owned(), "dd".to_owned()];
        assert_eq!(without_entries(&list(&["a", "b", "c", "dd"]), &names), Some(list(&["a", "c"])));
        assert_eq!(without_entries(&list(&["b"]), &names).map(|list| list[..4].to_vec()), Some(vec![0, 0, 4, 0]));
        assert_eq!(without_entries(&[1, 0, 200, 0, 1], &names), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_can_be_taken_for_a_list(list: Vec<u8>) {
            let _ = without_entries(&list, &["b".to_owned()]);
        }
    }
}
