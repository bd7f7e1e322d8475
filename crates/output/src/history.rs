//! What was done to the reads before they were aligned, as the headers of their files tell it: @PG and @CO lines
//! (SAMv1, section 1.3). They stay in the header, as with `samtools reset`, so that the PG of a record names a program.

pub use crate::header_line::Renamed;
use crate::header_line::{field, renamed, with_new_ids};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The @PG and @CO lines of the files that the reads came in.
///
/// ```
/// use zerohop_output::History;
/// let mut history = History::default();
/// assert!(history.add(&["@PG\tID:ccs\tCL:ccs a.bam"]).is_empty());
/// let renamed = history.add(&["@PG\tID:ccs\tCL:ccs b.bam"]);
/// assert_eq!(renamed["ccs"], "ccs.1");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The programs of files that differ in them.
    chains: Vec<Chain>,
    /// The @CO lines, each once.
    comments: Vec<String>,
}

/// The programs of one file, or of several with the same ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Chain {
    /// The @PG lines as they stand there.
    lines: Vec<String>,
    /// The IDs that they get, where another chain has theirs.
    renamed: Renamed,
}

impl History {
    /// Adds the @PG and @CO lines of one file. Returns the IDs that programs of it have got instead of theirs, for the
    /// fields PG of its records.
    pub fn add(&mut self, lines: &[&str]) -> Renamed {
        for line in lines.iter().filter(|line| line.starts_with("@CO\t")) {
            if !self.comments.iter().any(|other| other == line) {
                self.comments.push((*line).to_owned());
            }
        }
        // A line without an ID names nothing, nor does the second one with an ID.
        let mut ids = HashSet::new();
        let programs = lines.iter().filter(|line| line.starts_with("@PG\t"));
        let named = programs.filter(|line| field(line, "ID").is_some_and(|id| ids.insert(id)));
        let lines: Vec<String> = named.map(|line| (*line).to_owned()).collect();
        if lines.is_empty() {
            return Renamed::new();
        }
        if let Some(same) = self.chains.iter().find(|chain| chain.lines == lines) {
            return same.renamed.clone();
        }
        let renamed = renamed(&ids, &self.programs().iter().filter_map(|line| field(line, "ID")).collect());
        self.chains.push(Chain { lines, renamed: renamed.clone() });
        renamed
    }

    /// The @PG lines, with IDs that are unique.
    pub(crate) fn programs(&self) -> Vec<String> {
        let new = |chain: &Chain| chain.lines.iter().map(|line| with_new_ids(line, &chain.renamed)).collect::<Vec<_>>();
        self.chains.iter().flat_map(new).collect()
    }

    /// The @CO lines.
    pub(crate) fn comments(&self) -> &[String] {
        &self.comments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_several_files_are_told_apart() {
        let mut history = History::default();
        assert!(history.add(&["@CO\tx", "@PG\tID:a\tCL:1", "@PG\tPN:no ID", "@PG\tID:a\tCL:again"]).is_empty());
        assert!(history.add(&["@PG\tID:a\tCL:1", "@CO\ty", "@CO\tx"]).is_empty(), "the same");
        // What another has is the same, but not what ran before it.
        let other = ["@PG\tID:b\tPP:a\tCL:ID:a", "@PG\tID:a.1", "@PG\tID:a\tCL:2"];
        assert_eq!(history.add(&other), Renamed::from([("a".into(), "a.2".into())]));
        assert_eq!(history.add(&other).len(), 1);
        assert_eq!(history.add(&["@PG\tID:b\tPP:a\tCL:ID:a"])["b"], "b.1");
        let expected = ["@PG\tID:a\tCL:1", "@PG\tID:b\tPP:a.2\tCL:ID:a", "@PG\tID:a.1", "@PG\tID:a.2\tCL:2"];
        assert_eq!(history.programs()[..4], expected);
        assert_eq!(history.comments(), ["@CO\tx", "@CO\ty"]);
    }
}
