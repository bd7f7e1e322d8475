//! The kernel's list format: ascending numbers and ranges, `0-3,8` (`cpuset(7)`, "List format").

use crate::TopologyError;

/// Numbers from here on are taken for damage: Linux is built for at most 8192 CPUs and 1024 nodes.
const LIMIT: u32 = 1 << 20;

/// Parses a list; the result is ascending without repeats. Surrounding white space and the empty list are fine.
///
/// The strided form `0-15:2/4` (in each group of four the first two) is understood as well.
///
/// # Errors
/// [`TopologyError::List`] for anything else, and for numbers of a million and more.
///
/// ```
/// assert_eq!(zerohop_topology::cpulist::parse("0-3,8\n")?, [0, 1, 2, 3, 8]);
/// # Ok::<(), zerohop_topology::TopologyError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<u32>, TopologyError> {
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let mut numbers = Vec::new();
    if !trimmed.is_empty() {
        for part in trimmed.split(',') {
            add_part(part.trim(), &mut numbers)
                .map_err(|reason| TopologyError::List { text: trimmed.to_owned(), reason })?;
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// Writes ascending numbers as a list; the empty list is the empty string.
///
/// ```
/// assert_eq!(zerohop_topology::cpulist::format(&[0, 1, 2, 3, 8]), "0-3,8");
/// ```
pub fn format(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let parts: Vec<String> = runs.filter_map(|run| Some((run.first()?, run.last()?))).map(format_run).collect();
    parts.join(",")
}

fn format_run((first, last): (&u32, &u32)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn add_part(part: &str, numbers: &mut Vec<u32>) -> Result<(), &'static str> {
    let (range, stride) = part.split_once(':').map_or((part, None), |(range, stride)| (range, Some(stride)));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err("a range runs backwards");
    }
    let (used, group) = match stride.map(|s| s.split_once('/').ok_or("a stride is not of the form used/group")) {
        None => (1, 1),
        Some(pair) => pair.and_then(|(used, group)| Ok((number(used)?, number(group)?)))?,
    };
    if group == 0 {
        return Err("a stride has groups of no size");
    }
    numbers.extend((first..=last).filter(|n| (n - first) % group < used));
    Ok(())
}

fn number(text: &str) -> Result<u32, &'static str> {
    // `u32::from_str` takes a leading plus, the kernel does not.
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("not a number");
    }
    let number: u32 = text.parse().map_err(|_| "not a number")?;
    if number < LIMIT { Ok(number) } else { Err("a number is too large") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kernel_examples() {
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("\n").unwrap(), []);
        assert_eq!(parse("7\n").unwrap(), [7]);
        assert_eq!(parse("0-4,9").unwrap(), [0, 1, 2, 3, 4, 9]);
        assert_eq!(parse("8,0-2, 1-3").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse("0-15:2/4").unwrap(), [0, 1, 4, 5, 8, 9, 12, 13]);
    }

    #[test]
    fn damage_is_refused() {
        for text in ["-", "1-", "a", "3-1", "1,,2", "+1", "0-4294967295", "99999999999", "0-3:1", "0-3:1/0", "0-3:/"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(set in proptest::collection::btree_set(0u32..2000, 0..200)) {
            let numbers: Vec<u32> = set.into_iter().collect();
            prop_assert_eq!(parse(&format(&numbers)).unwrap(), numbers);
        }

        #[test]
        fn never_panics(text in "[0-9,:/ -]{0,24}") {
            let _ = parse(&text);
        }
    }
}
