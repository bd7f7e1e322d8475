//! The exchange over real MPI ranks, with made-up results: started by tests/mpi with mpirun.
//!
//!     mpirun -n 4 ranks LIBRARY OUTPUT-FOLDER
//!
//! Every variant writes a file; rank 0 compares each with what sorting all results gives.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/made_up/mod.rs"]
mod made_up;

use made_up::{Job, expected};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use zerohop_ranks::exchange::{self, Output};
use zerohop_ranks::{Mpi, Reach, Settings, Transport, Variant};

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
    counter(mpi);
    assert!(mpi.all_gather(&[]).unwrap().iter().all(Vec::is_empty), "nothing was given");
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

/// Every number is given out once.
fn counter(mpi: &Mpi) {
    let window = mpi.window(8, Reach::Passive).unwrap();
    let mine: Vec<u8> = (0..100).flat_map(|_| window.fetch_add(0, 0, 1).unwrap().to_le_bytes()).collect();
    let all = mpi.all_gather(&mine).unwrap().concat();
    let mut all: Vec<u64> = all.chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..100 * mpi.size() as u64), "a number was given out twice or not at all");
    window.close().unwrap();
}
