//! Numbers to look at, not to chase: how much there is to read, and what a newcomer stumbles over.

use crate::sources::{self, Source};
use crate::tokens::{Token, group_length};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the laboratory is, which no user's program contains.
const LABORATORY: &str = "crates/lab";
/// What begins the definition of a type.
const TYPES: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
/// The options of `zerohop align`, with those that it has from others.
const ALIGN: &str = "AlignArgs";

/// The numbers of the checkout in `root`.
///
/// # Errors
/// A folder that is no checkout, or a file that cannot be read.
pub fn text(root: &Path) -> Result<String, String> {
    let (product, laboratory) = read(root)?;
    let lines: usize = product.iter().map(|source| source.lines.len()).sum();
    let defined = repeated(product.iter().chain(&laboratory));
    let names: Vec<String> = defined.iter().map(|(name, files)| format!("{name} {files}")).collect();
    let floor =
        std::fs::read_dir(root.join("crates/align/src")).map_err(|error| format!("crates/align/src: {error}"))?;
    Ok(format!(
        "{lines} lines of product code: crates/ without the laboratory, tests, comments and blank lines\n\
         {} lines of the laboratory\n\
         {} entries on the top floor of crates/align/src\n\
         {} options of align\n\
         {} type names are defined in more than one file: {}\n",
        laboratory.iter().map(|source| source.lines.len()).sum::<usize>(),
        floor.count(),
        options(&product, ALIGN),
        defined.len(),
        names.join(", ")
    ))
}

/// The sources of the product and of the laboratory, without tests.
fn read(root: &Path) -> Result<(Vec<Source>, Vec<Source>), String> {
    let mut crates = Vec::new();
    find_crates(&root.join("crates"), &mut crates)?;
    if crates.is_empty() {
        return Err(format!("{}: there are no crates in it", root.display()));
    }
    let (mut product, mut laboratory) = (Vec::new(), Vec::new());
    for folder in crates {
        let sources = sources::without_tests(sources::read(&folder.join("src"))?);
        match folder.starts_with(root.join(LABORATORY)) {
            true => laboratory.extend(sources),
            false => product.extend(sources),
        }
    }
    Ok((product, laboratory))
}

fn find_crates(folder: &Path, crates: &mut Vec<PathBuf>) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.join("Cargo.toml").exists() {
        crates.push(folder.to_owned());
    }
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "src") {
            find_crates(&path, crates)?;
        }
    }
    Ok(())
}

/// Names of types that are defined in more than one file, and in how many; the most frequent first.
fn repeated<'s>(sources: impl Iterator<Item = &'s Source>) -> Vec<(String, usize)> {
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources {
        for name in defined(&source.tokens) {
            *files.entry(name).or_default() += 1;
        }
    }
    let mut repeated: Vec<_> = files.into_iter().filter(|(_, files)| *files > 1).collect();
    repeated.sort_by_key(|(name, files)| (std::cmp::Reverse(*files), name.clone()));
    repeated
}

/// The types that are defined at the top of a file. Those that a trait or its implementation names are not.
fn defined(tokens: &[Token]) -> BTreeSet<String> {
    let (mut names, mut at) = (BTreeSet::new(), 0);
    while at < tokens.len() {
        match &tokens[at..] {
            [word, Token::Word(name), ..] if TYPES.iter().any(|kind| word.is_word(kind)) => {
                names.insert(name.clone());
                at += 2;
            }
            [Token::Sign('{' | '(' | '['), ..] => at += group_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    names
}

/// How many options a struct of arguments has, with those of the structs that are flattened into it.
fn options(sources: &[Source], name: &str) -> usize {
    let body = sources.iter().find_map(|source| body_of(&source.tokens, name));
    let Some(body) = body else { return 0 };
    let (mut count, mut at) = (0, 0);
    while at < body.len() {
        let [Token::Sign('#'), Token::Sign('['), ..] = &body[at..] else {
            at += 1;
            continue;
        };
        let end = at + 1 + group_length(&body[at + 1..]);
        let says = |word: &str| body[at..end].iter().any(|token| token.is_word(word));
        if says("flatten") {
            let field = body[end..].iter().skip_while(|token| **token != Token::Sign(':')).skip(1);
            let words = field.take_while(|token| **token != Token::Sign(','));
            let words: Vec<&Token> = words.filter(|token| matches!(token, Token::Word(_))).collect();
            if let Some(Token::Word(other)) = words.last() {
                count += options(sources, other);
            }
        } else if says("arg") && says("long") {
            count += 1;
        }
        at = end;
    }
    count
}

/// The fields of a struct.
fn body_of<'t>(tokens: &'t [Token], name: &str) -> Option<&'t [Token]> {
    let at = tokens
        .windows(3)
        .position(|three| three[0].is_word("struct") && three[1].is_word(name) && three[2] == Token::Sign('{'))?;
    let begin = at + 2;
    Some(&tokens[begin + 1..begin + group_length(&tokens[begin..]) - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new(Path::new("a.rs"), text)
    }

    #[test]
    fn names_are_counted_by_files() {
        let files = ["struct A; struct A2 { x: B } enum B {}", "pub trait A { type B; } impl A2 {}", "type B = u8;"];
        let files = files.map(source);
        assert_eq!(repeated(files.iter()), vec![("A".to_owned(), 2), ("B".to_owned(), 2)]);
    }

    #[test]
    fn options_are_counted_with_those_of_others() {
        let text = "struct AlignArgs { #[arg(short, long)] a: u8, file: F, #[command(flatten)] b: m::More,
            #[arg(long)] c: C }";
        let more = "struct More { #[arg(long, hide = true)] x: X, #[arg(short)] y: Y }";
        assert_eq!(options(&[source(more), source(text)], ALIGN), 3);
        assert_eq!(options(&[], ALIGN), 0);
    }

    #[test]
    fn lines_of_code_are_neither_comments_nor_tests() {
        let text = "//! a\n\nfn f() {\n    // why\n    g()\n}\n#[cfg(test)]\nmod tests {\n    fn h() {}\n}\n";
        assert_eq!(source(text).lines.len(), 3);
    }
}
