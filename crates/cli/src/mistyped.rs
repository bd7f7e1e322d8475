//! What users of other aligners type, and what they mean by it.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// Options whose value may be left out, so that it stands behind `=`, and their values.
const WITH_EQUALS: [(&str, [&str; 2]); 2] =
    [("--sort", ["coordinate", "name"]), ("--mark-duplicates", ["samtools", "picard"])];

/// What to say of a value that stands behind its option, and would be taken for the reference or for reads.
pub fn value_apart(words: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> =
        words.map(|word| word.to_string_lossy().into_owned()).take_while(|word| word != "--").collect();
    let command = words.first()?;
    let is_value = |option: &str, word: &str| match option {
        "--ranks" => ["align", "search"].contains(&&**command) && word.parse::<u32>().is_ok(),
        _ => command == "align" && WITH_EQUALS.iter().any(|(o, values)| *o == option && values.contains(&word)),
    };
    let apart = words.windows(2).find(|pair| is_value(&pair[0], &pair[1]) && !Path::new(&pair[1]).exists())?;
    Some(format!("write {}={}: a value after a space is taken for a file", apart[0], apart[1]))
}

/// What to say of an option that 'align' does not have, unless it is like one that it has.
pub fn option_of_aligner(error: &clap::Error) -> Option<String> {
    let is_align = std::env::args_os().nth(1).is_some_and(|command| command == "align");
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_like_ours = error.get(ContextKind::SuggestedArg).is_some();
    if error.kind() != ErrorKind::UnknownArgument || !is_align || is_like_ours {
        return None;
    }
    if !option.starts_with('-') {
        return Some(format!(
            "'{option}' is one file too many: REF, and one file of reads or the two of pairs. Each further lane needs \
             --reads, as in --reads L2_1.fq.gz L2_2.fq.gz"
        ));
    }
    Some(match option.as_str() {
        "-@" => "zerohop has no option -@: threads are -t".to_owned(),
        "-1" | "-2" => format!("zerohop has no option {option}: name REF and then the files of reads, without options"),
        "-S" | "-b" => format!("zerohop has no option {option}: name the output by -o, as in -o out.bam"),
        _ => format!(
            "zerohop has no option {option}. --engine-args passes it on to the aligner, as in --engine-args \
             '{option} ...'; 'zerohop align --help' shows those of zerohop"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::value_apart;

    #[test]
    fn a_value_behind_its_option_is_noticed() {
        let said = |words: &str| value_apart(words.split(' ').map(Into::into));
        assert!(said("align --sort name ref.fa").is_some_and(|words| words.starts_with("write --sort=name")));
        assert!(said("align --mark-duplicates picard ref.fa").is_some());
        assert!(said("search --db d --ranks 2 q.fa").is_some_and(|words| words.starts_with("write --ranks=2")));
        for words in ["align --sort --mark-duplicates=picard ref.fa", "run echo --sort name", "align -- --sort name"] {
            assert_eq!(said(words), None);
        }
    }
}
