//! Which top-level modules of a crate refer to which, read from its sources.
//!
//! A reference is `crate::x`, or `super::x` where `super` is the crate itself, be it in a `use` or in the code. Names
//! that the crate's root re-exports by name (`pub use x::Y;`) count as references to the module they are from. Items
//! under `#[cfg(test)]` do not count, nor does the root itself (lib.rs, main.rs) or anything under src/bin. What only a
//! glob re-export or a macro makes visible is not followed.

use crate::graph::Graph;
use crate::sources::{self, Source};
use crate::tokens::{Token, group_length, nesting};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The graph of the top-level modules of the crate in `directory`.
pub fn module_graph(directory: &Path) -> Result<Graph, String> {
    Ok(graph_of(sources::read(&directory.join("src"))?))
}

fn graph_of(sources: Vec<Source>) -> Graph {
    let is_module = |source: &Source| source.path.first().is_none_or(|first| first != "bin");
    let mut references: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut exports = BTreeMap::new();
    for source in sources::without_tests(sources).iter().filter(|source| is_module(source)) {
        if source.path.is_empty() {
            root_names(&source.tokens, &mut exports);
        }
        for (module, name) in file_references(source) {
            references.entry(module).or_default().extend(name);
        }
    }
    resolve(&references, &exports)
}

/// Turns names under `crate::` into the modules they are or come from.
fn resolve(references: &Graph, exports: &BTreeMap<String, String>) -> Graph {
    let module_of = |name: &String| {
        if references.contains_key(name) { Some(name.clone()) } else { exports.get(name).cloned() }
    };
    let resolved = |(module, names): (&String, &BTreeSet<String>)| {
        let targets = names.iter().filter_map(module_of).filter(|target| target != module);
        (module.clone(), targets.collect())
    };
    references.iter().map(resolved).collect()
}

/// Pairs of (top-level module, name under `crate::` that it refers to); the name is absent where a module is only seen.
fn file_references(source: &Source) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> =
        source.path.first().map(|top| (top.clone(), None)).into_iter().collect();
    let mut inline: Vec<(String, i32)> = Vec::new();
    let mut depth = 0;
    for (at, token) in source.tokens.iter().enumerate() {
        depth += nesting(token);
        inline.retain(|(_, opened_at)| depth >= *opened_at);
        let rest = &source.tokens[at..];
        if let [.., word, Token::Word(name), Token::Sign('{')] = &source.tokens[..=at]
            && word.is_word("mod")
        {
            inline.push((name.clone(), depth));
        }
        let path: Vec<&String> = source.path.iter().chain(inline.iter().map(|(name, _)| name)).collect();
        let Some(&top) = path.first() else { continue };
        let is_continued = source.tokens[..at].ends_with(&[Token::Word("super".into()), Token::Path]);
        let names = if is_continued { Vec::new() } else { names_under_root(rest, path.len()) };
        found.push((top.clone(), None));
        found.extend(names.into_iter().map(|name| (top.clone(), Some(name))));
    }
    found
}

/// The names under `crate::` that the path at the beginning of `tokens` reaches from a module `depth` levels deep.
fn names_under_root(tokens: &[Token], depth: usize) -> Vec<String> {
    let supers = tokens.chunks(2).take_while(|pair| is_step(pair, "super")).count();
    let rest = if is_step(tokens, "crate") {
        &tokens[2..]
    } else if supers > 0 && supers >= depth {
        &tokens[2 * supers..]
    } else {
        return Vec::new();
    };
    match rest {
        [Token::Word(name), ..] => vec![name.clone()],
        [Token::Sign('{'), ..] => group_heads(&rest[..group_length(rest)]),
        _ => Vec::new(),
    }
}

fn is_step(tokens: &[Token], word: &str) -> bool {
    matches!(tokens, [first, Token::Path, ..] if first.is_word(word))
}

/// First words of the direct members of a `{a::b, c}` group.
fn group_heads(group: &[Token]) -> Vec<String> {
    let mut depth = 0;
    let mut heads = Vec::new();
    for pair in group.windows(2) {
        depth += nesting(&pair[0]);
        if let (1, Token::Sign('{' | ','), Token::Word(name)) = (depth, &pair[0], &pair[1]) {
            heads.push(name.clone());
        }
    }
    heads
}

/// Names that `use` declarations bring into the root, each with the first module of its path.
fn root_names(tokens: &[Token], names: &mut BTreeMap<String, String>) {
    for (at, token) in tokens.iter().enumerate() {
        if token.is_word("use") {
            UseTree { tokens, at: at + 1, names }.branch(None);
        }
    }
}

