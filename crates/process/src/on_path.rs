//! Where programs are.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program `name`: the first of that name on the PATH that may be executed; itself if it holds a `/`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_or_path() {
        assert!(on_path("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(on_path("/bin/sh"), Some("/bin/sh".into()));
        assert_eq!((on_path("no-such-program"), on_path("/no/sh")), (None, None));
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text");
        std::fs::write(&text, "").unwrap();
        assert_eq!(on_path(text.to_str().unwrap()), None, "it may not be executed");
    }
}
