//! The arguments of an aligner: the descriptor's, with values for the words in braces, and the user's.

use crate::descriptor::{Descriptor, IndexOption};
use crate::error::ExternalError;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Values for the words in braces. They may be paths, and so any bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values(BTreeMap<String, OsString>);

impl Values {
    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The value that is text; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).and_then(|value| value.to_str()).unwrap_or_default()
    }

    /// `text` with each `{name}` that has a value replaced by it; the value is not looked at again.
    pub(crate) fn fill(&self, text: impl AsRef<OsStr>) -> OsString {
        let (mut out, mut rest) = (Vec::new(), text.as_ref().as_bytes());
        while let Some(open) = memchr::memchr(b'{', rest) {
            out.extend_from_slice(&rest[..open]);
            rest = &rest[open..];
            match self.value_before(rest) {
                Some((length, value)) => {
                    out.extend_from_slice(value.as_bytes());
                    rest = &rest[length..];
                }
                None => {
                    out.push(b'{');
                    rest = &rest[1..];
                }
            }
        }
        out.extend_from_slice(rest);
        OsString::from_vec(out)
    }

    /// The value of the word in braces that `text` begins with, and the word's length with its braces.
    fn value_before(&self, text: &[u8]) -> Option<(usize, &OsString)> {
        let close = memchr::memchr(b'}', text)?;
        let name = std::str::from_utf8(&text[1..close]).ok()?;
        Some((close + 1, self.0.get(name)?))
    }

    pub(crate) fn fill_all(&self, words: &[impl AsRef<OsStr>]) -> Vec<OsString> {
        words.iter().map(|word| self.fill(word)).collect()
    }
}

/// Words of a command for people, who read text.
pub(crate) fn shown(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What the user gave for the aligner, and the settings that follow from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserArguments {
    /// The words, in the user's order.
    words: Vec<String>,
    pub(crate) settings: Values,
    /// Settings that the user did not give: their option and value are added.
    defaults: Vec<String>,
    /// Options that the index depends on, with their values; that of a flag is empty.
    index_options: Vec<(String, String)>,
}

impl UserArguments {
    /// Takes `text` apart as a shell would, without running anything, and checks it against the descriptor. `known` are
    /// values for words in braces in the defaults of settings.
    ///
    /// # Errors
    /// [`ExternalError::Arguments`]: quotes that do not match, or an option that the descriptor refuses.
    pub fn parse(descriptor: &Descriptor, text: &str, known: &[(&str, String)]) -> Result<Self, ExternalError> {
        let known = known.iter().fold(Values::default(), |values, (name, value)| values.with(name, value));
        let wrong = |what: String| ExternalError::Arguments(what);
        let words = shlex::split(text).ok_or_else(|| wrong(format!("quotes do not match in '{text}'")))?;
        let words: Vec<String> = words.iter().flat_map(|word| apart(word, &descriptor.flags)).collect();
        for word in &words {
            if let Some(why) = descriptor.refuses(word) {
                return Err(wrong(format!("{word} cannot be given to {}: {why}", descriptor.title)));
            }
        }
        let (mut settings, mut defaults) = (known.clone(), Vec::new());
        for (name, setting) in &descriptor.settings {
            let value = match given(&words, &setting.option) {
                Some(value) => value,
                None => {
                    let default = known.fill(&setting.default).to_string_lossy().into_owned();
                    defaults.extend([setting.option.clone(), default.clone()]);
                    default
                }
            };
            settings = settings.with(name, value);
        }
        let index_options = index_options(descriptor, &words)?;
        let name: String = index_options.iter().map(|(o, v)| format!(".{}{v}", o.trim_start_matches('-'))).collect();
        settings = settings.with("index_options", name);
        Ok(UserArguments { words, settings, defaults, index_options })
    }

    /// The options that the index depends on, in the order of the descriptor, with their values; that of a flag is
    /// empty.
    pub(crate) fn index_options(&self) -> &[(String, String)] {
        &self.index_options
    }

    /// The mean length of reads that is passed to the aligner: that of `known`, or the one that the user gave.
    ///
    /// # Errors
    /// [`ExternalError::Arguments`]: the user's is no number.
    pub fn read_length(&self) -> Result<Option<usize>, ExternalError> {
        let value = self.settings.get("read_length");
        let wrong = |_| ExternalError::Arguments(format!("the read length must be a number, not '{value}'"));
        if value.is_empty() { Ok(None) } else { value.parse().map(Some).map_err(wrong) }
    }

    /// Files that the user's words name: the whole word, what stands behind `=`, or behind a one-letter option.
    pub fn files(&self) -> Vec<PathBuf> {
        let values = |word: &String| {
            let behind_equals = word.split_once('=').map(|(_, value)| value.to_owned());
            let behind_letter = word.get(2..).filter(|_| word.starts_with('-')).map(str::to_owned);
            [Some(word.clone()), behind_equals, behind_letter].into_iter().flatten().map(PathBuf::from)
        };
        self.words.iter().filter_map(|word| values(word).find(|path| path.is_file())).collect()
    }

    /// All words for the command line: settings that were not given, then what was given.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        self.defaults.iter().chain(&self.words)
    }
}

/// Those of the user's options that the index depends on.
fn index_options(descriptor: &Descriptor, words: &[String]) -> Result<Vec<(String, String)>, ExternalError> {
    let mut options = Vec::new();
    for IndexOption { option, takes_value } in &descriptor.index.depends_on {
        let value = match takes_value {
            true => given(words, option),
            false => words.contains(option).then(String::new),
        };
        let Some(value) = value else { continue };
        if !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".,_+-".contains(&byte)) {
            let what =
                format!("{option} {value}: the index is named after this value, which cannot be part of a file name");
            return Err(ExternalError::Arguments(what));
        }
        options.push((option.clone(), value));
    }
    Ok(options)
}

