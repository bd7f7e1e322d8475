//! A command that is to be typed.

/// A command of `align`, in parts.
#[derive(Debug, Default)]
pub(super) struct AlignCommand {
    /// Options of zerohop, with their values.
    pub(super) options: Vec<String>,
    /// Options of the aligner.
    pub(super) engine_args: Vec<String>,
    pub(super) reference: Option<String>,
    pub(super) reads: Vec<String>,
}

impl AlignCommand {
    /// Files of reads that are on the network.
    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.reads.iter().map(String::as_str).filter(|name| is_url(name))
    }

    /// Its words.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec!["align".to_owned()];
        words.extend(self.options.iter().cloned());
        if !self.engine_args.is_empty() {
            words.extend(["--engine-args".to_owned(), self.engine_args.join(" ")]);
        }
        words.extend(self.reference.iter().chain(&self.reads).cloned());
        words
    }

    /// What is to be typed, so that reads that are on the network come through pipes.
    pub(super) fn line(&self) -> String {
        let fetch = |url: &str| format!("curl -sSfL {}", quoted(url));
        match &self.reads[..] {
            [url] if is_url(url) => {
                let command = AlignCommand { reads: vec!["-".to_owned()], ..self.without_reads() };
                format!("{} | {}", fetch(url), line(&command.words()))
            }
            reads if reads.iter().any(|name| is_url(name)) => {
                let pipe = |name: &String| if is_url(name) { format!("<({})", fetch(name)) } else { quoted(name) };
                let pipes: Vec<String> = reads.iter().map(pipe).collect();
                format!("{} {}", line(&self.without_reads().words()), pipes.join(" "))
            }
            _ => line(&self.words()),
        }
    }

    fn without_reads(&self) -> Self {
        AlignCommand {
            options: self.options.clone(),
            engine_args: self.engine_args.clone(),
            reference: self.reference.clone(),
            reads: Vec::new(),
        }
    }
}

fn is_url(name: &str) -> bool {
    ["http://", "https://", "ftp://"].iter().any(|scheme| name.starts_with(scheme))
}

/// A command of zerohop as it is to be typed.
pub(super) fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("zerohop {}", words.join(" "))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:=@%+,-~^".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!([quoted("a.fq"), quoted("a b"), quoted("")], ["a.fq", "'a b'", "''"]);
        assert_eq!(quoted("it's $x"), r"'it'\''s $x'");
    }
}
