//! Numbers that can be typed, and what is said of others.

use zerohop_model::machine::Bytes;

/// The most threads, programs or index copies that can be asked for.
const MOST: u64 = 65_536;
/// The longest read, in bases.
const LONGEST_READ: u64 = 1_000_000_000;
/// About 30 years: what is added to a time of day must still be one.
const LONGEST_WAIT_S: u64 = 1_000_000_000;
/// 1 EB: sums of sizes must fit 64 bits.
const LARGEST_BYTES: f64 = 1e18;

/// Threads, programs or index copies.
pub fn count(text: &str) -> Result<usize, String> {
    between(text, 1, MOST)
}

/// Files of one output.
pub fn shards(text: &str) -> Result<usize, String> {
    between(text, 1, 4096)
}

/// Rounds of a tuning.
pub fn rounds(text: &str) -> Result<u32, String> {
    between(text, 1, 1000)
}

/// A level of compression.
pub fn level(text: &str) -> Result<u8, String> {
    between(text, 0, 9)
}

/// Bases of a read.
pub fn read_length(text: &str) -> Result<usize, String> {
    between(text, 1, LONGEST_READ)
}

/// Seconds to wait.
pub fn seconds(text: &str) -> Result<u64, String> {
    between(text, 1, LONGEST_WAIT_S)
}

/// A number of which at least one is needed, such as reads.
pub fn some(text: &str) -> Result<u64, String> {
    between(text, 1, u64::MAX)
}

/// The same for what 32 bits hold.
pub fn some_u32(text: &str) -> Result<u32, String> {
    between(text, 1, u32::MAX.into())
}

/// The same, or none.
pub fn any_u32(text: &str) -> Result<u32, String> {
    between(text, 0, u32::MAX.into())
}

/// 'auto', or a number of index copies.
pub fn replicas(text: &str) -> Result<zerohop_plan::Replicas, String> {
    match text {
        "auto" => Ok(zerohop_plan::Replicas::Auto),
        text => count(text).map(zerohop_plan::Replicas::Count).map_err(|words| format!("{words}, or 'auto'")),
    }
}

/// A size in bytes, more than 0.
pub fn size(text: &str) -> Result<Bytes, String> {
    let wrong =
        || format!("'{text}' is not a size: give bytes, or a number with K, M, G or T, more than 0 and up to 800000T");
    let (number, shift) = match text.char_indices().last() {
        Some((at, unit @ ('K' | 'k' | 'M' | 'm' | 'G' | 'g' | 'T' | 't'))) => {
            (&text[..at], 10 * (1 + "KMGT".find(unit.to_ascii_uppercase()).unwrap_or(0)))
        }
        _ => (text, 0),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * (1u64 << shift) as f64;
    if (1.0..LARGEST_BYTES).contains(&bytes) { Ok(Bytes(bytes as u64)) } else { Err(wrong()) }
}

fn between<T: TryFrom<u64>>(text: &str, least: u64, most: u64) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match most {
        u64::MAX => format!("it must be a whole number, {least} or more"),
        most => format!("it must be a whole number from {least} to {most}"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Args;
    use clap::Parser;

    /// The message about a command, without the command; empty if the command is valid.
    fn said(command: &str) -> String {
        let typed = std::iter::once("zerohop").chain(command.split(' '));
        Args::try_parse_from(typed).err().map_or_else(String::new, |error| error.to_string())
    }

    /// Each option that takes a number, what is allowed, and values on both sides of it.
    #[test]
    fn numbers_that_make_no_sense_are_refused_with_what_is_allowed() {
        let many = "from 1 to 65536";
        let table: [(&str, &str, &[&str], &[&str]); 26] = [
            ("align r f -t", many, &["1", "65536"], &["0", "65537", "99999999999999999999", "1.5", "x"]),
            ("align r f --replicas", many, &["auto", "1", "65536"], &["0", "65537", "all"]),
            ("align r f --shards", "from 1 to 4096", &["1", "4096"], &["0", "4097"]),
            ("align r f --level", "from 0 to 9", &["0", "9"], &["10", "-"]),
            ("align r f -r", "from 1 to 1000000000", &["1", "1000000000"], &["0", "1000000001"]),
            ("align r f --first", "1 or more", &["1", "18446744073709551615"], &["0", "18446744073709551616"]),
            ("align r f --hang-limit", "from 1 to 1000000000", &["1"], &["0", "18446744073709551615"]),
            ("align r f --compare-with original --compare-first", "1 or more", &["1"], &["0"]),
            ("align r f --sort --mark-duplicates --optical-distance", "from 0 to 4294967295", &["0"], &["4294967296"]),
            (
                "align r f --sort --sort-memory",
                "is not a size",
                &["1G", "5"],
                &["0", "0G", "-", "1e30", "nan", "1000000T"],
            ),
            ("plan -t", many, &["1", "65536"], &["0", "65537"]),
            ("plan --index-size", "is not a size", &["1", "5.1G"], &["0", "0.0001K", "-", "inf", "G"]),
            ("plan -r", "from 1 to 1000000000", &["150"], &["0"]),
            ("index r -t", many, &["1"], &["0", "65537"]),
            ("index r -r", "from 1 to 1000000000", &["1"], &["0"]),
            ("run -t", many, &["1 x"], &["0 x", "65537 x"]),
            ("run --replicas", many, &["1 x"], &["0 x", "65537 x"]),
            ("tune r f --repeat", "from 1 to 1000", &["1", "1000"], &["0", "1001"]),
            ("tune r f --first", "1 or more", &["1"], &["0"]),
            ("topo --measure --buffer", "is not a size", &["256M"], &["0", "1e19"]),
            ("search --db d -o o q -t", many, &["1"], &["0", "65537"]),
            ("search --db d -o o q --instances", many, &["1"], &["0", "65537"]),
            ("search --db d -o o q --batch-letters", "1 or more", &["1"], &["0"]),
            ("search --db d -o o q --batch-queries", "from 1 to 4294967295", &["1"], &["0", "4294967296"]),
            ("search --db d -o o q --hang-limit", "from 1 to 1000000000", &["1"], &["0", "1000000001"]),
            ("search --db d -o o q -k", "from 0 to 4294967295", &["0", "25"], &["4294967296", "x"]),
        ];
        for (option, allowed, good, bad) in table {
            for value in good {
                let said = said(&format!("{option} {value}"));
                assert!(!said.contains("invalid value"), "{option} {value}: {said}");
            }
            for value in bad {
                let said = said(&format!("{option} {value}"));
                assert!(said.contains("invalid value") && said.contains(allowed), "{option} {value}: {said}");
            }
        }
    }
}
