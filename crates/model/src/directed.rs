//! Optional fields of a read that go with its direction: one value per base, in the order in which it was sequenced.
//! Records on the reverse strand show the bases the other way round, and these fields with them, if the user says which
//! they are.

use crate::complement;
use std::borrow::Cow;
use std::fmt;

/// The fields of consensus reads with one value per base, as `fgbio ZipperBams` names the set (ConsensusTags.PerBase of
/// fgbio 2.4).
const CONSENSUS: TagSet = TagSet {
    reversed: &[*b"cd", *b"ce", *b"ad", *b"ae", *b"bd", *b"be", *b"aq", *b"bq"],
    complemented: &[*b"ac", *b"bc"],
};
/// Those that Picard's MergeBamAlignment reverses by default (SAMRecord of htsjdk).
const PICARD: TagSet = TagSet { reversed: &[*b"OQ", *b"U2"], complemented: &[*b"E2", *b"SQ"] };

/// A set of fields that has a name.
struct TagSet {
    reversed: &'static [[u8; 2]],
    complemented: &'static [[u8; 2]],
}

/// A name that is neither a tag nor that of a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is neither a tag, as cd is, nor a set of tags: the sets are Consensus and Picard")]
pub struct UnknownTag(String);

/// Which fields go with the direction of a read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directed {
    reversed: Vec<[u8; 2]>,
    complemented: Vec<[u8; 2]>,
}

/// As `--tags-to-reverse` and `--tags-to-revcomp` have it.
impl fmt::Display for Directed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = |name: &str, keys: &[[u8; 2]]| {
            let keys: Vec<_> = keys.iter().map(|key| String::from_utf8_lossy(key)).collect();
            (!keys.is_empty()).then(|| format!("{name} {}", keys.join(",")))
        };
        let reversed = option("--tags-to-reverse", &self.reversed);
        let options: Vec<String> =
            reversed.into_iter().chain(option("--tags-to-revcomp", &self.complemented)).collect();
        match options.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&options.join(" ")),
        }
    }
}

impl Directed {
    /// From names of fields, such as `cd`, and of sets: `Consensus` (of fgbio) and `Picard`. Those of `reversed` are
    /// shown the other way round, those of `complemented` as the other strand has them.
    ///
    /// ```
    /// use zerohop_model::directed::Directed;
    /// assert!(Directed::new(&["Consensus".into(), "OQ".into()], &["Consensus".into()]).is_ok());
    /// assert!(Directed::new(&["quality".into()], &[]).is_err());
    /// ```
    ///
    /// # Errors
    /// A name that is neither.
    pub fn new(reversed: &[String], complemented: &[String]) -> Result<Self, UnknownTag> {
        let keys = |names: &[String], of: fn(&TagSet) -> &'static [[u8; 2]]| {
            let mut all = Vec::new();
            for name in names {
                match name.as_bytes() {
                    b"Consensus" => all.extend_from_slice(of(&CONSENSUS)),
                    b"Picard" => all.extend_from_slice(of(&PICARD)),
                    [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphanumeric() => all.push([*a, *b]),
                    _ => return Err(UnknownTag(name.clone())),
                }
            }
            Ok(all)
        };
        Ok(Directed {
            reversed: keys(reversed, |set| set.reversed)?,
            complemented: keys(complemented, |set| set.complemented)?,
        })
    }

    /// Whether a field of this name has one value per base.
    pub fn is_per_base(&self, key: [u8; 2]) -> bool {
        let is_in = |set: &TagSet| set.reversed.contains(&key) || set.complemented.contains(&key);
        [CONSENSUS, PICARD].iter().any(is_in) || self.reversed.contains(&key) || self.complemented.contains(&key)
    }

    /// Optional fields, tab-separated, as the other strand has them.
    pub fn turned<'t>(&self, fields: &'t [u8]) -> Cow<'t, [u8]> {
        if self.reversed.is_empty() && self.complemented.is_empty() {
            return Cow::Borrowed(fields);
        }
        let mut out = Vec::with_capacity(fields.len());
        for field in fields.split(|&byte| byte == b'\t') {
            if !out.is_empty() {
                out.push(b'\t');
            }
            match field {
                [a, b, b':', kind, b':', value @ ..] if self.reversed.contains(&[*a, *b]) => {
                    out.extend_from_slice(&field[..5]);
                    push_reversed(&mut out, *kind, value);
                }
                [a, b, b':', b'Z', b':', value @ ..] if self.complemented.contains(&[*a, *b]) => {
                    out.extend_from_slice(&field[..5]);
                    out.extend(complement::BASES.reversed(value));
                }
                _ => out.extend_from_slice(field),
            }
        }
        Cow::Owned(out)
    }
}

/// Text backwards, or the numbers of an array (`c,1,-2`) in the other order; anything else as it is.
fn push_reversed(out: &mut Vec<u8>, kind: u8, value: &[u8]) {
    match kind {
        b'Z' => out.extend(value.iter().rev()),
        b'B' => {
            let mut parts = value.split(|&b| b == b',');
            out.extend_from_slice(parts.next().unwrap_or_default());
            for number in parts.rev() {
                out.push(b',');
                out.extend_from_slice(number);
            }
        }
        _ => out.extend_from_slice(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_turned_and_back() {
        let set = |name: &str| vec![name.to_owned()];
        let directed = Directed::new(&set("Consensus"), &[set("Consensus"), set("E2")].concat()).unwrap();
        let fields = b"cd:B:s,1,-2,3\tRX:Z:ACGT\taq:Z:ab \tac:Z:AACN\tcD:i:12\tce:B:c\tE2:Z:aR";
        let turned = b"cd:B:s,3,-2,1\tRX:Z:ACGT\taq:Z: ba\tac:Z:NGTT\tcD:i:12\tce:B:c\tE2:Z:Rt";
        assert_eq!(&*directed.turned(fields), turned);
        assert_eq!(&*directed.turned(turned), fields);
        assert_eq!(&*directed.turned(b""), b"");
        assert_eq!(&*Directed::default().turned(fields), fields);
        assert_eq!(Directed::new(&set("cdx"), &[]), Err(UnknownTag("cdx".to_owned())));
    }
}
