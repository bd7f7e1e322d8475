//! Qualities drawn as Picard draws them (picard.analysis.TheoreticalSensitivity.RouletteWheel).
//!
//! java.util.Random is a linear congruential generator. An attempt takes four of its steps, whatever comes of it: two
//! say which quality is met, the other two whether it is taken. So attempts do not wait for each other: some of them
//! are made at a time, and most are dismissed by the first of either two steps ([`Limits`]). The others are looked at
//! exactly, in their order.

/// After so many attempts a quality of 0 is taken.
const MOST_ATTEMPTS: u64 = 600;
const SEED: u64 = 51;

/// java.util.Random.
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const STATE_BITS: u32 = 48;
const MASK: u64 = (1 << STATE_BITS) - 1;
/// What a first step gives.
const FIRST_BITS: u32 = 26;
const FIRST_MASK: u64 = (1 << FIRST_BITS) - 1;

/// Attempts that are made side by side, and how often, before those are looked at that may be hits.
const SIDE_BY_SIDE: usize = 4;
const TURNS: usize = 63;
const AT_A_TIME: usize = SIDE_BY_SIDE * TURNS;

/// States are held in the high bits here: what is over falls off by itself.
const HELD: u32 = u64::BITS - STATE_BITS;
const OF_ATTEMPT: Jump = Jump::over(4);
const OF_TURN: Jump = Jump::over(4 * SIDE_BY_SIDE).held();
const TO_THIRD_STEP: Jump = Jump::over(2).held();
/// To each attempt of those that are made at a time.
const TO_ATTEMPT: [Jump; AT_A_TIME] = {
    let mut jumps = [Jump::over(0); AT_A_TIME];
    let mut at = 1;
    while at < AT_A_TIME {
        jumps[at] = jumps[at - 1].then(OF_ATTEMPT);
        at += 1;
    }
    jumps
};

/// Draws qualities.
pub(super) struct Wheel {
    /// Of each quality, how likely it is taken once it is met.
    taken: Vec<f64>,
    limits: Limits,
    /// The state before the attempt `made`.
    random: u64,
    /// How many attempts are made, and how many of them are used up.
    made: u64,
    used: u64,
    /// Those that took a quality, the next one last.
    hits: Vec<Hit>,
}

/// An attempt that took a quality.
#[derive(Debug, Clone, Copy)]
struct Hit {
    attempt: u64,
    quality: usize,
}

impl Wheel {
    pub(super) fn new(taken: Vec<f64>) -> Self {
        let (limits, random) = (Limits::new(&taken), (SEED ^ MULTIPLIER) & MASK);
        Wheel { taken, limits, random, made: 0, used: 0, hits: Vec::with_capacity(AT_A_TIME) }
    }

    #[inline]
    pub(super) fn draw(&mut self) -> usize {
        let limit = self.used + MOST_ATTEMPTS;
        loop {
            match self.hits.last() {
                Some(Hit { attempt, quality }) if *attempt < limit => {
                    let quality = *quality;
                    self.used = attempt + 1;
                    self.hits.pop();
                    return quality;
                }
                None if self.made < limit => self.make(),
                _ => {
                    self.used = limit;
                    return 0;
                }
            }
        }
    }

    /// Makes the next attempts.
    fn make(&mut self) {
        let (candidates, count) = self.limits.candidates(self.random);
        for &at in candidates[..usize::from(count)].iter().rev() {
            let state = TO_ATTEMPT[usize::from(at)].from(self.random);
            let quality = met(state, self.taken.len());
            if double(step(step(state))) < self.taken[quality] {
                self.hits.push(Hit { attempt: self.made + u64::from(at), quality });
            }
        }
        self.random = OF_ATTEMPT.from(TO_ATTEMPT[AT_A_TIME - 1].from(self.random));
        self.made += AT_A_TIME as u64;
    }
}

/// How many bits of the first step say which limit an attempt has.
const BIN_BITS: u32 = 11;
const BINS: usize = 1 << BIN_BITS;

/// Up to which state behind its third step an attempt may take a quality, by what its first step gives: no limit is too
/// low, and most are right. They are as states are held.
struct Limits(Box<[u64; BINS]>);

impl Limits {
    fn new(taken: &[f64]) -> Self {
        let limit = |taken: &f64| {
            let steps = (taken * (1u64 << FIRST_BITS) as f64).ceil() as u64;
            steps.saturating_mul(1 << (u64::BITS - FIRST_BITS))
        };
        let limits: Vec<u64> = taken.iter().map(limit).collect();
        // A number that is nearly the first one of the next bin may be rounded to that.
        let quality = |bin: usize| bin * taken.len() / BINS;
        let of_bin = |bin: usize| limits.iter().take(quality(bin + 1) + 1).skip(quality(bin)).copied().max();
        let mut bins = Box::new([0; BINS]);
        bins.iter_mut().enumerate().for_each(|(bin, limit)| *limit = of_bin(bin).unwrap_or(0));
        Limits(bins)
    }

