//! The options of the programs: with which of them parts give the lines of one search of the whole database.
//!
//! Each option that a program knows stands in one table ([`options`]) as the same, which a test tries beside the
//! program, or as refused. What stands in no table is refused, too: another version of the program may know it, but
//! nobody has tried what it does over parts.

mod blast;
mod diamond;

use crate::error::SearchError;
use crate::program::Program;

/// How many words follow an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// One.
    Value,
}

/// What an option does to a search over parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Parts give the lines of one search of the whole database, in its order.
    Same {
        /// The values with which they do; all if there are none.
        only: &'static [&'static str],
        /// Arguments with which a test tries it.
        tries: &'static [&'static str],
    },
    /// It cannot be given: why, and what to do instead.
    Refused(&'static str),
}

/// An option that a program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOption {
    /// Its names, with their dashes.
    pub names: &'static [&'static str],
    /// What follows it.
    pub takes: Takes,
    /// What it does.
    pub effect: Effect,
}

/// An option as a user gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The first of its names.
    pub(crate) name: &'static str,
    /// What it was given; empty if it takes nothing.
    pub(crate) value: String,
}

/// All options that `program` knows.
pub fn options(program: Program) -> impl Iterator<Item = &'static EngineOption> {
    let tables: &[&[EngineOption]] = match program {
        Program::Diamond => &[diamond::OPTIONS],
        Program::Blastp => &[blast::COMMON, blast::PROTEIN, blast::BLASTP],
        Program::Blastx => &[blast::COMMON, blast::PROTEIN, blast::BLASTX],
        Program::Blastn => &[blast::COMMON, blast::BLASTN],
    };
    tables.iter().copied().flatten()
}

/// The same with every value.
const fn same(names: &'static [&'static str], tries: &'static [&'static str]) -> EngineOption {
    only(names, &[], tries)
}

/// The same with these values.
const fn only(
    names: &'static [&'static str],
    only: &'static [&'static str],
    tries: &'static [&'static str],
) -> EngineOption {
    EngineOption { names, takes: Takes::Value, effect: Effect::Same { only, tries } }
}

/// The same; no value follows it.
const fn flag(names: &'static [&'static str], tries: &'static [&'static str]) -> EngineOption {
    EngineOption { names, takes: Takes::Nothing, effect: Effect::Same { only: &[], tries } }
}

/// Refused, with whatever follows it.
const fn refused(names: &'static [&'static str], why: &'static str) -> EngineOption {
    EngineOption { names, takes: Takes::Nothing, effect: Effect::Refused(why) }
}

/// What the words of a user say, option by option.
///
/// # Errors
/// [`SearchError::Arguments`] for an option that cannot be given, and for a word that belongs to none.
pub(crate) fn parse(program: Program, words: &[String]) -> Result<Vec<Given>, SearchError> {
    let mut given = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let (name, attached) = split(program, word)?;
        let option = options(program).find(|option| option.names.contains(&name.as_str()));
        let option = option.ok_or_else(|| unknown(program, word))?;
        if let Effect::Refused(why) = option.effect {
            return Err(SearchError::Arguments(format!("{name} cannot be given to {}: {why}.", program.name())));
        }
        let value = match (option.takes, attached) {
            (Takes::Nothing, None) => Ok(String::new()),
            (Takes::Nothing, Some(_)) => Err("takes no value"),
            (Takes::Value, Some(value)) => Ok(value),
            (Takes::Value, None) => rest.next().cloned().ok_or("needs a value behind it"),
        };
        let value = value.map_err(|what| wrong(program, &name, what))?;
        check_value(program, option, &name, &value)?;
        given.push(Given { name: option.names.first().copied().unwrap_or_default(), value });
    }
    Ok(given)
}

/// What an option was given last, by the first of its names.
pub(crate) fn value<'a>(given: &'a [Given], name: &str) -> Option<&'a str> {
    given.iter().rev().find(|given| given.name == name).map(|given| &*given.value)
}

/// The name of an option, and the value in the same word.
fn split(program: Program, word: &str) -> Result<(String, Option<String>), SearchError> {
    let letters = word.trim_start_matches('-');
    let dashes = word.len() - letters.len();
    let is_option = !letters.is_empty() && (1..=2).contains(&dashes);
    match (program.is_blast(), dashes) {
        _ if !is_option => Err(wrong(program, word, "belongs to no option")),
        // BLAST takes `--evalue=1` for `-evalue 1`.
        (true, _) => Ok(match letters.split_once('=') {
            Some((name, value)) => (format!("-{name}"), Some(value.to_owned())),
            None => (format!("-{letters}"), None),
        }),
        // diamond takes `-e1` for `-e 1`.
        (false, 1) => {
            let end = letters.chars().next().map_or(0, char::len_utf8);
            let (name, value) = letters.split_at(end);
            Ok((format!("-{name}"), (!value.is_empty()).then(|| value.to_owned())))
        }
        (false, _) => Ok((word.to_owned(), None)),
    }
}

