//! What was done to the reads before they were aligned, as the headers of their files tell it: @PG and @CO lines
//! (SAMv1, section 1.3). They stay in the header, so that the PG of a record names a program. So do fields of @HD that
//! are not of the format: PacBio's tools look for their `pb:5.0.0`.

pub use crate::header_line::Renamed;
use crate::header_line::{field, fields, ids, last_ids, new_ids, with_new_ids};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The @PG and @CO lines of the files that the reads came in, and fields of their @HD.
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
    chains: Vec<ProgramChain>,
    /// The @CO lines; those that several files have, once.
    comments: Vec<String>,
    /// Fields of @HD in lower case, which are for users; of several files the first one of each name.
    #[serde(default)]
    head_fields: Vec<String>,
}

/// The programs of one file, or of several with the same ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ProgramChain {
    /// The @PG lines as they stand there.
    lines: Vec<String>,
    /// The IDs that they get, where another chain has theirs.
    renamed: Renamed,
}

impl History {
    /// Adds the @PG, @CO and @HD lines of one file, or none, for reads of which nothing is known. Returns the IDs that
    /// programs of it have got instead of theirs, for the fields PG of its records.
    pub fn add(&mut self, lines: &[&str]) -> Renamed {
        let of_kind = |kind: &'static str| lines.iter().copied().filter(move |line| line.starts_with(kind));
        let known: HashSet<&str> = self.comments.iter().map(String::as_str).collect();
        let comments: Vec<String> = of_kind("@CO\t").filter(|line| !known.contains(line)).map(str::to_owned).collect();
        self.comments.extend(comments);
        for field in of_kind("@HD\t").flat_map(|line| line.split('\t').skip(1)) {
            let is_of_users = matches!(field.as_bytes(), [b'a'..=b'z', b'a'..=b'z' | b'0'..=b'9', b':', _, ..]);
            if is_of_users && !self.head_fields.iter().any(|known| known[..3] == field[..3]) {
                self.head_fields.push(field.to_owned());
            }
        }
        // A line without an ID names nothing, nor does the second one with an ID.
        let mut seen = HashSet::new();
        let programs: Vec<String> = of_kind("@PG\t").map(|line| format!("@PG\t{}", fields(line).join("\t"))).collect();
        let is_named = |line: &String| field(line, "ID").is_some_and(|id| !id.is_empty() && seen.insert(id.to_owned()));
        let lines: Vec<String> = programs.into_iter().filter(is_named).collect();
        if let Some(same) = self.chains.iter().find(|chain| chain.lines == lines) {
            return same.renamed.clone();
        }
        let earlier = self.programs();
        let renamed = new_ids(&ids(lines.iter().map(String::as_str)), &ids(earlier.iter().map(String::as_str)));
        self.chains.push(ProgramChain { lines, renamed: renamed.clone() });
        renamed
    }

    /// The @PG lines, with IDs that are unique.
    pub(crate) fn programs(&self) -> Vec<String> {
        let new = |chain: &ProgramChain| {
            chain.lines.iter().map(|line| with_new_ids(line, &chain.renamed)).collect::<Vec<_>>()
        };
        self.chains.iter().flat_map(new).collect()
    }

    /// The ID of what ran last on all reads, if it is the same for all.
    pub(crate) fn last(&self) -> Option<String> {
        let [ProgramChain { lines, .. }] = &self.chains[..] else { return None };
        match last_ids(&lines.iter().map(String::as_str).collect::<Vec<_>>())[..] {
            [one] => Some(one.to_owned()),
            _ => None,
        }
    }

    /// Fields of @HD beside those of the format.
    pub(crate) fn head_fields(&self) -> &[String] {
        &self.head_fields
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
    fn fields_of_the_first_line_that_are_for_users_stay() {
        let mut history = History::default();
        history.add(&["@HD\tVN:1.6\tSO:unknown\tpb:5.0.0\tx:1\tzz:"]);
        history.add(&["@HD\tVN:1.6\tpb:3.0.1\tz9:\u{e4}"]);
        assert_eq!(history.head_fields(), ["pb:5.0.0", "z9:\u{e4}"]);
    }

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
        history.add(&["@CO\tz", "@CO\tx", "@CO\tz"]);
        assert_eq!(history.comments()[2..], ["@CO\tz", "@CO\tz"]);
    }

    #[test]
    fn what_ran_last_is_the_same_for_all_reads_or_is_not_known() {
        let last = |files: &[&[&str]]| {
            let mut history = History::default();
            files.iter().for_each(|lines| drop(history.add(lines)));
            history.last()
        };
        let one: &[&str] = &["@PG\tID:b\tPP:a", "@PG\tID:a"];
        assert_eq!(last(&[one, one]).as_deref(), Some("b"));
        assert_eq!(last(&[one, &[]]), None);
        assert_eq!(last(&[&["@CO\tx"], one]), None);
        assert_eq!(last(&[&["@PG\tID:a", "@PG\tID:b"]]), None);
    }
}
