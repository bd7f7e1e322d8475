//! What an index depends on besides the reference: it is in the name of its file, and in its description.

use crate::canonical_read_length;
use crate::options::{FILTER_FRACTION, Seeding, StrobealignOptions, StrobealignOptionsError};
use strobealign::seeding::{DEFAULT_AUX_LEN, InvalidSeedingParameter, Profile, SeedingParameters};

/// The parameters of an index.
#[derive(Debug, Clone)]
pub struct IndexParameters {
    /// The canonical length of the reads in bases; none with `-P noisy`, which is for any length.
    read_length: Option<usize>,
    pub(crate) seeding: SeedingParameters,
    /// Number of top bits of a hash that choose its bucket; by default as many as suit the reference.
    pub(crate) bits: Option<u8>,
    pub(crate) filter_fraction: f64,
}

impl IndexParameters {
    /// strobealign's own, for reads of this mean length in bases.
    pub fn of_reads(mean_read_length: usize) -> Self {
        let length = canonical_read_length(mean_read_length);
        let seeding = SeedingParameters::new(length);
        IndexParameters { read_length: Some(length), seeding, bits: None, filter_fraction: FILTER_FRACTION }
    }

    /// Those that `options` ask for, for reads of this mean length in bases.
    ///
    /// # Errors
    /// Lengths and windows that do not fit together.
    pub fn new(options: &StrobealignOptions, mean_read_length: usize) -> Result<Self, StrobealignOptionsError> {
        let Seeding { noisy, k, s, window_start, window_end, .. } = options.seeding;
        let Seeding { max_seed_length, bit_count, aux_len, bits, filter_fraction, .. } = options.seeding;
        let of_reads = Self::of_reads(mean_read_length);
        let (read_length, seeding) = match noisy {
            true => (None, SeedingParameters::noisy()),
            false => (of_reads.read_length, of_reads.seeding),
        };
        let changed = || {
            let mut seeding = seeding.with_k_s(k, s)?.with_window(window_start, window_end)?.with_aux_len(aux_len)?;
            if let Some(length) = max_seed_length {
                seeding = seeding.with_max_seed_length(length)?;
            }
            match bit_count {
                Some(bits) => seeding.with_bitcount(bits),
                None => Ok(seeding),
            }
        };
        let seeding = changed().map_err(|InvalidSeedingParameter::InvalidParameter(what)| unfit(what))?;
        Ok(IndexParameters { read_length, seeding, bits, filter_fraction })
    }

    /// The canonical length of the reads in bases; none with `-P noisy`.
    pub fn read_length(&self) -> Option<usize> {
        self.read_length
    }

    /// What goes into the name of the file: `r150`, or `r150.k22.f0.001`.
    pub(crate) fn name(&self) -> String {
        let profile = self.read_length.map_or_else(|| "noisy".to_owned(), |length| format!("r{length}"));
        let changes = self.changes().into_iter().map(|(name, value)| format!(".{}{value}", name.trim_matches('-')));
        std::iter::once(profile).chain(changes).collect()
    }

    /// The options that make such an index, as they are typed; empty for strobealign's defaults.
    pub(crate) fn words(&self) -> String {
        let noisy = self.read_length.is_none().then(|| "-P noisy".to_owned());
        // A value that begins with '-' would be taken for an option.
        let between = |value: &str| if value.starts_with('-') { '=' } else { ' ' };
        let changes = self.changes().into_iter();
        let changes = changes.map(|(name, value)| format!("{name}{}{value}", between(&value)));
        noisy.into_iter().chain(changes).collect::<Vec<_>>().join(" ")
    }

