//! The sources of a crate without their tests.

use crate::tokens::{Token, group_length, nesting, with_lines};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words before an item that ends at its own `;` or `}`, not at a comma.
const ITEMS: &[&str] = &[
    "fn",
    "mod",
    "struct",
    "impl",
    "enum",
    "trait",
    "type",
    "use",
    "const",
    "static",
    "unsafe",
    "async",
    "extern",
    "macro_rules",
    "union",
];

/// Items whose braces are followed by a `;`.
const ENDS_AT_SEMICOLON: &[&str] = &["use", "const", "static", "let", "type"];

/// All sources under `root`, those of test modules included; none if there is no such folder.
pub fn read(root: &Path) -> Result<Vec<Source>, String> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    let source = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let relative = file.strip_prefix(root).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Source::new(relative, &text))
    };
    files.iter().map(source).collect()
}

/// Leaves out the files that others declare as modules under `#[cfg(test)]`.
pub fn without_tests(mut sources: Vec<Source>) -> Vec<Source> {
    let tests: Vec<Vec<String>> = sources.iter().flat_map(|source| source.test_modules.iter().cloned()).collect();
    sources.retain(|source| !tests.iter().any(|test| source.path.starts_with(test)));
    sources
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", directory.display()))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// `a/b.rs` is the module a::b; the root has the empty path.
fn module_path(relative: &Path) -> Vec<String> {
    let text = relative.with_extension("");
    let mut path: Vec<String> = text.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod") || path == ["lib"] || path == ["main"] {
        path.pop();
    }
    path
}

/// A source file without its tests.
pub struct Source {
    /// As seen from the folder of all sources.
    pub file: PathBuf,
    /// The module that it is; the root has the empty path.
    pub path: Vec<String>,
    /// What is in it, but for items under `#[cfg(test)]`.
    pub tokens: Vec<Token>,
    /// The lines of these, from 1: neither comments nor blank ones.
    pub lines: BTreeSet<usize>,
    /// Modules in files of their own that it declares under `#[cfg(test)]`.
    test_modules: Vec<Vec<String>>,
}

impl Source {
    /// `file` is relative to the folder of all sources.
    pub fn new(file: &Path, text: &str) -> Self {
        let (file, path) = (file.to_owned(), module_path(file));
        let mut source = Source { file, path, tokens: Vec::new(), lines: BTreeSet::new(), test_modules: Vec::new() };
        let (tokens, lines) = with_lines(text);
        source.keep_all_but_tests(&tokens, &lines);
        source
    }

    fn keep_all_but_tests(&mut self, all: &[Token], lines: &[usize]) {
        let mut at = 0;
        while at < all.len() {
            match test_attribute(&all[at..]) {
                Some(Attribute::OfFile) => return,
                Some(Attribute::OfItem(length)) => {
                    let start = at + length;
                    at = start + item_length(&all[start..]);
                    self.note_test_module(&all[start..at]);
                }
                None => {
                    self.tokens.push(all[at].clone());
                    self.lines.insert(lines[at]);
                    at += 1;
                }
            }
        }
    }

    fn note_test_module(&mut self, item: &[Token]) {
        if let [.., module, Token::Word(name), Token::Sign(';')] = item
            && module.is_word("mod")
        {
            self.test_modules.push(self.path.iter().chain([name]).cloned().collect());
        }
    }
}

enum Attribute {
    OfItem(usize),
    OfFile,
}

/// Whether `tokens` begins with an attribute `#[cfg(..test..)]`, and its length.
fn test_attribute(tokens: &[Token]) -> Option<Attribute> {
    let (inner, start) = match tokens {
        [Token::Sign('#'), Token::Sign('['), ..] => (false, 1),
        [Token::Sign('#'), Token::Sign('!'), Token::Sign('['), ..] => (true, 2),
        _ => return None,
    };
    let length = start + group_length(&tokens[start..]);
    let attribute = &tokens[start + 1..length];
    if !attribute.first()?.is_word("cfg") || !asks_for_test(attribute) {
        return None;
    }
    Some(if inner { Attribute::OfFile } else { Attribute::OfItem(length) })
}

fn asks_for_test(attribute: &[Token]) -> bool {
    let negated = |at: usize| at >= 2 && attribute[at - 2].is_word("not");
    attribute.iter().enumerate().any(|(at, token)| token.is_word("test") && !negated(at))
}

/// Length of the item, field, variant or statement that `tokens` begins with, its other attributes included.
fn item_length(tokens: &[Token]) -> usize {
    let head = head_length(tokens);
    let is = |words: &[&str]| tokens.get(head).is_some_and(|token| words.iter().any(|word| token.is_word(word)));
    let (is_item, ends_at_semicolon) = (is(ITEMS), is(ENDS_AT_SEMICOLON));
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(head) {
        depth += nesting(token);
        match token {
            _ if depth < 0 => return at,
            Token::Sign(';') if depth == 0 => return at + 1,
            Token::Sign(',') if depth == 0 && !is_item => return at + 1,
            Token::Sign('}') if depth == 0 && !ends_at_semicolon => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Length of the attributes and the visibility before an item's keyword.
fn head_length(tokens: &[Token]) -> usize {
    let mut at = 0;
    loop {
        match &tokens[at..] {
            [Token::Sign('#'), Token::Sign('['), ..] => at += 1 + group_length(&tokens[at + 1..]),
            [word, Token::Sign('('), ..] if word.is_word("pub") => at += 1 + group_length(&tokens[at + 1..]),
            [word, ..] if word.is_word("pub") => at += 1,
            _ => return at,
        }
    }
}
