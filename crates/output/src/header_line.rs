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
pub(crate) fn new_ids(ids: &HashSet<&str>, taken: &HashSet<&str>) -> Renamed {
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
pub(crate) fn with_new_ids(line: &str, new: &Renamed) -> String {
    let mut labels = vec!["ID:", "PP:"];
    let mut replaced = |field: &str| {
        // Only the first of each: a command line may hold more that look like it.
        let label = labels.swap_remove(labels.iter().position(|label| field.starts_with(label))?);
        Some(format!("{label}{}", new.get(&field[3..])?))
    };
    line.split('\t').map(|field| replaced(field).unwrap_or_else(|| field.to_owned())).collect::<Vec<_>>().join("\t")
}

/// The fields of a line of another file's header, each key once. What is no field to htslib, such as the rest of a
/// command line behind a tab, becomes a part of the one before.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in line.split('\t').skip(1).filter(|text| !text.is_empty()) {
        let is_field =
            matches!(text.as_bytes(), [a, b, b':', ..] if a.is_ascii_alphabetic() && b.is_ascii_alphanumeric());
        if is_field && !all.iter().any(|other| other[..3] == text[..3]) {
            all.push(text.to_owned());
        } else if let Some(before) = all.last_mut() {
            before.push(' ');
            before.push_str(text);
        }
    }
    all
}

/// The IDs of @PG lines.
pub(crate) fn ids<'a>(lines: impl Iterator<Item = &'a str>) -> HashSet<&'a str> {
    lines.filter_map(|line| field(line, "ID")).collect()
}

/// The IDs of @PG lines that no other of them refers to: what ran last.
pub(crate) fn last_ids<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let referred: HashSet<&str> = lines.iter().filter_map(|line| field(line, "PP")).collect();
    lines.iter().filter_map(|line| field(line, "ID")).filter(|id| !referred.contains(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_htslib_cannot_read_is_mended() {
        assert_eq!(fields("@PG\tID:a\tCL:x\tID:b y\t-t 2\t"), ["ID:a", "CL:x ID:b y -t 2"]);
        assert_eq!(fields("@PG\tx\tID:\tPN:p \t\tVN:\tCL:q"), ["ID:", "PN:p ", "VN:", "CL:q"]);
        assert!(fields("@PG").is_empty());
    }

    #[test]
    fn the_first_id_alone_is_one() {
        let new = Renamed::from([("x".to_owned(), "x.1".to_owned())]);
        assert_eq!(with_new_ids("@PG\tPP:x\tID:x\tCL:a\tID:x\tPP:x", &new), "@PG\tPP:x.1\tID:x.1\tCL:a\tID:x\tPP:x");
        assert_eq!(with_new_ids("@PG\tID:y\tCL:ID:x\tID:x", &new), "@PG\tID:y\tCL:ID:x\tID:x");
    }
}
