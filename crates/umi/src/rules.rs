//! By which rules templates belong to one molecule (fgbio 4.1, umi/GroupReadsByUmi.scala).

use serde::{Deserialize, Serialize};

/// How UMIs of one place are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// Equal UMIs are one molecule (fgbio: identity).
    Exact,
    /// UMIs that differ at few positions are one molecule, and so are all that such steps join (single linkage).
    Edit,
    /// As [`Strategy::Edit`], but a step goes only from a UMI of n templates to one of n / 2 + 1, rounded down, at
    /// most. The UMI with most templates comes first; of equal ones, that whose letters come first.
    Adjacency,
    /// As [`Strategy::Adjacency`], with a UMI from each end of the molecule: `ACGT-TTGA` of one strand is `TTGA-ACGT`
    /// of the other. One half may be missing, as in `ACGT-`.
    Paired,
}

impl Strategy {
    /// Whether templates of one place, whose reads lie on different strands, are different molecules. If so, a place is
    /// divided by the strand of the first read and that of the second before its UMIs are compared, where an unmapped
    /// or missing read counts as forward (fgbio: `splitTemplatesByPairOrientation`).
    pub fn splits_by_strands(self) -> bool {
        self != Self::Paired
    }
}

/// A strategy, and at how many positions UMIs may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    strategy: Strategy,
    edits: u8,
    /// The least number of bases of a UMI, where UMIs may differ in length.
    #[serde(default)]
    least_bases: Option<u8>,
}

impl Rules {
    /// `edits` is 1 where nothing is said, and 0 for [`Strategy::Exact`].
    ///
    /// # Errors
    ///
    /// [`Strategy::Exact`] takes no edits but 0, as in fgbio.
    pub fn new(strategy: Strategy, edits: Option<u8>) -> Result<Self, ExactWithEdits> {
        match (strategy, edits) {
            (Strategy::Exact, Some(edits @ 1..)) => Err(ExactWithEdits { edits }),
            (Strategy::Exact, _) => Ok(Rules { strategy, edits: 0, least_bases: None }),
            (_, edits) => Ok(Rules { strategy, edits: edits.unwrap_or(1), least_bases: None }),
        }
    }

    /// The same for UMIs of different lengths, of `bases` at least: of a place all are compared as far as the shortest
    /// goes, without hyphens (`--min-umi-length` of fgbio and fgumi). Where UMIs must be equal these are the places of
    /// UMIs whose first bases are, `bases` of them, as fgumi 0.9.0 has it.
    ///
    /// # Errors
    ///
    /// [`Strategy::Paired`], whose UMIs have two halves; no bases.
    pub fn with_least_bases(self, bases: u8) -> Result<Self, LeastBases> {
        match (self.strategy, bases) {
            (Strategy::Paired, _) => Err(LeastBases::Paired),
            (_, 0) => Err(LeastBases::None),
            (..) => Ok(Rules { least_bases: Some(bases), ..self }),
        }
    }

    /// The least number of bases of a UMI, where UMIs may differ in length.
    pub fn least_bases(self) -> Option<u8> {
        self.least_bases
    }

    /// Whether a UMI has fewer bases than it must.
    pub fn is_too_short(self, umi: &[u8]) -> bool {
        let bases = || umi.iter().filter(|letter| is_base(**letter)).count();
        self.least_bases.is_some_and(|least| bases() < usize::from(least))
    }

    /// How UMIs are compared.
    pub fn strategy(self) -> Strategy {
        self.strategy
    }

    /// At how many positions UMIs may differ.
    pub fn edits(self) -> u8 {
        self.edits
    }

    /// How many templates a UMI may have at most, to which a step goes from one of `count`.
    pub(crate) fn limit(self, count: u32) -> u32 {
        match self.strategy {
            Strategy::Exact | Strategy::Edit => u32::MAX,
            Strategy::Adjacency | Strategy::Paired => count / 2 + 1,
        }
    }
}

/// A least number of bases that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LeastBases {
    /// For paired UMIs.
    #[error("paired UMIs need one length, for they have two halves; choose another strategy")]
    Paired,
    /// Of no bases.
    #[error("a UMI has at least one base")]
    None,
}

/// Whether a letter of a UMI stands for a base, called or not, and is none of the hyphens between its parts.
pub(crate) fn is_base(letter: u8) -> bool {
    matches!(letter.to_ascii_uppercase(), b'A' | b'C' | b'G' | b'T' | b'N')
}

/// Edits for a strategy that takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("UMIs that must be equal cannot have {edits} edits; choose the strategy edit, adjacency or paired, or 0 edits")]
pub struct ExactWithEdits {
    /// Edits that were asked for.
    pub edits: u8,
}

/// Whether a UMI has a base that was not called: N, or n. fgbio drops its template before it groups the others
/// (`discarded_ns_in_umi`); it looks for N alone, fgumi 0.9.0 for both.
pub fn has_no_call(umi: &[u8]) -> bool {
    umi.iter().any(|letter| matches!(letter, b'N' | b'n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_takes_no_edits() {
        assert_eq!(Rules::new(Strategy::Exact, None).unwrap().edits(), 0);
        assert_eq!(Rules::new(Strategy::Exact, Some(0)).unwrap().edits(), 0);
        assert_eq!(Rules::new(Strategy::Exact, Some(1)), Err(ExactWithEdits { edits: 1 }));
        assert_eq!(Rules::new(Strategy::Paired, None).unwrap().edits(), 1);
        assert_eq!(Rules::new(Strategy::Edit, Some(0)).unwrap().edits(), 0);
    }

    #[test]
    fn umis_may_have_a_least_length() {
        let rules = Rules::new(Strategy::Adjacency, None).unwrap();
        assert!(!rules.is_too_short(b""));
        let rules = rules.with_least_bases(4).unwrap();
        assert!(rules.is_too_short(b"AC-T") && !rules.is_too_short(b"ac-gt"));
        assert_eq!(rules.with_least_bases(0), Err(LeastBases::None));
        assert_eq!(Rules::new(Strategy::Paired, None).unwrap().with_least_bases(4), Err(LeastBases::Paired));
    }

    #[test]
    fn steps_go_to_half_the_templates_and_one() {
        let rules = Rules::new(Strategy::Adjacency, None).unwrap();
        assert_eq!([1, 2, 3, 4, 5, 100].map(|count| rules.limit(count)), [1, 2, 2, 3, 3, 51]);
    }

    #[test]
    fn bases_that_were_not_called_are_found() {
        assert!(has_no_call(b"ACNT") && has_no_call(b"acgt-nnnn"));
        assert!(!has_no_call(b"ACGT-TTTT") && !has_no_call(b""));
    }
}
