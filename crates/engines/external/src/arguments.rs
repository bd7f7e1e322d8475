//! The arguments of an aligner: the descriptor's, with values for the words in braces, and the user's.

use crate::descriptor::Descriptor;
use crate::error::ExternalError;
use std::collections::BTreeMap;

/// Values for the words in braces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Values(BTreeMap<String, String>);

impl Values {
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// `text` with each `{name}` that has a value replaced by it; the value is not looked at again.
    pub(crate) fn fill(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let value = rest.find('}').and_then(|close| Some((close, self.0.get(&rest[1..close])?)));
            match value {
                Some((close, value)) => {
                    out.push_str(value);
                    rest = &rest[close + 1..];
                }
                None => {
                    out.push('{');
                    rest = &rest[1..];
                }
            }
        }
        out + rest
    }

    pub(crate) fn fill_all(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.fill(word)).collect()
    }
}

/// What the user gave for the aligner, and the settings that follow from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserArguments {
    /// The words, in the user's order.
    words: Vec<String>,
    pub(crate) settings: Values,
    /// Settings that the user did not give: their option and value are added.
    defaults: Vec<String>,
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
                    let default = known.fill(&setting.default);
                    defaults.extend([setting.option.clone(), default.clone()]);
                    default
                }
            };
            settings = settings.with(name, value);
        }
        Ok(UserArguments { words, settings, defaults })
    }

    /// All words for the command line: settings that were not given, then what was given.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        self.defaults.iter().chain(&self.words)
    }
}

/// The value that goes with `option`: the next word, the rest of the word of a one-letter option, or what stands behind `=`.
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
    fn what_cannot_be_given_is_refused() {
        for (text, why) in [("-t 4", "-t cannot be given"), ("'x", "quotes do not match")] {
            let error = UserArguments::parse(&bwa(), text, &[]).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
