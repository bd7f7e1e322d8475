//! Fields of header lines (SAMv1, section 1.3), and other IDs for programs.

use std::collections::{HashMap, HashSet};

/// New IDs by those that they replace.
pub type Renamed = HashMap<String, String>;

/// The value of the first field of that name: a command line may hold more that look like it.
pub(crate) fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split('\t').skip(1).find_map(|field| field.strip_prefix(name)?.strip_prefix(':'))
}

/// An ID that is not `taken`: `wanted`, else `wanted.1` and so on, as samtools numbers programs.
pub(crate) fn free_id(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let numbered = (1u64..).map(|n| format!("{wanted}.{n}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(|id| !taken(id)).unwrap_or_default()
}

/// New IDs for those of `ids` that are `taken`; neither these nor other `ids` are taken twice.
pub(crate) fn renamed(ids: &HashSet<&str>, taken: &HashSet<&str>) -> Renamed {
    // In order, so that the header is the same each time.
    let mut same: Vec<&str> = ids.intersection(taken).copied().collect();
    same.sort_unstable();
    let mut new = HashSet::new();
    let mut pair = |old: &str| {
        let id = free_id(old, |id| taken.contains(id) || ids.contains(id) || new.contains(id));
        new.insert(id.clone());
        (old.to_owned(), id)
    };
    same.into_iter().map(&mut pair).collect()
}

/// A @PG line with new IDs in its ID and PP.
pub(crate) fn with_new_ids(line: &str, renamed: &Renamed) -> String {
    let field = |field: &str| {
        let new = ["ID:", "PP:"].iter().find_map(|label| Some((label, renamed.get(field.strip_prefix(label)?)?)));
        new.map_or_else(|| field.to_owned(), |(label, id)| format!("{label}{id}"))
    };
    line.split('\t').map(field).collect::<Vec<_>>().join("\t")
}

/// The IDs of @PG lines that no other of them refers to: what ran last.
pub(crate) fn last_ids<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let referred: HashSet<&str> = lines.iter().filter_map(|line| field(line, "PP")).collect();
    lines.iter().filter_map(|line| field(line, "ID")).filter(|id| !referred.contains(id)).collect()
}
