//! The licences of all crates that are linked into the programs: whether they may be, and their texts, which go with
//! the programs wherever these go. What the compilers of C and C++ bring is named in the text.

use crate::{linked, workspace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What may be linked into a program under the MIT licence, by its name in SPDX.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Asks for no text.
const NO_TEXT: &str = "CC0-1.0";
/// How the names of files begin that hold a licence.
const BEGINNINGS: [&str; 5] = ["licence", "license", "copying", "notice", "copyright"];
/// Texts of crates whose packages lack them, as their repositories have them: `NAME-VERSION.txt`.
const FROM_REPOSITORIES: &str = "packaging/licences";
/// Folders of a crate that are not linked.
const NOT_LINKED: [&str; 4] = ["target", "tests", "benches", "examples"];

/// A crate that is linked into a program.
struct Crate {
    name: String,
    licence: String,
    texts: Vec<String>,
}

/// All texts of what is linked into the programs for `target`, each once, with the crates that it is of.
///
/// # Errors
/// A crate whose licence is not among those that are allowed, or whose text it does not have.
pub fn text(target: &str) -> Result<String, String> {
    let crates = crates(&workspace::metadata(&["--locked", "--filter-platform", target])?)?;
    let mut problems = Vec::new();
    let mut by_text: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut out = String::from(
        "zerohop has the MIT licence. It has these crates in it, under the licences below, and the standard library of \
         Rust (MIT OR Apache-2.0). libstdc++ and libgcc of GCC are linked into portable programs: GPL-3.0-or-later \
         WITH GCC-exception-3.1, which asks for nothing here.\n\n",
    );
    for linked in &crates {
        out += &format!("{}: {}\n", linked.name, linked.licence);
        if !is_allowed(&linked.licence) {
            problems
                .push(format!("{}: its licence '{}' is not among those that are allowed", linked.name, linked.licence));
        }
        if linked.texts.is_empty() && linked.licence != NO_TEXT {
            problems.push(format!("{}: it has no text of its licence", linked.name));
        }
        for text in &linked.texts {
            by_text.entry(text).or_default().insert(&linked.name);
        }
    }
    for (text, names) in by_text {
        let names: Vec<&str> = names.into_iter().collect();
        out += &format!("\n{}\n{}\n\n{text}\n", "-".repeat(80), names.join(", "));
    }
    if problems.is_empty() { Ok(out) } else { Err(problems.join("\n")) }
}

/// The crates from elsewhere that the programs are linked with, by name.
fn crates(metadata: &Value) -> Result<Vec<Crate>, String> {
    let mut crates = Vec::new();
    for package in linked::packages(metadata)?.into_iter().filter(|package| !package["source"].is_null()) {
        let manifest = Path::new(workspace::text(package, "manifest_path")?);
        let (name, version) = (workspace::text(package, "name")?, workspace::text(package, "version")?);
        let mut texts = texts(manifest.parent().unwrap_or(manifest))?;
        let ours = Path::new(FROM_REPOSITORIES).join(format!("{name}-{version}.txt"));
        if texts.is_empty() && ours.exists() {
            let text = std::fs::read_to_string(&ours).map_err(|error| format!("{}: {error}", ours.display()))?;
            texts.push(text.trim().to_owned());
        }
        let licence = package["license"].as_str().unwrap_or("none").to_owned();
        crates.push(Crate { name: format!("{name} {version}"), licence, texts });
    }
    crates.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(crates)
}

/// The texts in a crate's folder, and in those of the libraries within it.
fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    for entry in entries(folder)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if entry.is_dir() {
            if !NOT_LINKED.contains(&&*name) {
                texts.extend(self::texts(&entry)?);
            }
        } else if BEGINNINGS.iter().any(|begin| name.starts_with(begin)) {
            let text = std::fs::read(&entry).map_err(|error| format!("{}: {error}", entry.display()))?;
            texts.push(String::from_utf8_lossy(&text).trim().to_owned());
        }
    }
    Ok(texts)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// Whether an SPDX expression can be met by licences that are allowed. A slash is an old form of OR; an exception only
/// allows more.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words) && words.next().is_none()
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn any_of(words: &mut Words<'_>) -> bool {
    let mut is_allowed = all_of(words);
    while words.next_if_eq(&"OR").is_some() {
        is_allowed |= all_of(words);
    }
    is_allowed
}

fn all_of(words: &mut Words<'_>) -> bool {
    let mut are_allowed = one(words);
    while words.next_if_eq(&"AND").is_some() {
        are_allowed &= one(words);
    }
    are_allowed
}

fn one(words: &mut Words<'_>) -> bool {
    let is_allowed = match words.next() {
        Some("(") => any_of(words) && words.next() == Some(")"),
        Some(name) => ALLOWED.contains(&name),
        None => false,
    };
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    is_allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_weighed() {
        for allowed in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in
            ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND AGPL-3.0", "none", "", "MIT )", "MIT GPL-3.0"]
        {
            assert!(!is_allowed(refused), "{refused}");
        }
    }
}
