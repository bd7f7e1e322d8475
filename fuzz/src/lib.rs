//! What the fuzz targets share: inputs as files without a name, writers of compressed data, dealing a lane to the end,
//! and the naive parsers that it is held against.
//!
//! A target fails by panicking, so what cannot fail here is unwrapped. [`target`] makes it a fuzz target where
//! cargo-fuzz compiles it, and else a program that runs its seeds: `cargo run -p zerohop-fuzz --bin reads`.

pub mod coding;
pub mod dealing;
pub mod files;
pub mod naive;
pub mod naive_bam;

use std::path::{Path, PathBuf};

/// A target: what is done with the bytes of an input. It fails by panicking.
#[macro_export]
macro_rules! target {
    (|$data:ident: &[u8]| $body:block) => {
        fn check($data: &[u8]) $body

        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| check(data));

        #[cfg(not(fuzzing))]
        fn main() {
            zerohop_fuzz::run_seeds(env!("CARGO_BIN_NAME"), check);
        }
    };
}

/// Runs the seeds of a target, which lie in `seeds/NAME`.
///
/// # Panics
/// When the target does, after the name of the seed; or without seeds.
pub fn run_seeds(name: &str, check: fn(&[u8])) {
    struct Seed(PathBuf);
    impl Drop for Seed {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("with {}", self.0.display());
            }
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let mut seeds: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{name} has no seeds");
    for seed in &seeds {
        let bytes = std::fs::read(seed).unwrap();
        let _seed = Seed(seed.clone());
        check(&bytes);
    }
    println!("{name}: {} seeds", seeds.len());
}

/// A random number generator that anyone can check (xorshift64).
pub struct Random(u64);

impl Random {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Random(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Whether a text may be taken for SAM or CRAM, which the naive parser of FASTQ knows nothing of.
pub fn may_be_sam(text: &[u8]) -> bool {
    let first_line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let tabs = first_line.iter().filter(|&&b| b == b'\t').count();
    match text {
        [b'@', b'H' | b'S' | b'R' | b'P' | b'C', b'D' | b'Q' | b'G' | b'O', b'\t', ..] => true,
        [b'@', ..] => false,
        _ => tabs >= 9 || text.starts_with(b"CRAM"),
    }
}

/// Takes `N` bytes from the start of an input; those that are missing are zero.
pub fn take<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    let (head, rest) = data.split_at(N.min(data.len()));
    *data = rest;
    let mut out = [0; N];
    out[..head.len()].copy_from_slice(head);
    out
}
