//! A command line of `index` as other programs have it.

use super::command::line;
use super::network::{self, is_url};
use super::own::{Own, is_option};

/// What to say of a command line behind `index`, and what is to be typed: `-p PREFIX` and `-a bwtsw` of bwa, a name of
/// the index behind the reference as bowtie2 has it, a reference on the network. None if it is right.
pub(super) fn instead(words: &[String]) -> Option<(String, String)> {
    let own = Own::of_command("index");
    let (mut typed, mut files, mut of_bwa, mut rest) = (vec!["index".to_owned()], Vec::new(), None, words.iter());
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-p" | "-a" => {
                of_bwa = Some(word.as_str());
                rest.next();
            }
            _ if is_option(word) => {
                typed.push(word.clone());
                typed.extend(rest.by_ref().take(usize::from(own.has_value(word) == Some(true))).cloned());
            }
            _ => files.push(word.clone()),
        }
    }
    if of_bwa == Some("-a") && !typed.iter().any(|word| word.starts_with("--engine")) {
        typed.extend(["--engine", "bwa-mem"].map(str::to_owned));
    }
    let url = files.first().filter(|file| is_url(file)).cloned();
    let why = match (&url, of_bwa) {
        (Some(url), _) => format!("{url}: zerohop reads files"),
        (None, Some("-a")) => "zerohop index has no option -a".to_owned(),
        (None, None) if files.len() < 2 => return None,
        _ => "an index has the name of its reference, with endings".to_owned(),
    };
    typed.extend(files.first().map(|file| if is_url(file) { network::copy(file) } else { file.clone() }));
    let fetched = url.map_or(String::new(), |url| format!("{} && ", network::fetch(&url)));
    Some((why, format!("{fetched}{}", line(&typed))))
}
