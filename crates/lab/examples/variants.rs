//! The exchange over real MPI ranks in every variant, with made-up results: started by tests/e2e/96-search.sh and
//! tests/hosts/10-search.sh with mpirun.
//!
//!     mpirun -n 4 variants LIBRARY OUTPUT-FOLDER
//!
//! Every variant writes a file; rank 0 compares each with what sorting all results gives.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../ranks/tests/made_up/mod.rs"]
mod made_up;

use made_up::{Job, expected};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use zerohop_lab::exchange::{self, Settings, Variant};
use zerohop_ranks::exchange::Output;
use zerohop_ranks::{Mpi, Transport};

struct File(std::fs::File);

impl Output for File {
    fn write(&mut self, _: u64, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mpi = Mpi::join(Path::new(&words[1]), Duration::from_secs(60), |error| eprintln!("{error}")).unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| all_variants(&mpi, Path::new(&words[2]))));
    if outcome.is_err() {
        mpi.abort(1);
    }
    mpi.leave().unwrap();
}

fn all_variants(mpi: &Mpi, folder: &Path) {
    for variant in Variant::ALL {
        for (seed, rooms) in [(1, (1 << 20, 1 << 20)), (3, (8 + 2 * 32, 50))] {
            let job = Job { seed, batches: 9, ranks: mpi.size(), most: 3 };
            let path = folder.join(format!("{variant}-{seed}"));
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).unwrap();
            let mut number = 0;
            let mut next = || {
                number += 1;
                Ok((number <= job.batches).then(|| job.batch(mpi.rank(), number - 1)))
            };
            let settings = Settings { record_room: rooms.0, result_room: rooms.1, ..Settings::new(variant, job.most) };
            exchange::run(mpi, settings, (0, 0), &mut next, &mut File(file)).unwrap();
            mpi.barrier().unwrap();
            if mpi.rank() == 0 {
                assert!(std::fs::read(&path).unwrap() == expected(job), "{variant}, seed {seed}: another output");
                println!("{}: {variant}, {} ranks, seed {seed}: as it should be", mpi.name(), mpi.size());
            }
        }
    }
}
