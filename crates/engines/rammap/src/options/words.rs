//! The words of `--engine-args`, taken apart as minimap2 takes its command line apart (ketopt.h of minimap2 2.31).

use super::RammapOptionsError;

/// Letters with a value, and those without one.
const VALUED: &str = "wkKtrfvgGIdTsxMnzABbOEmNuRFCojeUJp";
const BARE: &str = "2aSDVXHcQhLyYP";

/// What stands behind a long option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// Only after `=`.
    Maybe,
}

/// Long options: their names, the option that each of them is, and what stands behind it.
const LONG: [(&str, &str, Takes); 75] = {
    use Takes::{Maybe, Nothing, Value};
    [
        ("bucket-bits", "--bucket-bits", Value),
        ("mb-size", "-K", Value),
        ("seed", "--seed", Value),
        ("no-kalloc", "--no-kalloc", Nothing),
        ("print-qname", "--print-qname", Nothing),
        ("no-self", "-D", Nothing),
        ("print-seeds", "--print-seeds", Nothing),
        ("max-chain-skip", "--max-chain-skip", Value),
        ("min-dp-len", "--min-dp-len", Value),
        ("print-aln-seq", "--print-aln-seq", Nothing),
        ("splice", "--splice", Nothing),
        ("cost-non-gt-ag", "-C", Value),
        ("no-long-join", "--no-long-join", Nothing),
        ("sr", "--sr", Maybe),
        ("frag", "--frag", Value),
        ("secondary", "--secondary", Value),
        ("cs", "--cs", Maybe),
        ("end-bonus", "--end-bonus", Value),
        ("no-pairing", "--no-pairing", Nothing),
        ("splice-flank", "--splice-flank", Value),
        ("idx-no-seq", "--idx-no-seq", Nothing),
        ("end-seed-pen", "--end-seed-pen", Value),
        ("for-only", "--for-only", Nothing),
        ("rev-only", "--rev-only", Nothing),
        ("heap-sort", "--heap-sort", Value),
        ("all-chain", "-P", Nothing),
        ("dual", "--dual", Value),
        ("max-clip-ratio", "--max-clip-ratio", Value),
        ("min-occ-floor", "--min-occ-floor", Value),
        ("MD", "--MD", Nothing),
        ("lj-min-ratio", "--lj-min-ratio", Value),
        ("score-N", "--score-N", Value),
        ("eqx", "--eqx", Nothing),
        ("paf-no-hit", "--paf-no-hit", Nothing),
        ("split-prefix", "--split-prefix", Value),
        ("no-end-flt", "--no-end-flt", Nothing),
        ("hard-mask-level", "--hard-mask-level", Nothing),
        ("cap-sw-mem", "--cap-sw-mem", Value),
        ("max-qlen", "--max-qlen", Value),
        ("max-chain-iter", "--max-chain-iter", Value),
        ("junc-bed", "--junc-bed", Value),
        ("junc-bonus", "--junc-bonus", Value),
        ("sam-hit-only", "--sam-hit-only", Nothing),
        ("chain-gap-scale", "--chain-gap-scale", Value),
        ("alt", "--alt", Value),
        ("alt-drop", "--alt-drop", Value),
        ("mask-len", "--mask-len", Value),
        ("rmq", "--rmq", Maybe),
        ("qstrand", "--qstrand", Nothing),
        ("cap-kalloc", "--cap-kalloc", Value),
        ("q-occ-frac", "--q-occ-frac", Value),
        ("chain-skip-scale", "--chain-skip-scale", Value),
        ("print-chains", "--print-chains", Nothing),
        ("no-hash-name", "--no-hash-name", Nothing),
        ("secondary-seq", "--secondary-seq", Nothing),
        ("ds", "--ds", Nothing),
        ("rmq-inner", "--rmq-inner", Value),
        ("spsc", "--spsc", Value),
        ("junc-pen", "--junc-pen", Value),
        ("pairing", "--pairing", Value),
        ("jump-min-match", "--jump-min-match", Value),
        ("write-junc", "--write-junc", Nothing),
        ("pass1", "--pass1", Value),
        ("spsc-scale", "--spsc-scale", Value),
        ("spsc0", "--junc-pen", Value),
        ("dbg-seed-occ", "--dbg-seed-occ", Nothing),
        ("help", "-h", Nothing),
        ("max-intron-len", "-G", Value),
        ("version", "-V", Nothing),
        ("min-count", "-n", Value),
        ("min-chain-score", "-m", Value),
        ("mask-level", "-M", Value),
        ("min-dp-score", "-s", Value),
        ("sam", "-a", Nothing),
        // Not of minimap2, which writes PAF unless told otherwise.
        ("paf", "--paf", Nothing),
    ]
};

/// An option that was given: its letter, or the name of one that has none; and its value, empty where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// `-k`, `--secondary`.
    pub option: String,
    /// What stands behind it.
    pub value: String,
}

