//! Lists of files with commas between them, one of each lane, as bowtie2 and STAR take them.

use super::network::is_url;

/// Whether a word is a list, and no name of a file that has a comma.
pub(super) fn is_list(word: &str, exists: impl Fn(&str) -> bool) -> bool {
    let names = || word.split(',');
    names().count() > 1 && names().all(|name| !name.is_empty() && is_url(name) == is_url(word)) && !exists(word)
}

/// The lanes that files of reads are, one each, or two of mates, if they are lists.
pub(super) fn lanes(files: &[String], exists: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let names = |file: &String| match is_list(file, &exists) {
        true => file.split(',').map(str::to_owned).collect(),
        false => vec![file.clone()],
    };
    let names: Vec<Vec<String>> = files.iter().map(names).collect();
    let count = names.iter().map(Vec::len).max().unwrap_or(0);
    (0..count).map(|at| names.iter().filter_map(|names| names.get(at).cloned()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_list, lanes};

    #[test]
    fn lists_are_taken_apart() {
        let none = |_: &str| false;
        let of = |files: &[&str]| lanes(&files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>(), none);
        assert_eq!(of(&["a_1,b_1", "a_2,b_2"]), [["a_1", "a_2"], ["b_1", "b_2"]]);
        assert_eq!(of(&["a", "b"]), [["a", "b"]]);
        assert!(!is_list("a,b", |_| true) && !is_list("a,", none) && !is_list("https://x.org/a,b", none));
        assert!(is_list("s3://x/a,s3://x/b", none));
    }
}
