//! A command line of `index` as other programs have it.

use super::command::line;
use super::network::{self, is_url};
use super::own::{Own, is_option};
use zerohop_align::{RAMMAP, has_value_in_minimap2};

/// What to say of a command line behind `index`, and what is to be typed: `-p PREFIX` and `-a bwtsw` of bwa, `-d FILE`
/// and other options of minimap2, a name of the index behind the reference as bowtie2 has it, a reference on the
/// network. None if it is right.
pub(super) fn instead(words: &[String]) -> Option<(String, String)> {
    let own = Own::of_command("index");
    let is_rammap = words.iter().any(|word| word == RAMMAP);
    let (mut typed, mut files, mut of_bwa, mut rest) = (vec!["index".to_owned()], Vec::new(), None, words.iter());
    let (mut engine_args, mut of_minimap2) = (Vec::new(), None);
    while let Some(word) = rest.next() {
        let of_rammap = has_value_in_minimap2(word).filter(|_| is_rammap && own.has_value(word).is_none());
        match word.as_str() {
            // The name of the index.
            "-d" | "-o" if of_rammap.is_some() => {
                of_bwa = Some(word.as_str());
                rest.next();
            }
            "--engine-args" if is_rammap => engine_args.extend(rest.next().cloned()),
            "-p" | "-a" if !is_rammap => {
                of_bwa = Some(word.as_str());
                rest.next();
            }
            _ if is_option(word) => {
                let has_value = own.has_value(word).or(of_rammap) == Some(true);
                let of_option = [word].into_iter().chain(rest.by_ref().take(usize::from(has_value))).cloned();
                match of_rammap {
                    Some(_) => {
                        of_minimap2 = of_minimap2.or(Some(word));
                        engine_args.extend(of_option);
                    }
                    None => typed.extend(of_option),
                }
            }
            _ => files.push(word.clone()),
        }
    }
    if !engine_args.is_empty() {
        typed.extend(["--engine-args".to_owned(), engine_args.join(" ")]);
    }
    if of_bwa == Some("-a") && !typed.iter().any(|word| word.starts_with("--engine")) {
        typed.extend(["--engine", "bwa-mem"].map(str::to_owned));
    }
    let url = files.first().filter(|file| is_url(file)).cloned();
    let why = match (&url, of_bwa, of_minimap2) {
        (Some(url), ..) => format!("{url}: zerohop reads files"),
        (None, Some("-a"), _) => "zerohop index has no option -a".to_owned(),
        (None, None, Some(option)) => format!("zerohop index has no option {option}"),
        (None, None, None) if files.len() < 2 => return None,
        _ => "an index has the name of its reference, with endings".to_owned(),
    };
    typed.extend(files.first().map(|file| if is_url(file) { network::copy(file) } else { file.clone() }));
    let fetched = url.map_or(String::new(), |url| format!("{} && ", network::fetch(&url)));
    Some((why, format!("{fetched}{}", line(&typed))))
}
