//! Compares the records of a run with those of the aligner by itself, and says of what kind the differences are.

use std::collections::HashMap;
use std::io::{self, BufRead};
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::measurement::Comparison;
use zerohop_model::record::{FIRST, LAST, REVERSE, UNMAPPED, is_primary};

/// Flags that say where a read lies; the others say how it is paired, or what kind of record it is.
const PLACE_FLAGS: u16 = UNMAPPED | REVERSE;

/// Compares `ours` with `plain`, both SAM, fragment by fragment, up to `first` fragments. With `same_order` both have
/// the fragments in the same order; else all of `plain` is held in memory.
///
/// # Errors
/// What reading says.
pub fn compare(
    plain: impl BufRead,
    ours: impl BufRead,
    same_order: bool,
    first: Option<u64>,
) -> io::Result<Comparison> {
    let (mut plain, mut ours) = (FragmentReader::new(plain), FragmentReader::new(ours));
    let mut comparison = Comparison::default();
    let mut by_name: HashMap<u64, Vec<Vec<Vec<u8>>>> = HashMap::new();
    if !same_order {
        while let Some(fragment) = plain.next()? {
            by_name.entry(xxh3_64(&plain.name)).or_default().push(fragment);
        }
        by_name.values_mut().for_each(|fragments| fragments.reverse());
    }
    while first.is_none_or(|first| comparison.fragments < first) {
        let Some(mine) = ours.next()? else { break };
        let other = match same_order {
            true => plain.next()?.filter(|_| plain.name == ours.name),
            false => by_name.get_mut(&xxh3_64(&ours.name)).and_then(Vec::pop),
        };
        comparison.fragments += 1;
        compare_fragment(&other.unwrap_or_default(), &mine, &mut comparison);
    }
    if first.is_none() {
        let left = by_name.into_values().flatten().map(|fragment| fragment.len() as u64).sum::<u64>();
        let (mut rest, mut more) = (0, if same_order { plain.next()? } else { None });
        while let Some(fragment) = more {
            rest += fragment.len() as u64;
            more = plain.next()?;
        }
        comparison.unmatched += left + rest;
        comparison.records += left + rest;
    }
    Ok(comparison)
}

/// Reads SAM as groups of lines of the same name; neighbours of one name are told apart by their mates.
struct FragmentReader<R> {
    input: R,
    line: Vec<u8>,
    /// The name of the fragment that was returned last.
    name: Vec<u8>,
}

impl<R: BufRead> FragmentReader<R> {
    fn new(input: R) -> Self {
        FragmentReader { input, line: Vec::new(), name: Vec::new() }
    }

