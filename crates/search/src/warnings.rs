//! What programs say although they end well.

/// More lines than these are counted and not told.
const MOST: usize = 20;

/// Lines that programs wrote on standard error, each once.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    lines: Vec<String>,
    /// Lines beyond the most that are told.
    more: u64,
}

impl Warnings {
    /// Takes in what `program` said: every part is searched with the same queries, so most is said many times.
    pub(crate) fn add(&mut self, program: &str, words: &[u8]) {
        for line in String::from_utf8_lossy(words).lines().filter(|line| !line.trim().is_empty()) {
            // Names of queries are in it, and must not move the cursor of a terminal.
            let shown = line.trim().replace(char::is_control, "?");
            let line = format!("{program}: {shown}");
            if self.lines.contains(&line) {
                continue;
            }
            match self.lines.len() < MOST {
                true => self.lines.push(line),
                false => self.more += 1,
            }
        }
    }

    /// All that was said, a sentence each.
    pub(crate) fn told(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("the programs wrote {} more lines like these", self.more));
        self.lines.iter().cloned().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_told_once_and_not_too_many() {
        let mut warnings = Warnings::default();
        warnings.add("blastp", b"Warning: a\n\nWarning: b\x1b[2J\n");
        warnings.add("blastp", b"Warning: a\n");
        assert_eq!(warnings.told(), ["blastp: Warning: a", "blastp: Warning: b?[2J"]);
        (0..MOST).for_each(|number| warnings.add("blastp", format!("line {number}\n").as_bytes()));
        assert_eq!(warnings.told().len(), MOST + 1);
        assert_eq!(warnings.told().pop().unwrap(), "the programs wrote 2 more lines like these");
    }
}
