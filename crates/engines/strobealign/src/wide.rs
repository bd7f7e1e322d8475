//! Code that is compiled for several sets of instructions: the plainest one of the architecture, and those with wider
//! registers and a count of bits. The best one that the machine has is chosen at run time; results are the same.
#![allow(unsafe_code)]

use crate::seeds::{Scratch, Seeds};
use strobealign::seeding::SeedingParameters;

/// A set of instructions that this machine has: only [`Instructions::all`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instructions(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Default for Instructions {
    /// The best one.
    fn default() -> Self {
        Instructions::all().last().unwrap_or(Instructions(Set::Plain))
    }
}

impl Instructions {
    /// Those that this machine has, the best one last.
    pub(crate) fn all() -> impl Iterator<Item = Instructions> {
        let plain = std::iter::once(Set::Plain);
        #[cfg(target_arch = "x86_64")]
        let all = {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            plain.chain(avx2.then_some(Set::Avx2)).chain(avx512.then_some(Set::Avx512))
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = plain;
        all.map(Instructions)
    }

    /// [`Scratch::seed`].
    #[inline]
    pub(crate) fn seed(
        self,
        scratch: &mut Scratch,
        read: &[u8],
        parameters: &SeedingParameters,
        seeds: &mut Seeds,
        on_strobe: impl FnMut(u64),
    ) {
        match self.0 {
            Set::Plain => scratch.seed(read, parameters, seeds, on_strobe),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: there is a value of this set only where the machine has all its instructions (`all`).
            Set::Avx2 => unsafe { seed_avx2(scratch, read, parameters, seeds, on_strobe) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Set::Avx512 => unsafe { seed_avx512(scratch, read, parameters, seeds, on_strobe) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn seed_avx2(
    scratch: &mut Scratch,
    read: &[u8],
    parameters: &SeedingParameters,
    seeds: &mut Seeds,
    on_strobe: impl FnMut(u64),
) {
    scratch.seed(read, parameters, seeds, on_strobe);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512dq,avx512vl")]
fn seed_avx512(
    scratch: &mut Scratch,
    read: &[u8],
    parameters: &SeedingParameters,
    seeds: &mut Seeds,
    on_strobe: impl FnMut(u64),
) {
    scratch.seed(read, parameters, seeds, on_strobe);
}