    /// Reads the next record into `line`; leaves it empty at the end.
    fn read(&mut self) -> io::Result<()> {
        loop {
            self.line.clear();
            self.input.read_until(b'\n', &mut self.line)?;
            if !self.line.starts_with(b"@") || self.line.is_empty() {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> io::Result<Option<Vec<Vec<u8>>>> {
        if self.line.is_empty() {
            self.read()?;
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.name = name(&self.line).to_vec();
        let (mut lines, mut seen) = (Vec::new(), 0);
        while !self.line.is_empty() && name(&self.line) == self.name {
            let mate = flags(&self.line) & (FIRST | LAST);
            let primary = is_primary(flags(&self.line));
            // A second primary record of the same mate begins the next fragment of the same name.
            if primary && seen & (mate | 1) == mate | 1 {
                break;
            }
            seen |= if primary { mate | 1 } else { 0 };
            lines.push(std::mem::take(&mut self.line));
            self.read()?;
        }
        Ok(Some(lines))
    }
}

fn field(line: &[u8], index: usize) -> &[u8] {
    let field = line.split(|&byte| byte == b'\t').nth(index).unwrap_or_default();
    field.trim_ascii_end()
}

fn name(line: &[u8]) -> &[u8] {
    let name = field(line, 0);
    name.strip_suffix(b"/1").or_else(|| name.strip_suffix(b"/2")).unwrap_or(name)
}

fn flags(line: &[u8]) -> u16 {
    std::str::from_utf8(field(line, 1)).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn score(line: &[u8]) -> Option<&[u8]> {
    line.split(|&byte| byte == b'\t').skip(11).find_map(|tag| tag.strip_prefix(b"AS:i:")).map(<[u8]>::trim_ascii_end)
}

fn compare_fragment(plain: &[Vec<u8>], ours: &[Vec<u8>], comparison: &mut Comparison) {
    comparison.records += plain.len() as u64;
    comparison.unmatched += plain.len().abs_diff(ours.len()) as u64;
    for (a, b) in plain.iter().zip(ours) {
        *kind(a, b, comparison) += 1;
    }
}

/// The count that a pair of records belongs to.
fn kind<'c>(a: &[u8], b: &[u8], comparison: &'c mut Comparison) -> &'c mut u64 {
    let place = |line: &[u8]| {
        let fields: Vec<Vec<u8>> = [2, 3, 5].iter().map(|&i| field(line, i).to_vec()).collect();
        (flags(line) & PLACE_FLAGS, fields)
    };
    let pairing = |line: &[u8]| {
        let fields: Vec<Vec<u8>> = [1, 6, 7, 8].iter().map(|&i| field(line, i).to_vec()).collect();
        fields
    };
    if a.trim_ascii_end() == b.trim_ascii_end() {
        &mut comparison.same
    } else if place(a) != place(b) {
        if score(a) == score(b) { &mut comparison.ties } else { &mut comparison.other_score }
    } else if pairing(a) != pairing(b) {
        &mut comparison.other_pairing
    } else {
        &mut comparison.other_fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "@HD\tx\n\
        a\t65\tc\t10\t60\t5M\t=\t20\t15\tACGTA\t*\tAS:i:5\n\
        a\t129\tc\t20\t60\t5M\t=\t10\t-15\tACGTA\t*\tAS:i:5\n\
        b\t0\tc\t10\t0\t5M\t*\t0\t0\tACGTA\t*\tAS:i:5\n\
        b\t0\tc\t30\t0\t5M\t*\t0\t0\tACGTA\t*\tAS:i:5\n\
        c\t0\tc\t10\t7\t5M\t*\t0\t0\tACGTA\t*\tAS:i:5\tXS:i:4\n";

    #[test]
    fn differences_are_told_apart() {
        let ours = PLAIN
            .replace("@HD\tx\n", "")
            .replace("129\tc\t20\t60\t5M\t=\t10\t-15", "131\tc\t20\t60\t5M\t=\t10\t-15")
            .replace("b\t0\tc\t30", "b\t0\tc\t31")
            .replace("XS:i:4", "XS:i:3");
        for same_order in [true, false] {
            let same = compare(PLAIN.as_bytes(), PLAIN.as_bytes(), same_order, None).unwrap();
            assert!(same.is_same() && same.records == 5 && same.fragments == 4, "{same:?}");
            let c = compare(PLAIN.as_bytes(), ours.as_bytes(), same_order, None).unwrap();
            assert_eq!((c.same, c.ties, c.other_pairing, c.other_fields, c.unmatched), (2, 1, 1, 1, 0), "{c:?}");
            let c = compare(PLAIN.as_bytes(), ours.replace("AS:i:5\n", "AS:i:6\n").as_bytes(), same_order, Some(3))
                .unwrap();
            assert_eq!((c.fragments, c.other_score), (3, 1), "{c:?}");
            let cut = ours.rsplit_once("c\t0").unwrap().0;
            assert_eq!(compare(PLAIN.as_bytes(), cut.as_bytes(), same_order, None).unwrap().unmatched, 1);
        }
    }

    #[test]
    fn fragments_in_another_order_are_found() {
        let turned: String =
            PLAIN.lines().skip(1).collect::<Vec<_>>().chunks(2).rev().flatten().map(|l| format!("{l}\n")).collect();
        assert!(compare(PLAIN.as_bytes(), turned.as_bytes(), false, None).unwrap().is_same());
    }
}