/// The options in `text`, in order.
///
/// # Errors
/// What minimap2 does not know; a value that is missing.
pub(super) fn options_in(text: &str) -> Result<Vec<Given>, RammapOptionsError> {
    let words = shlex::split(text).ok_or_else(|| RammapOptionsError(format!("a quote in '{text}' is not closed")))?;
    let (mut given, mut words) = (Vec::new(), words.into_iter());
    while let Some(word) = words.next() {
        given.extend(taken_apart(&word, || words.next())?);
    }
    Ok(given)
}

/// The options that a word of minimap2's command line gives, and whether the `next` word is the value of the last one;
/// none if minimap2 does not have them.
///
/// ```
/// use zerohop_engine_rammap::options_of;
/// let (given, takes_next) = options_of("-ax", Some("map-ont")).unwrap();
/// assert_eq!((&*given[0].option, &*given[1].value, takes_next), ("-a", "map-ont", true));
/// assert!(options_of("--sort", None).is_none());
/// ```
pub fn options_of(word: &str, next: Option<&str>) -> Option<(Vec<Given>, bool)> {
    let mut takes_next = false;
    let mut taken = || {
        takes_next = true;
        next.map(str::to_owned)
    };
    let given = taken_apart(word, &mut taken).ok()?;
    Some((given, takes_next))
}

/// The options in a word; `next` gives the one behind it.
fn taken_apart(word: &str, mut next: impl FnMut() -> Option<String>) -> Result<Vec<Given>, RammapOptionsError> {
    let mut needed = |option: &str| next().ok_or_else(|| RammapOptionsError(format!("{option} needs a value")));
    if let Some(long) = word.strip_prefix("--").filter(|name| !name.is_empty()) {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let (_, option, takes) = known(name)?;
        let value = match (takes, value) {
            (Takes::Nothing, Some(_)) => return Err(RammapOptionsError(format!("--{name} takes no value"))),
            (Takes::Value, None) => needed(option)?,
            (_, value) => value.unwrap_or_default().to_owned(),
        };
        return Ok(vec![Given { option: (*option).to_owned(), value }]);
    }
    let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.is_empty() && *rest != "-") else {
        return Err(RammapOptionsError(format!("'{word}' is not an option of minimap2")));
    };
    let (mut given, mut rest) = (Vec::new(), cluster.chars());
    while let Some(letter) = rest.next() {
        let option = format!("-{letter}");
        let is_valued = VALUED.contains(letter);
        match (is_valued, rest.as_str()) {
            (true, "") => given.push(Given { value: needed(&option)?, option }),
            (true, same_word) => given.push(Given { value: same_word.to_owned(), option }),
            (false, _) if BARE.contains(letter) => {
                given.push(Given { option, value: String::new() });
                continue;
            }
            (false, _) => return Err(RammapOptionsError(format!("minimap2 has no option -{letter}"))),
        }
        break;
    }
    Ok(given)
}

/// The long option of this name, of which so much need be there as makes it the only one.
fn known(name: &str) -> Result<&'static (&'static str, &'static str, Takes), RammapOptionsError> {
    if let Some(exact) = LONG.iter().find(|(long, ..)| *long == name) {
        return Ok(exact);
    }
    let mut begun = LONG.iter().filter(|(long, ..)| long.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(RammapOptionsError(format!("minimap2 has no option --{name}"))),
        (Some((one, ..)), Some((other, ..))) => {
            Err(RammapOptionsError(format!("--{name} may be --{one} or --{other}: write more of it")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Vec<(String, String)> {
        options_in(text).unwrap().into_iter().map(|Given { option, value }| (option, value)).collect()
    }

    #[test]
    fn words_are_taken_apart_as_by_minimap2() {
        let given = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(option, value)| (option.to_string(), value.to_string())).collect()
        };
        assert_eq!(options("-ax map-ont -k15"), given(&[("-a", ""), ("-x", "map-ont"), ("-k", "15")]));
        assert_eq!(options("--secondary=no -p 0.5"), given(&[("--secondary", "no"), ("-p", "0.5")]));
        assert_eq!(options("--secondary no --max-qlen=5M"), given(&[("--secondary", "no"), ("--max-qlen", "5M")]));
        // A value that may be left out stands behind '='.
        assert_eq!(options("--cs --cs=long -Y"), given(&[("--cs", ""), ("--cs", "long"), ("-Y", "")]));
        assert_eq!(options("--MD --max-i 9 --sam"), given(&[("--MD", ""), ("-G", "9"), ("-a", "")]));
        for (text, what) in [
            ("-k", "-k needs a value"),
            ("--secondary", "--secondary needs a value"),
            ("reads.fq", "is not an option"),
            ("-W 3", "has no option -W"),
            ("--min", "write more of it"),
            ("--eqx=1", "takes no value"),
            ("'x", "not closed"),
        ] {
            let error = options_in(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
