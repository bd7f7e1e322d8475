//! Files that are out of the way while others get their names.

use crate::partial::partial_name;
use crate::tell;
use crate::temporary::Naming;
use std::io::Error;
use std::path::{Path, PathBuf};

/// Files that are out of the way, under other names, until it is known whether new ones are in their place. Dropped
/// before [`Aside::discard`], it puts them back. While it lives, a signal waits.
#[derive(Debug)]
pub(crate) struct Aside {
    /// Their names, and those that they have now.
    moved: Vec<(PathBuf, PathBuf)>,
    _naming: Naming,
}

impl Aside {
    pub(crate) fn new() -> Self {
        Aside { moved: Vec::new(), _naming: Naming::begin() }
    }

    /// Puts a regular file aside, or a link; anything else stays as it is.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn put(&mut self, path: &Path) -> Result<(), Error> {
        if path.symlink_metadata().map_or(true, |there| there.is_dir()) {
            return Ok(());
        }
        let other = partial_name(path)?;
        std::fs::rename(path, &other)?;
        self.moved.push((path.to_owned(), other));
        Ok(())
    }

    /// Removes them: new ones are there.
    pub(crate) fn discard(mut self) {
        for (path, other) in self.moved.drain(..) {
            if let Err(error) = std::fs::remove_file(&other) {
                let (path, other) = (path.display(), other.display());
                tell::note(&format!("{other} is what {path} was before, and cannot be removed: {error}."));
            }
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for (path, other) in self.moved.drain(..).rev() {
            // There is nobody left to tell of those that cannot be put back: they are there under the other name.
            let _ = std::fs::rename(other, path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_put_back_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for discarded in [false, true] {
            std::fs::write(at("file"), "old").unwrap();
            std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
            let mut aside = Aside::new();
            for name in ["file", "link", "missing"] {
                aside.put(&at(name)).unwrap();
            }
            aside.put(folder.path()).unwrap();
            assert!(!at("file").exists() && !at("link").is_symlink());
            match discarded {
                false => drop(aside),
                true => aside.discard(),
            }
            let there = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(
                (at("file").exists(), at("link").is_symlink(), there),
                if discarded { (false, false, 0) } else { (true, true, 2) }
            );
            let _ = std::fs::remove_file(at("file"));
            let _ = std::fs::remove_file(at("link"));
        }
    }
}
