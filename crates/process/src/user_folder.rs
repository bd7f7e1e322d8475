//! The user's folders.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder that `variable` names, or the one of that name in the user's home; none where neither is known. What is
/// empty, or no absolute path, counts as not there (XDG Base Directory Specification).
pub fn user_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    named(variable, in_home, |name| std::env::var_os(name))
}

fn named(variable: &str, in_home: &str, value: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| value(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    absolute(variable).or_else(|| Some(absolute("HOME")?.join(in_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_an_absolute_path() {
        let folder = |named: Option<&str>, home: Option<&str>| {
            let value = |name: &str| if name == "HOME" { home } else { named }.map(OsString::from);
            super::named("XDG_CACHE_HOME", ".cache", value)
        };
        assert_eq!(folder(Some("/var/c"), Some("/home/u")), Some("/var/c".into()));
        for none in [None, Some(""), Some("c")] {
            assert_eq!(folder(none, Some("/home/u")), Some("/home/u/.cache".into()), "{none:?}");
            assert_eq!(folder(none, Some("")), None, "not in the present folder: {none:?}");
        }
    }
}
