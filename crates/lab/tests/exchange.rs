//! The exchange between threads as ranks: every variant, number of ranks and size of rooms gives what sorting all
//! results gives.
#![allow(clippy::unwrap_used)]

#[path = "../../ranks/tests/made_up/mod.rs"]
mod made_up;

use made_up::{Job, Next, Outcome, expected, one_ends_all, run_on_twins};
use zerohop_lab::exchange::{self, Settings, Variant};
use zerohop_ranks::Twin;
use zerohop_ranks::exchange::Output;

fn by(settings: Settings) -> impl Fn(&Twin, Next, &mut dyn Output) -> Outcome {
    move |twin, next, output| exchange::run(twin, settings, (0, 0), next, output)
}

#[test]
fn every_variant_writes_what_one_rank_would_write() {
    for variant in Variant::ALL {
        for ranks in [1, 2, 3, 4, 7] {
            for (seed, rooms) in [(1, (1 << 20, 1 << 20)), (2, (8 + 3 * 32, 50)), (3, (8 + 32, 1))] {
                let job = Job { seed, batches: 9, ranks, most: 3 };
                let settings =
                    Settings { record_room: rooms.0, result_room: rooms.1, ..Settings::new(variant, job.most) };
                let (written, reports) = run_on_twins(job, &by(settings));
                assert!(written == expected(job), "{variant}, {ranks} ranks, seed {seed}");
                assert_eq!(reports.iter().map(|report| report.written).sum::<u64>(), 9, "each batch has one writer");
                assert!(reports.iter().all(|report| report.batches == 9));
            }
        }
    }
}

#[test]
fn only_what_survives_travels() {
    for variant in Variant::ALL {
        let job = Job { seed: 5, batches: 20, ranks: 4, most: 1 };
        let (_, reports) = run_on_twins(job, &by(Settings::new(variant, job.most)));
        let (fetched, all) = reports.iter().fold((0, 0), |(f, a), r| (f + r.fetched_bytes, a + r.result_bytes));
        let kept: u64 = expected(job).len() as u64;
        assert!(fetched < kept && kept < all, "{variant}: {fetched} {kept} {all}");
    }
}

#[test]
fn a_rank_that_fails_or_is_silent_does_not_leave_the_others_waiting() {
    // All at once: each is idle for seconds.
    std::thread::scope(|scope| {
        for variant in Variant::ALL {
            for silent in [false, true] {
                scope.spawn(move || one_ends_all(&variant.to_string(), silent, &by(Settings::new(variant, 3))));
            }
        }
    });
}
