//! What only one crate may do: start children, and give files their names. A simple scan of the sources of `crates/`,
//! tests left out; whoever wants to get around it can.

use crate::sources::{self, Source};
use crate::tokens::Token;
use crate::workspace::Package;
use std::path::Path;

/// The crate that may start children and name files.
const PROCESS: &str = "crates/process";

/// Every such call elsewhere.
pub fn problems(packages: &[Package]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for package in packages.iter().filter(|package| package.place.starts_with("crates/")) {
        for folder in ["src", "examples"] {
            let sources = sources::read(&Path::new(&package.directory).join(folder))?;
            problems.extend(problems_in(&package.place, folder, sources));
        }
    }
    Ok(problems)
}

fn problems_in(place: &str, folder: &str, sources: Vec<Source>) -> Vec<String> {
    if place == PROCESS {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for source in sources::without_tests(sources) {
        let mut calls: Vec<_> = (0..source.tokens.len()).filter_map(|at| call(&source.tokens[at..])).collect();
        calls.sort();
        calls.dedup();
        let file = format!("{place}/{folder}/{}", source.file.display());
        let problem = |(call, instead)| format!("{file}: {call} is for {PROCESS} alone; take {instead}");
        problems.extend(calls.into_iter().map(problem));
    }
    problems
}

/// What `tokens` begins with, if it is for one crate alone, and what others take instead.
fn call(tokens: &[Token]) -> Option<(&'static str, &'static str)> {
    match tokens {
        [command, Token::Path, new, ..] if command.is_word("Command") && new.is_word("new") => {
            Some(("Command::new", "zerohop_process::Program"))
        }
        [rename, Token::Sign('('), ..] if rename.is_word("rename") => {
            Some(("rename(", "zerohop_process::NewFile or give_name"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(place: &str, files: &[(&str, &str)]) -> Vec<String> {
        problems_in(place, "src", files.iter().map(|&(file, text)| Source::new(Path::new(file), text)).collect())
    }

    #[test]
    fn children_and_names_are_for_one_crate() {
        let files = [
            ("a.rs", "fn f() { std::process::Command::new(\"x\"); Command::new(y); fs::rename(a, b)?; }"),
            ("b.rs", "use std::fs::rename; fn f() { rename(a, b); }"),
        ];
        assert_eq!(
            found("crates/lab", &files),
            [
                "crates/lab/src/a.rs: Command::new is for crates/process alone; take zerohop_process::Program",
                "crates/lab/src/a.rs: rename( is for crates/process alone; take zerohop_process::NewFile or give_name",
                "crates/lab/src/b.rs: rename( is for crates/process alone; take zerohop_process::NewFile or \
                 give_name",
            ]
        );
        assert_eq!(found("crates/process", &files), Vec::<String>::new());
    }

    #[test]
    fn tests_comments_and_other_words_do_not_count() {
        let files = [
            ("lib.rs", "#[cfg(test)] mod checks; // Command::new(x)\nfn f() { let s = \"Command::new\"; }"),
            ("checks.rs", "fn f() { Command::new(x); }"),
            ("a.rs", "#[serde(rename_all = \"lowercase\")] struct S; fn f() { give_name(a, b); Commands::new(); }"),
            ("b.rs", "#[cfg(test)] mod tests { fn f() { std::fs::rename(a, b); } }"),
        ];
        assert_eq!(found("crates/cli", &files), Vec::<String>::new());
    }
}
