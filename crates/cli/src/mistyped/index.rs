//! A command line of `index` as other programs have it.

use super::command::line;
use super::habits::engine_named;
use super::minimap2::{Translated, engine_of_preset};
use super::network::{self, is_url};
use super::own::{Own, is_option};
use zerohop_align::RAMMAP;
use zerohop_align::engines::options_of_minimap2;

/// What to say of a command line behind `index`, and what is to be typed: `-p PREFIX` and `-a bwtsw` of bwa, `-d FILE`
/// and other options of minimap2, a name of the index behind the reference as bowtie2 has it, a reference on the
/// network. None if it is right.
pub(super) fn instead(words: &[String]) -> Option<(String, String)> {
    let own = Own::of_command("index");
    let named = engine_named(words);
    let is_rammap = named.or_else(|| engine_of_preset(words)) == Some(RAMMAP);
    let (mut typed, mut files, mut why) = (vec!["index".to_owned()], Vec::new(), None);
    let (mut engine_args, mut translated) = (Vec::new(), Translated::default());
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let next = rest.peek().map(|next| &***next);
        let own_value = own.has_value(word);
        match options_of_minimap2(word, next).filter(|_| is_rammap && own_value.is_none()) {
            Some((given, takes_next)) => {
                why = why.or(Some(without_option(word)));
                if takes_next {
                    rest.next();
                }
                // What is for records.
                let of_index = given.into_iter().filter(|given| !["-o", "-R", "-y"].contains(&&*given.option));
                of_index.for_each(|given| translated.take(given));
            }
            None if ["-p", "-a"].contains(&&**word) => {
                why = why.or(Some(if word == "-a" { without_option(word) } else { NAMED.to_owned() }));
                rest.next();
                if word == "-a" && named.is_none() {
                    typed.extend(["--engine", "bwa-mem"].map(str::to_owned));
                }
            }
            None if is_rammap && word == "--engine-args" => engine_args.extend(rest.next().cloned()),
            None if is_rammap && word.starts_with("--engine-args=") => engine_args.push(word[14..].to_owned()),
            None if is_option(word) => {
                typed.push(word.clone());
                typed.extend(rest.next_if(|_| own_value == Some(true)).cloned());
            }
            None => files.push(word.clone()),
        }
    }
    if is_rammap && named.is_none() {
        typed.extend(["--engine", RAMMAP].map(str::to_owned));
    }
    typed.extend(translated.options);
    engine_args.extend(translated.engine_args);
    if !engine_args.is_empty() {
        typed.extend(["--engine-args".to_owned(), engine_args.join(" ")]);
    }
    let url = files.first().filter(|file| is_url(file)).cloned();
    let why = match (&url, why) {
        (Some(url), _) => format!("{url}: zerohop reads files"),
        (None, Some(why)) => why,
        (None, None) if files.len() < 2 => return None,
        (None, None) => NAMED.to_owned(),
    };
    typed.extend(files.first().map(|file| if is_url(file) { network::copy(file) } else { file.clone() }));
    let fetched = url.map_or(String::new(), |url| format!("{} && ", network::fetch(&url)));
    Some((why, format!("{fetched}{}", line(&typed))))
}

/// What to say of a name for the index.
const NAMED: &str = "an index has the name of its reference, with endings";

fn without_option(word: &str) -> String {
    format!("zerohop index has no option {word}")
}
