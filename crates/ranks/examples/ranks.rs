//! What ranks need of an MPI, over real ranks: started by tests/e2e/96-search.sh with mpirun.
//!
//!     mpirun -n 4 ranks LIBRARY
//!
//! A counter gives every number out once, and who gives nothing is gathered, too.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::time::Duration;
use zerohop_ranks::{Mpi, Reach, Transport};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mpi = Mpi::join(Path::new(&words[1]), Duration::from_secs(60), |error| eprintln!("{error}")).unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        counter(&mpi);
        assert!(mpi.all_gather(&[]).unwrap().iter().all(Vec::is_empty), "nothing was given");
    }));
    if outcome.is_err() {
        mpi.abort(1);
    }
    if mpi.rank() == 0 {
        println!("{}: {} ranks: as it should be", mpi.name(), mpi.size());
    }
    mpi.leave().unwrap();
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