struct UseTree<'t> {
    tokens: &'t [Token],
    at: usize,
    names: &'t mut BTreeMap<String, String>,
}

impl UseTree<'_> {
    fn branch(&mut self, mut module: Option<String>) {
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Word(word) => {
                    let is_module = module.is_none() && word != "crate" && word != "self";
                    if is_module {
                        module = Some(word.clone());
                    }
                    if self.tokens.get(self.at) != Some(&Token::Path) {
                        return self.leaf(word, module);
                    }
                }
                Token::Path => {}
                Token::Sign('{') => return self.group(module),
                Token::Sign(_) => return,
            }
        }
    }

    fn group(&mut self, module: Option<String>) {
        while !matches!(self.tokens.get(self.at), None | Some(Token::Sign('}' | ';'))) {
            self.branch(module.clone());
            if self.tokens.get(self.at) == Some(&Token::Sign(',')) {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn leaf(&mut self, word: &str, module: Option<String>) {
        let mut name = word;
        if let [keyword, Token::Word(alias), ..] = &self.tokens[self.at..]
            && keyword.is_word("as")
        {
            name = alias;
            self.at += 2;
        }
        if let Some(module) = module {
            self.names.insert(name.to_owned(), module);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::circle;

    fn modules(files: &[(&str, &str)]) -> Graph {
        graph_of(files.iter().map(|&(file, text)| Source::new(Path::new(file), text)).collect())
    }

    fn edges(files: &[(&str, &str)]) -> String {
        let edge = |(from, to): (&String, &BTreeSet<String>)| {
            to.iter().map(move |to| format!("{from}>{to}")).collect::<Vec<_>>()
        };
        modules(files).iter().flat_map(edge).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sees_use_and_paths_in_the_code() {
        let files = [("a.rs", "use crate::b::X; fn f() { crate::c::g() }"), ("b.rs", ""), ("c.rs", "")];
        assert_eq!(edges(&files), "a>b a>c");
    }

    #[test]
    fn sees_groups_and_supers() {
        let files = [
            ("a.rs", "use crate::{b::{X, c}, c};"),
            ("b.rs", "use super::c::Y;"),
            ("c/deep.rs", "use super::super::d; use super::near;"),
            ("d.rs", ""),
        ];
        assert_eq!(edges(&files), "a>b a>c b>c c>d");
    }

    #[test]
    fn finds_the_circle_of_two_modules() {
        let graph = modules(&[("a.rs", "use crate::b::X;"), ("b/mod.rs", "use crate::a::Y;")]);
        assert_eq!(circle(&graph).map(|path| path.join(" -> ")).as_deref(), Some("a -> b -> a"));
    }

    #[test]
    fn follows_names_that_the_root_re_exports() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::{Error as Fault, inner::Other}; pub use self::a::Thing;"),
            ("a.rs", "use crate::Fault;"),
            ("b.rs", "fn f(_: crate::Thing) {}"),
        ];
        assert_eq!(edges(&files), "a>b b>a");
    }

    #[test]
    fn the_root_and_programs_are_no_modules() {
        let files = [("lib.rs", "pub use crate::a::X;"), ("bin/tool.rs", "use crate::a;"), ("a.rs", "")];
        assert_eq!(modules(&files).len(), 1);
    }

    #[test]
    fn tests_may_import_what_they_like() {
        let files = [
            ("a.rs", "#[cfg(test)]\nmod tests { use crate::b::X; } #[cfg(test)] mod checks;"),
            ("a/checks.rs", "use crate::b;"),
            ("b.rs", "#[cfg(all(test, unix))] use crate::a::{X, Y}; #[cfg(not(test))] use crate::c;"),
            ("c.rs", "#![cfg(test)]\nuse crate::a;"),
        ];
        assert_eq!(edges(&files), "b>c");
    }

    #[test]
    fn a_field_for_tests_hides_no_more_than_itself() {
        let files =
            [("a.rs", "struct S { #[cfg(test)] pub x: crate::b::X, y: crate::c::Y }"), ("b.rs", ""), ("c.rs", "")];
        assert_eq!(edges(&files), "a>c");
    }

    #[test]
    fn inline_modules_count() {
        let files =
            [("lib.rs", "mod a { use super::b::X; mod deep { use super::f; } } mod c { use crate::a; }"), ("b.rs", "")];
        assert_eq!(edges(&files), "a>b c>a");
    }
}