    /// Which of the attempts from this state on may take a quality, ascending, and how many they are.
    #[inline]
    fn candidates(&self, state: u64) -> ([u8; 256], u8) {
        let (mut candidates, mut count) = ([0; 256], 0u8);
        let mut states: [u64; SIDE_BY_SIDE] = std::array::from_fn(|at| step(TO_ATTEMPT[at].from(state)) << HELD);
        for turn in 0..TURNS {
            for (at, state) in states.iter_mut().enumerate() {
                let limit = self.0[(*state >> (u64::BITS - BIN_BITS)) as usize];
                candidates[usize::from(count)] = (SIDE_BY_SIDE * turn + at) as u8;
                count += u8::from(TO_THIRD_STEP.of_held(*state) < limit);
                *state = OF_TURN.of_held(*state);
            }
        }
        (candidates, count)
    }
}

/// Some steps at once.
#[derive(Debug, Clone, Copy)]
struct Jump {
    multiplier: u64,
    increment: u64,
}

impl Jump {
    const fn over(steps: usize) -> Self {
        let (mut jump, mut step) = (Jump { multiplier: 1, increment: 0 }, 0);
        while step < steps {
            jump = jump.then(Jump { multiplier: MULTIPLIER, increment: INCREMENT });
            step += 1;
        }
        jump
    }

    /// This one, and another one behind it.
    const fn then(self, next: Self) -> Self {
        Jump {
            multiplier: self.multiplier.wrapping_mul(next.multiplier),
            increment: self.increment.wrapping_mul(next.multiplier).wrapping_add(next.increment),
        }
    }

    /// For states that are held in the high bits.
    const fn held(self) -> Self {
        Jump { increment: self.increment << HELD, ..self }
    }

    #[inline]
    fn from(self, state: u64) -> u64 {
        self.of_held(state) & MASK
    }

    #[inline]
    fn of_held(self, state: u64) -> u64 {
        state.wrapping_mul(self.multiplier).wrapping_add(self.increment)
    }
}

/// Which of so many qualities two steps meet: that many of the number that they give.
#[inline]
fn met(state: u64, qualities: usize) -> usize {
    let many = qualities as u64;
    // The first step decides, but next to the bound of the next quality.
    let product = (step(state) >> (STATE_BITS - FIRST_BITS)) * many;
    match product & FIRST_MASK < FIRST_MASK - many {
        true => (product >> FIRST_BITS) as usize,
        false => (many as f64 * double(state)) as usize,
    }
}

fn step(state: u64) -> u64 {
    state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK
}

/// The number that two steps give (java.util.Random.nextDouble).
fn double(state: u64) -> f64 {
    let (high, low) = (step(state), step(step(state)));
    (((high >> 22) << 27) + (low >> 21)) as f64 * (0.5f64).powi(53)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Draws as Picard does: attempt by attempt, with both numbers of each.
    struct Naive {
        taken: Vec<f64>,
        random: u64,
    }

    impl Naive {
        fn next_double(&mut self) -> f64 {
            let double = double(self.random);
            self.random = step(step(self.random));
            double
        }

        fn draw(&mut self) -> usize {
            for _ in 0..MOST_ATTEMPTS {
                let quality = (self.taken.len() as f64 * self.next_double()) as usize;
                if self.next_double() < self.taken[quality] {
                    return quality;
                }
            }
            0
        }
    }

    fn begin() -> u64 {
        (SEED ^ MULTIPLIER) & MASK
    }

    #[test]
    fn numbers_are_those_of_java() {
        let mut state = begin();
        for wanted in [0.7296240607935824, 0.7837023678833833, 0.19187875415120714] {
            assert_eq!(double(state), wanted);
            state = step(step(state));
        }
        for _ in 0..100_000 {
            assert_eq!(met(state, 127), (127.0 * double(state)) as usize);
            state = step(state);
        }
        let after = (0..4 * 7 + 2).fold(77, |state, _| step(state));
        let held = TO_ATTEMPT[7].from(77) << HELD;
        assert_eq!(after, TO_THIRD_STEP.of_held(held) >> HELD);
        let turns = (0..4 * SIDE_BY_SIDE).fold(after, |state, _| step(state));
        assert_eq!(OF_TURN.of_held(after << HELD), turns << HELD);
    }

    fn check(taken: Vec<f64>, draws: usize) {
        let (mut wheel, mut naive) = (Wheel::new(taken.clone()), Naive { taken, random: begin() });
        for draw in 0..draws {
            assert_eq!(wheel.draw(), naive.draw(), "draw {draw} of {:?}", naive.taken);
        }
    }

    #[test]
    fn what_is_seldom_met_is_given_up() {
        let with = |quality: usize, taken: f64| {
            let mut all = vec![0.0; 127];
            all[quality] = taken;
            all
        };
        for quality in [0, 1, 2, 37, 63, 64, 125, 126] {
            check(with(quality, 1.0), 20_000);
            check(with(quality, 0.03), 500);
        }
        check(vec![0.0; 127], 100);
        check(vec![1.0; 127], 20_000);
        check(vec![1.0], 1000);
        check(vec![1e-3, 1.0, 0.25], 20_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn draws_are_those_of_picard(
            taken in prop::collection::vec(
                prop_oneof![4 => Just(0.0), 1 => Just(1.0), 2 => 0.0..1.0, 1 => 0.0..1e-6],
                1..200,
            ),
            draws in 1..6000usize,
        ) {
            check(taken, draws);
        }
    }
}