/// A word as `-Yx`, whose first letters are `flags`, which take no value, as words of one letter each; the last may
/// have a value behind it (getopt(3)).
fn apart(word: &str, flags: &str) -> Vec<String> {
    let is_number = |letters: &str| letters.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.is_ascii());
    let letters = letters.filter(|letters| !is_number(letters));
    let Some(mut letters) = letters else { return vec![word.to_owned()] };
    let mut words = Vec::new();
    while letters.len() > 1 && flags.contains(&letters[..1]) {
        words.push(format!("-{}", &letters[..1]));
        letters = &letters[1..];
    }
    words.push(format!("-{letters}"));
    words
}

/// The value that goes with `option`: the next word, the rest of the word of a one-letter option, or what stands behind
/// `=`.
fn given(words: &[String], option: &str) -> Option<String> {
    let at = words.iter().rposition(|word| word.starts_with(option))?;
    match words[at].strip_prefix(option) {
        Some("") => words.get(at + 1).cloned(),
        Some(rest) if option.starts_with("--") => rest.strip_prefix('=').map(str::to_owned),
        Some(rest) => Some(rest.to_owned()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bwa() -> Descriptor {
        crate::descriptor::all([]).unwrap().remove(0)
    }

    #[test]
    fn words_in_braces_are_filled_once() {
        let values = Values::default().with("a", "{b}").with("b", "x");
        assert_eq!(values.fill("{a}-{b}-{c}-{"), "{b}-x-{c}-{");
        let path = OsString::from_vec(b"\xff/{b}".to_vec());
        assert_eq!(values.with("path", path.clone()).fill("{path}:{b}"), OsString::from_vec(b"\xff/{b}:x".to_vec()));
    }

    #[test]
    fn settings_are_taken_from_what_was_given_or_added() {
        let given = |text| UserArguments::parse(&bwa(), text, &[]).unwrap();
        let without = given("-M -T 20");
        assert_eq!(without.settings.get("batch"), "10000000");
        assert_eq!(without.words().map(String::as_str).collect::<Vec<_>>(), ["-K", "10000000", "-M", "-T", "20"]);
        for text in ["-K 500", "-M -K500"] {
            assert_eq!(given(text).settings.get("batch"), "500", "{text}");
            assert_eq!(given(text).words().filter(|w| w.starts_with("-K")).count(), 1);
        }
    }

    #[test]
    fn options_of_the_index_are_told_apart_from_others() {
        let minimap2 = crate::descriptor::all([]).unwrap().into_iter().find(|d| d.name == "minimap2").unwrap();
        let options = |text| {
            let user = UserArguments::parse(&minimap2, text, &[]).unwrap();
            let words: Vec<String> = user.index_options().iter().map(|(o, v)| format!("{o}{v}")).collect();
            (words.join(" "), user.settings.get("index_options").to_owned())
        };
        for (text, words, name) in [
            ("-s 60 -K 20k", "", ""),
            ("-k 11 -w 3", "-k11 -w3", ".k11.w3"),
            ("-w3 -ak11 -K 500", "-k11 -w3", ".k11.w3"),
            ("-k 15 -Hk 19", "-k19 -H", ".k19.H"),
        ] {
            assert_eq!(options(text), (words.to_owned(), name.to_owned()), "{text}");
        }
        let error = UserArguments::parse(&minimap2, "-k ../x", &[]).unwrap_err().to_string();
        assert!(error.contains("-k ../x: the index is named after this value"), "{error}");
    }

    #[test]
    fn files_that_words_name_are_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display();
        let user =
            UserArguments::parse(&bwa(), &format!("-M {path} --x={path} -x{path} -k 19 {path}.no"), &[]).unwrap();
        assert_eq!(user.files(), [file.path(); 3]);
    }

    #[test]
    fn letters_in_one_word_are_told_apart() {
        for (word, expected) in
            [("-Yx", "-Y -x"), ("-aMK500", "-a -M -K500"), ("-k19", "-k19"), ("-", "-"), ("-M", "-M"), ("-aM", "-a -M")]
        {
            assert_eq!(apart(word, "aMY").join(" "), expected);
        }
        assert_eq!((apart("--aM", "aM"), apart("-15", "51")), (vec!["--aM".to_owned()], vec!["-15".to_owned()]));
        let given = UserArguments::parse(&bwa(), "-MK 500", &[]).unwrap();
        assert_eq!(given.settings.get("batch"), "500");
        assert_eq!(given.words().collect::<Vec<_>>(), ["-M", "-K", "500"]);
    }

    #[test]
    fn what_cannot_be_given_is_refused() {
        let faults = [
            ("-t 4", "-t cannot be given"),
            ("-Mt 4", "-t cannot be given"),
            ("-Moout.sam", "-oout.sam cannot be given"),
            ("'x", "quotes do not match"),
        ];
        for (text, why) in faults {
            let error = UserArguments::parse(&bwa(), text, &[]).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    /// The end-to-end test gives one option of each aligner on a command line.
    #[test]
    fn every_option_that_a_descriptor_refuses_is_refused_for_its_reason() {
        let mut count = 0;
        for descriptor in crate::descriptor::all([]).unwrap() {
            for refused in &descriptor.refused {
                let value = if refused.attached { "x0.5" } else { " 1" };
                let text = format!("{}{value}", refused.option);
                let error = UserArguments::parse(&descriptor, &text, &[]).unwrap_err().to_string();
                assert!(error.contains(&*refused.why), "{}, {text}: {error}", descriptor.name);
                count += 1;
            }
        }
        assert!(count > 100, "only {count} options are refused");
    }
}