    /// What differs from the defaults of the profile, by the names of the options: two ways to ask for the same index
    /// give the same list.
    fn changes(&self) -> Vec<(&'static str, String)> {
        let IndexParameters { seeding: own, bits, filter_fraction, .. } = self;
        let default = SeedingParameters::new(own.profile);
        let (k, s) = (own.syncmer.k, own.syncmer.s);
        let (window, window_before) = (&own.randstrobe, &default.randstrobe);
        let aux_len = DEFAULT_AUX_LEN + window.partial_orientation_pos - window_before.partial_orientation_pos;
        let changed = |name, value: usize, before: usize| (value != before).then(|| (name, value.to_string()));
        [
            changed("-k", k, default.syncmer.k),
            changed("-s", s, (k + default.syncmer.s).saturating_sub(default.syncmer.k)),
            changed("-l", window.w_min, window_before.w_min),
            // strobealign takes no -l without -u.
            changed("-u", window.w_max, window_before.w_max)
                .or_else(|| (window.w_min != window_before.w_min).then(|| ("-u", window.w_max.to_string()))),
            changed("-m", k + usize::from(window.max_dist), k + furthest(own.profile, self.read_length, k)),
            changed("-c", window.q.count_ones() as usize, window_before.q.count_ones() as usize),
            changed("--aux-len", aux_len as usize, DEFAULT_AUX_LEN as usize),
            bits.map(|bits| ("-b", bits.to_string())),
            (*filter_fraction != FILTER_FRACTION).then(|| ("-f", filter_fraction.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// How many times as many seeds as by default: one of so many bases begins one.
    pub(crate) fn density(&self) -> f64 {
        const DEFAULT_STEP: f64 = 5.0;
        DEFAULT_STEP / (self.seeding.syncmer.k - self.seeding.syncmer.s + 1) as f64
    }
}

/// The most bases between two strobes, unless `-m` says otherwise (strobealign, `with_k_s`).
fn furthest(profile: Profile, read_length: Option<usize>, k: usize) -> usize {
    let changed = SeedingParameters::new(profile).with_k_s(Some(k), Some(k));
    changed.map_or(read_length.unwrap_or_default(), |seeding| usize::from(seeding.randstrobe.max_dist))
}

fn unfit(what: &str) -> StrobealignOptionsError {
    StrobealignOptionsError(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str, mean: usize) -> IndexParameters {
        IndexParameters::new(&StrobealignOptions::parse(text).unwrap(), mean).unwrap()
    }

    #[test]
    fn names_have_what_differs_from_the_defaults() {
        for (text, mean, name, words) in [
            ("", 148, "r150", ""),
            ("-A 3 -N 5", 148, "r150", ""),
            ("-k 20 -s 16 -l 5 -u 11 -c 8 --aux-len 17 -f 0.0002 -m 100", 148, "r150", ""),
            ("-k 22", 148, "r150.k22", "-k 22"),
            ("-k 22 -s 18", 148, "r150.k22", "-k 22"),
            ("-s 14", 148, "r150.s14", "-s 14"),
            ("-l 3 -u 11", 148, "r150.l3.u11", "-l 3 -u 11"),
            ("-u 20 -l 3 -k 22", 301, "r250.l3.u20", "-l 3 -u 20"),
            ("-m 60", 148, "r150.m60", "-m 60"),
            ("-k 18 -m 98", 148, "r150.k18", "-k 18"),
            ("-c 20 --aux-len 60 -b 12", 50, "r50.c20.aux-len60.b12", "-c 20 --aux-len 60 -b 12"),
            ("-f 0.01", 100, "r100.f0.01", "-f 0.01"),
            ("-P noisy", 100, "noisy", "-P noisy"),
            ("-P noisy -k 18", 1000, "noisy.k18", "-P noisy -k 18"),
        ] {
            let parameters = of(text, mean);
            assert_eq!((parameters.name(), parameters.words()), (name.to_owned(), words.to_owned()), "{text}");
            let again = of(&parameters.words(), mean);
            assert_eq!(again.seeding, parameters.seeding, "{text}");
        }
    }

    #[test]
    fn a_negative_value_can_be_typed_as_it_is_shown() {
        let words = of("-f=-1", 150).words();
        assert_eq!(words, "-f=-1");
        assert_eq!(of(&words, 150).filter_fraction, of("-f=-1", 150).filter_fraction);
    }

    proptest! {
        /// Whatever is asked for is refused, or is what the words of the index ask for again.
        #[test]
        fn words_make_the_same_index(
            values in proptest::collection::vec(proptest::option::of(0usize..40), 9),
            mean in 1usize..500,
            noisy in any::<bool>(),
        ) {
            const NAMES: [&str; 9] = ["-k", "-s", "-l", "-u", "-m", "-c", "-b", "--aux-len", "-f"];
            let given = NAMES.iter().zip(&values).filter_map(|(name, value)| Some(format!(" {name} {}", (*value)?)));
            let text: String = noisy.then(|| "-P noisy".to_owned()).into_iter().chain(given).collect();
            let wanted = StrobealignOptions::parse(&text).and_then(|options| IndexParameters::new(&options, mean));
            if let Ok(wanted) = wanted {
                let again = of(&wanted.words(), mean);
                prop_assert_eq!(again.name(), wanted.name());
                prop_assert_eq!(again.seeding, wanted.seeding);
                prop_assert_eq!((again.bits, again.filter_fraction), (wanted.bits, wanted.filter_fraction));
            }
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused_as_by_strobealign() {
        for (text, said) in [
            ("-s 17", "(k - s) must be an even number"),
            ("-s 24", "s must not be larger than k"),
            // It compares what was given, not what is meant.
            ("-l 3", "w_min is greater than w_max"),
            ("-l 9 -u 8", "w_min is greater than w_max"),
            ("-m 19", "max seed length must be between k and k + 255"),
            ("-m 276", "max seed length must be between k and k + 255"),
        ] {
            let error = IndexParameters::new(&StrobealignOptions::parse(text).unwrap(), 150).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--engine-args: {said}")), "{text}: {error}");
        }
    }
}
