//! Values of options that need `=`.

use std::path::Path;

/// Options whose value may be left out, so that it stands behind `=`, and their values.
const WITH_EQUALS: [(&str, [&str; 2]); 2] =
    [("--sort", ["coordinate", "name"]), ("--mark-duplicates", ["samtools", "picard"])];

/// What to say of a value that stands behind its option, and would be taken for the reference or for reads.
pub(super) fn value_apart(words: &[String]) -> Option<String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let command = words.first()?;
    let is_value = |option: &str, word: &str| match option {
        "--ranks" => ["align", "search"].contains(&&**command) && word.parse::<u32>().is_ok(),
        _ => command == "align" && WITH_EQUALS.iter().any(|(o, values)| *o == option && values.contains(&word)),
    };
    let apart = words[..end].windows(2).find(|pair| is_value(&pair[0], &pair[1]) && !Path::new(&pair[1]).exists())?;
    Some(format!("write {}={}: a value after a space is taken for a file", apart[0], apart[1]))
}

#[cfg(test)]
mod tests {
    use super::value_apart;

    #[test]
    fn a_value_behind_its_option_is_noticed() {
        let said = |words: &str| value_apart(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(said("align --sort name ref.fa").is_some_and(|words| words.starts_with("write --sort=name")));
        assert!(said("align --mark-duplicates picard ref.fa").is_some());
        assert!(said("search --db d --ranks 2 q.fa").is_some_and(|words| words.starts_with("write --ranks=2")));
        for words in ["align --sort --mark-duplicates=picard ref.fa", "run echo --sort name", "align -- --sort name"] {
            assert_eq!(said(words), None);
        }
    }
}
