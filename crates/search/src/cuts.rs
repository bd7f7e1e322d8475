//! Where a database is cut into parts.

/// The cuts of a database, in letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// Letters before each cut; they do not fall.
    cuts: Vec<u64>,
}

impl Cuts {
    /// Cuts `letters` into so many parts of equal letters.
    pub(crate) fn equal(letters: u64, parts: usize) -> Self {
        let cut = |part| (u128::from(letters) * part as u128 / parts as u128) as u64;
        Cuts { cuts: (1..parts).map(cut).collect() }
    }

    /// How many parts they make.
    pub(crate) fn parts(&self) -> usize {
        self.cuts.len() + 1
    }

    /// In which part a sequence goes that has so many letters `before` it: where its middle is.
    pub(crate) fn part_of(&self, before: u64, letters: u64) -> usize {
        let middle = 2 * u128::from(before) + u128::from(letters);
        self.cuts.partition_point(|&cut| 2 * u128::from(cut) <= middle)
    }
}

/// What it costs to search a database, as far as its parts tell: within a part, every letter costs the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Costs {
    /// Letters and cost of each part, all above 0.
    parts: Vec<(u64, f64)>,
}

impl Costs {
    /// Of parts with so many letters each, and what these cost.
    pub(crate) fn new(parts: Vec<(u64, f64)>) -> Self {
        Costs { parts }
    }

    /// The cost of the first `letters`.
    fn before(&self, letters: u64) -> f64 {
        let (mut left, mut cost) = (letters, 0.0);
        for &(letters, of_part) in &self.parts {
            let here = left.min(letters);
            cost += of_part * here as f64 / letters as f64;
            left -= here;
        }
        cost
    }

    /// How many letters cost so much.
    fn letters(&self, cost: f64) -> u64 {
        let (mut left, mut all) = (cost, 0);
        for &(letters, of_part) in &self.parts {
            if left < of_part {
                return all + (letters as f64 * left / of_part) as u64;
            }
            left -= of_part;
            all += letters;
        }
        all
    }

    /// The cuts that make parts of equal cost.
    pub(crate) fn cuts(&self, parts: usize) -> Cuts {
        let whole: f64 = self.parts.iter().map(|(_, cost)| cost).sum();
        Cuts { cuts: (1..parts).map(|part| self.letters(whole * part as f64 / parts as f64)).collect() }
    }

    /// What parts with so many letters each cost.
    pub(crate) fn of(&self, parts: impl IntoIterator<Item = u64>) -> Vec<f64> {
        let mut before = 0;
        let cost = |letters| {
            let start = before;
            before += letters;
            self.before(before) - self.before(start)
        };
        parts.into_iter().map(cost).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Letters of the parts that sequences of these lengths make.
    fn lettered(cuts: &Cuts, lengths: &[u64]) -> Vec<u64> {
        let (mut before, mut letters, mut last) = (0, vec![0; cuts.parts()], 0);
        for &length in lengths {
            let part = cuts.part_of(before, length);
            assert!((last..cuts.parts()).contains(&part), "parts are runs");
            letters[part] += length;
            (before, last) = (before + length, part);
        }
        letters
    }

    proptest! {
        #[test]
        fn equal_parts_are_runs_of_nearly_equal_letters(
            lengths in prop::collection::vec(1u64..100, 1..200),
            parts in 1usize..9,
        ) {
            let whole: u64 = lengths.iter().sum();
            let longest = lengths.iter().max().unwrap();
            for some in lettered(&Cuts::equal(whole, parts), &lengths) {
                prop_assert!(some.abs_diff(whole / parts as u64) <= longest + 1);
            }
        }

        /// A letter costs what its place says; parts of equal letters are measured, and the cuts moved.
        #[test]
        fn moved_cuts_make_known_costs_equal(
            lengths in prop::collection::vec(1u64..100, 100..300),
            density in prop::collection::vec(0.1f64..10.0, 1..9),
        ) {
            let parts = density.len();
            let whole: u64 = lengths.iter().sum();
            let letters = lettered(&Cuts::equal(whole, parts), &lengths);
            let measured = letters.iter().zip(&density).map(|(&letters, density)| (letters, letters as f64 * density));
            let costs = Costs::new(measured.collect());
            let moved = lettered(&costs.cuts(parts), &lengths);
            prop_assert_eq!(moved.iter().sum::<u64>(), whole);
            let predicted = costs.of(moved.iter().copied());
            let dearest = density.iter().fold(0.0, |most: f64, &some| most.max(some));
            // A cut is off by half of the longest sequence at most, at both ends of a part, and by rounding.
            let slack = dearest * (*lengths.iter().max().unwrap() as f64 + 2.0);
            // The truth, letter by letter.
            let mut place = 0..whole;
            let of_letter = |letter: u64| {
                let mut end = 0;
                let part = letters.iter().position(|letters| { end += letters; letter < end });
                density[part.unwrap()]
            };
            let mut of_part = |letters: u64| place.by_ref().take(letters as usize).map(of_letter).sum::<f64>();
            let truth: Vec<f64> = moved.iter().map(|&letters| of_part(letters)).collect();
            let mean = truth.iter().sum::<f64>() / parts as f64;
            for (truth, predicted) in truth.iter().zip(&predicted) {
                prop_assert!((truth - predicted).abs() < 1e-6 * mean, "{truth} {predicted}");
                prop_assert!((truth - mean).abs() <= slack, "{truth} {mean}");
            }
        }
    }

    #[test]
    fn equal_costs_leave_the_cuts_where_they_are() {
        let costs = Costs::new(vec![(100, 2.0), (100, 2.0), (100, 2.0), (100, 2.0)]);
        assert_eq!(costs.cuts(4), Cuts::equal(400, 4));
        // The last quarter of the letters takes half of the time.
        let costs = Costs::new(vec![(100, 1.0), (100, 1.0), (100, 1.0), (100, 3.0)]);
        assert_eq!(costs.cuts(2), Cuts { cuts: vec![300] });
    }
}