/// Refuses a value with which parts give other lines.
fn check_value(program: Program, option: &EngineOption, name: &str, value: &str) -> Result<(), SearchError> {
    match option.effect {
        Effect::Same { only, .. } if !only.is_empty() && !only.contains(&value) => {
            Err(SearchError::Arguments(format!(
                "{name} {value} cannot be given to {}: parts give the lines of one search with {} alone.",
                program.name(),
                only.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

fn unknown(program: Program, word: &str) -> SearchError {
    SearchError::Arguments(format!(
        "{word} is no option of {} that zerohop knows, so nobody has tried whether parts of a database give the lines \
         of one search with it: leave it out, or search the whole database by {} itself.",
        program.name(),
        program.name()
    ))
}

fn wrong(program: Program, word: &str, what: &str) -> SearchError {
    SearchError::Arguments(format!("'{word}' {what} (--engine-args, options of {})", program.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What is said of these words, if they are refused.
    fn told(program: Program, words: &str) -> Option<String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        parse(program, &words).err().map(|error| error.to_string())
    }

    #[test]
    fn every_name_stands_in_one_table_once() {
        for program in Program::ALL {
            let names: Vec<&str> = options(program).flat_map(|option| option.names).copied().collect();
            let different: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(names.len(), different.len(), "{program:?}");
            for option in options(program) {
                let Effect::Same { tries, only } = option.effect else { continue };
                assert!(!tries.is_empty(), "{:?} is the same, but nothing tries it", option.names);
                assert!(only.is_empty() || option.takes == Takes::Value, "{:?}", option.names);
            }
        }
    }

    #[test]
    fn what_is_tried_is_allowed() {
        for program in Program::ALL {
            for option in options(program) {
                let Effect::Same { tries, .. } = option.effect else { continue };
                for words in tries {
                    let words = shlex::split(words).unwrap();
                    let given = parse(program, &words).unwrap();
                    assert!(given.iter().any(|given| given.name == option.names[0]), "{words:?}");
                }
            }
        }
    }

    #[test]
    fn what_would_break_the_merge_is_refused() {
        for words in [
            "-o x",
            "--out x",
            "-k5",
            "-k 5",
            "--top 10",
            "--iterate",
            "--dbsize 1",
            "--freq-masking",
            "-d x",
            "--no-self-hits",
            "--max-hsps 0",
            "--max-hsps 1 --max-hsps 2",
            "--custom-matrix x",
            "--masking 7",
            "--max-hsps",
            "--evalue=5",
            "--mmseqs-compat",
            "--cbs-matrix-scale 32",
            "10",
            "--",
            "-",
            "---e 1",
            "--fast 5",
        ] {
            assert!(told(Program::Diamond, words).is_some(), "{words}");
        }
        for words in [
            "-out x",
            "--out=x",
            "-db x",
            "-searchsp 1",
            "-culling_limit 1",
            "-taxids 1",
            "-help",
            "-ungapped",
            "-evalue",
            "-qcov_hsp_perc 50",
            "-lcase_masking=true",
            "-perc_identity 90",
        ] {
            assert!(told(Program::Blastx, words).is_some(), "{words}");
        }
        for words in ["--sensitive --evalue 1", "-e 0.1", "-b4", "--no-ranking", "--comp-based-stats 0 -x 9"] {
            assert_eq!(told(Program::Diamond, words), None);
        }
        for words in ["-evalue 1e-5 -task blastp-fast", "--evalue=1e-5", "-seg yes -max_hsps 1"] {
            assert_eq!(told(Program::Blastp, words), None);
        }
    }

    #[test]
    fn a_refusal_says_why_and_what_to_do() {
        for (program, words, begin) in [
            (
                Program::Blastp,
                "-searchsp 1",
                "-searchsp cannot be given to blastp: zerohop gives the size of the whole",
            ),
            (Program::Diamond, "-k5", "-k cannot be given to diamond: give -k to zerohop search."),
            (
                Program::Diamond,
                "--max-hsps 2",
                "--max-hsps 2 cannot be given to diamond: parts give the lines of one \
                                                search with 1 alone.",
            ),
            (Program::Diamond, "--new 1", "--new is no option of diamond that zerohop knows, so nobody has tried"),
            (Program::Diamond, "-e", "'-e' needs a value behind it"),
            (Program::Blastp, "-lcase_masking=1", "'-lcase_masking' takes no value"),
            (Program::Blastp, "5", "'5' belongs to no option"),
        ] {
            let told = told(program, words).unwrap();
            assert!(told.starts_with(begin), "{told}");
        }
    }

    #[test]
    fn the_last_value_counts() {
        let words = ["-e1", "--evalue", "2"].map(str::to_owned);
        let given = parse(Program::Diamond, &words).unwrap();
        assert_eq!((value(&given, "--evalue"), value(&given, "--id")), (Some("2"), None));
    }
}
