//! What minimap2 refuses of its options (`mm_check_opt` of options.c), and what rammap cannot do.

use super::{RammapOptions, RammapOptionsError};
use rammap::align::map::{AlignFlags, MapOptions};
use zerohop_model::index::Product;

/// Largest sum of the costs of opening and extending gaps: the kernels count in 8 bits.
const MOST_OF_GAPS: i64 = 127;
/// Largest k-mer and window that rammap can hold.
const MOST_K: usize = 28;
const MOST_W: usize = 255;
/// Most bases of a gap or a band: rammap adds and doubles them in 32 bits.
const MOST_BASES: i32 = 1 << 28;

impl RammapOptions {
    /// Refuses options that contradict each other, or are out of range.
    pub(super) fn check(&self) -> Result<(), RammapOptionsError> {
        let MapOptions { chaining, scoring, alignment, filtering, flags, seeding, .. } = &self.map;
        let (k, w) = (self.index.k, self.index.w);
        let is_paf = self.product == Product::Paf;
        let [open, extend, open2, extend2] =
            [scoring.gap_open, scoring.gap_extend, scoring.gap_open2, scoring.gap_extend2].map(i64::from);
        let has = |flag| flags.contains(flag);
        let is_dual = (open, extend) != (open2, extend2);
        let is_size = |bases: i32| (0..=MOST_BASES).contains(&bases);
        let wrong = [
            (!(1..=MOST_K).contains(&k), format!("-k {k} is out of range: it must be 1 to {MOST_K}")),
            (!(1..=MOST_W).contains(&w), format!("-w {w} is out of range: it must be 1 to {MOST_W}")),
            (
                chaining.bandwidth > chaining.bandwidth_long,
                "-r: the first number must not be larger than the second".to_owned(),
            ),
            (
                ![chaining.max_gap, chaining.bandwidth, chaining.bandwidth_long].into_iter().all(is_size)
                    || chaining.max_gap_ref > MOST_BASES,
                format!("-g, -G and -r must be 0 to {MOST_BASES}"),
            ),
            (alignment.zdrop_inv < 0, "-z must be 0 or more".to_owned()),
            (chaining.max_chain_skip < 1, "--max-chain-skip must be 1 or more".to_owned()),
            (chaining.max_chain_iter < 0, "--max-chain-iter must be 0 or more".to_owned()),
            (
                filtering.pri_ratio == 0.0,
                "-p 0 cannot be had here: give a number above 0, such as -p 0.01, and -N for more alignments"
                    .to_owned(),
            ),
            (
                !is_dual,
                "-O and -E: two different costs must be given of each, as in -O 4,24 -E 2,1: with one of each the \
                 library finds other alignments than minimap2"
                    .to_owned(),
            ),
            (self.shown.ds && self.shown.cs == Some(true), "--ds and --cs=long exclude each other here".to_owned()),
            (
                has(AlignFlags::RMQ_CHAIN) && has(AlignFlags::SPLICE),
                "--rmq does not go with spliced alignment".to_owned(),
            ),
            (filtering.best_n < 0, "-N must be 0 or more".to_owned()),
            (!(0.0..=1.0).contains(&filtering.pri_ratio), "-p must be 0 to 1".to_owned()),
            (
                has(AlignFlags::FOR_ONLY) && has(AlignFlags::REV_ONLY),
                "--for-only and --rev-only exclude each other".to_owned(),
            ),
            (open <= 0 || extend <= 0, "-O and -E must be above 0".to_owned()),
            (
                is_dual && !(extend > extend2 && open + extend < open2 + extend2),
                "-O and -E: of two costs, the second must open for more and extend for less".to_owned(),
            ),
            (
                open + extend + open2 + extend2 > MOST_OF_GAPS,
                format!("-O and -E: the sum of all costs must not be above {MOST_OF_GAPS}"),
            ),
            (
                scoring.ambig_penalty < 0 || scoring.ambig_penalty >= scoring.mismatch_penalty,
                format!("-B must be above --score-N, which is {}, and that 0 or more", scoring.ambig_penalty),
            ),
            (
                ![scoring.match_score, scoring.mismatch_penalty].iter().all(|score| (1..=127).contains(score)),
                "-A and -B must be 1 to 127".to_owned(),
            ),
            (
                alignment.zdrop < alignment.zdrop_inv,
                "-z: the first number must not be smaller than the second".to_owned(),
            ),
            (
                seeding.min_mid_occ > seeding.max_mid_occ,
                "-U: the first number must not be larger than the second".to_owned(),
            ),
            (
                self.shown.no_secondary && has(AlignFlags::ALL_CHAINS),
                "-P and --secondary=no exclude each other".to_owned(),
            ),
            (
                !is_paf && has(AlignFlags::ALL_CHAINS),
                "-P is for PAF (-c, --paf): records need one alignment of each read that is primary".to_owned(),
            ),
            (
                has(AlignFlags::QSTRAND) && (!is_paf || has(AlignFlags::SPLICE) || self.index.homopolymers),
                "--qstrand is for PAF (-c, --paf), and goes neither with -H nor with spliced alignment".to_owned(),
            ),
            (
                is_paf && !self.shown.cigar && (self.shown.md || self.shown.ds),
                "--MD and --ds need a CIGAR: give -c, too".to_owned(),
            ),
            (
                self.files.scores.is_some() && self.files.junctions.is_some(),
                "--spsc and --junc-bed exclude each other".to_owned(),
            ),
        ];
        match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, what)) => Err(RammapOptionsError(what)),
            None => Ok(()),
        }
    }
}
