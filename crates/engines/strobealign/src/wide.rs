//! Code that is compiled for several sets of instructions: the plainest one of the architecture, and those with wider
//! registers and a count of bits. The best one that the machine has is chosen at run time; results are the same.
#![allow(unsafe_code)]

use crate::seeds::{Seeder, Seeds};
use strobealign::seeding::SeedingParameters;

/// Makes seeds as [`Seeder`] does, in less time.
#[derive(Debug, Default)]
pub(crate) struct WideSeeder {
    instructions: Instructions,
    seeder: Seeder,
}

/// A set of instructions that this machine has: only [`Instructions::all`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Instructions(InstructionSet);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InstructionSet {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Default for Instructions {
    /// The best set that the processor has.
    fn default() -> Self {
        Instructions::all().last().unwrap_or(Instructions(InstructionSet::Plain))
    }
}

impl Instructions {
    /// Those that this machine has, the best one last.
    fn all() -> impl Iterator<Item = Instructions> {
        let plain = std::iter::once(InstructionSet::Plain);
        #[cfg(target_arch = "x86_64")]
        let all = {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            plain.chain(avx2.then_some(InstructionSet::Avx2)).chain(avx512.then_some(InstructionSet::Avx512))
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = plain;
        all.map(Instructions)
    }
}

impl WideSeeder {
    /// [`Seeder::seed`].
    #[inline]
    pub(crate) fn seed(
        &mut self,
        read: &[u8],
        parameters: &SeedingParameters,
        seeds: &mut Seeds,
        on_strobe: impl FnMut(u64),
    ) {
        let seeder = &mut self.seeder;
        match self.instructions.0 {
            InstructionSet::Plain => seeder.seed(read, parameters, seeds, on_strobe),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: there is a value of this set only where the machine has all its instructions (`all`).
            InstructionSet::Avx2 => unsafe { seed_avx2(seeder, read, parameters, seeds, on_strobe) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            InstructionSet::Avx512 => unsafe { seed_avx512(seeder, read, parameters, seeds, on_strobe) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn seed_avx2(
    seeder: &mut Seeder,
    read: &[u8],
    parameters: &SeedingParameters,
    seeds: &mut Seeds,
    on_strobe: impl FnMut(u64),
) {
    seeder.seed(read, parameters, seeds, on_strobe);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512dq,avx512bw,avx512vl")]
fn seed_avx512(
    seeder: &mut Seeder,
    read: &[u8],
    parameters: &SeedingParameters,
    seeds: &mut Seeds,
    on_strobe: impl FnMut(u64),
) {
    seeder.seed(read, parameters, seeds, on_strobe);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_gives_the_same_seeds() {
        let mut random = fastrand::Rng::with_seed(3);
        for length in [0, 19, 20, 75, 150, 151, 1000] {
            let read: Vec<u8> = (0..length).map(|_| b"ACGTACGTACGTACGTN"[random.usize(..17)]).collect();
            for parameters in [100, 150, 400].map(SeedingParameters::new) {
                let seeds_of = |instructions| {
                    let (mut seeds, mut told) = (Seeds::default(), Vec::new());
                    let mut seeder = WideSeeder { instructions, ..WideSeeder::default() };
                    seeder.seed(&read, &parameters, &mut seeds, |hash| told.push(hash));
                    format!("{seeds:?} {told:?}")
                };
                let plain = seeds_of(Instructions(InstructionSet::Plain));
                assert!(Instructions::all().all(|instructions| seeds_of(instructions) == plain));
            }
        }
    }
}
