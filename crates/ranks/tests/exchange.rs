//! The exchange by messages between threads as ranks: every number of ranks and size of messages gives what sorting all
//! results gives.
#![allow(clippy::unwrap_used)]

mod made_up;

use made_up::{Job, Next, Outcome, expected, one_ends_all, run_on_twins};
use zerohop_ranks::exchange::{self, Output};
use zerohop_ranks::{Settings, Twin};

fn by_messages(settings: Settings) -> impl Fn(&Twin, Next, &mut dyn Output) -> Outcome {
    move |twin, next, output| exchange::run(twin, settings, (0, 0), next, output)
}

#[test]
fn messages_write_what_one_rank_would_write() {
    for ranks in [1, 2, 3, 4, 7] {
        for (seed, record_room) in [(1, 1 << 20), (2, 8 + 3 * 32), (3, 8 + 32)] {
            let job = Job { seed, batches: 9, ranks, most: 3 };
            let (written, reports) = run_on_twins(job, &by_messages(Settings { most: job.most, record_room }));
            assert!(written == expected(job), "{ranks} ranks, seed {seed}");
            assert_eq!(reports.iter().map(|report| report.written).sum::<u64>(), 9, "each batch has one writer");
            assert!(reports.iter().all(|report| report.batches == 9));
        }
    }
}

#[test]
fn only_what_survives_travels() {
    let job = Job { seed: 5, batches: 20, ranks: 4, most: 1 };
    let (_, reports) = run_on_twins(job, &by_messages(Settings::new(job.most)));
    let (fetched, all) = reports.iter().fold((0, 0), |(f, a), r| (f + r.fetched_bytes, a + r.result_bytes));
    let kept: u64 = expected(job).len() as u64;
    assert!(fetched < kept && kept < all, "{fetched} {kept} {all}");
}

#[test]
fn a_rank_that_fails_or_is_silent_does_not_leave_the_others_waiting() {
    for silent in [false, true] {
        one_ends_all("messages", silent, &by_messages(Settings::new(3)));
    }
}
