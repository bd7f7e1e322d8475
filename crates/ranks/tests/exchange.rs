//! The exchange between threads as ranks: every variant, number of ranks and size of rooms gives what sorting all
//! results gives.
#![allow(clippy::unwrap_used)]

mod made_up;

use made_up::{Job, expected, run_on_twins};
use std::time::Duration;
use zerohop_ranks::{ExchangeError, Settings, Transport, TransportError, Twin, Variant, exchange};

#[test]
fn every_variant_writes_what_one_rank_would_write() {
    for variant in Variant::ALL {
        for ranks in [1, 2, 3, 4, 7] {
            for (seed, rooms) in [(1, (1 << 20, 1 << 20)), (2, (8 + 3 * 32, 50)), (3, (8 + 32, 1))] {
                let job = Job { seed, batches: 9, ranks, most: 3 };
                let settings =
                    Settings { record_room: rooms.0, result_room: rooms.1, ..Settings::new(variant, job.most) };
                let (written, reports) = run_on_twins(job, settings);
                assert!(written == expected(job), "{variant}, {ranks} ranks, seed {seed}");
                assert_eq!(reports.iter().map(|report| report.written).sum::<u64>(), 9, "each batch has one writer");
                assert!(reports.iter().all(|report| report.batches == 9));
            }
        }
    }
}

#[test]
fn only_what_survives_travels() {
    let job = Job { seed: 5, batches: 20, ranks: 4, most: 1 };
    let (_, reports) = run_on_twins(job, Settings::new(Variant::ALL[4], job.most));
    let (fetched, all) = reports.iter().fold((0, 0), |(f, a), r| (f + r.fetched_bytes, a + r.result_bytes));
    let kept: u64 = expected(job).len() as u64;
    assert!(fetched < kept && kept < all, "{fetched} {kept} {all}");
}

#[test]
fn a_rank_that_fails_or_is_silent_does_not_leave_the_others_waiting() {
    // All at once: each is idle for seconds.
    std::thread::scope(|scope| {
        for variant in Variant::ALL {
            scope.spawn(move || one_ends_all(variant, false));
            scope.spawn(move || one_ends_all(variant, true));
        }
    });
}

/// Rank 1 of 3 has no fourth batch: it says so, or nothing for longer than the others wait.
fn one_ends_all(variant: Variant, silent: bool) {
    let limit = Duration::from_secs(if silent { 3 } else { 60 });
    let work = |twin: Twin| {
        let job = Job { seed: 1, batches: 6, ranks: 3, most: 3 };
        let mut number = 0;
        let mut next = || {
            number += 1;
            match twin.rank() == 1 && number == 4 {
                true if silent => {
                    std::thread::sleep(2 * limit);
                    Err("late".to_owned())
                }
                true => Err("the search failed".to_owned()),
                false => Ok(Some(job.batch(twin.rank(), number))),
            }
        };
        let mut nowhere = made_up::Nowhere;
        let settings = Settings::new(variant, job.most);
        let outcome = exchange::run(&twin, settings, (0, 0), &mut next, &mut nowhere);
        if outcome.is_err() && !silent {
            twin.fail();
        }
        (twin.rank(), outcome.unwrap_err())
    };
    let errors: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = Twin::ranks(3, limit).into_iter().map(|twin| scope.spawn(move || work(twin))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (rank, error) in errors {
        let expected = match rank {
            1 => matches!(error, ExchangeError::Search(_)),
            _ => matches!(error, ExchangeError::Transport(TransportError::PeerFailed | TransportError::Silent { .. })),
        };
        assert!(expected, "{variant}: rank {rank}: {error}");
    }
}
