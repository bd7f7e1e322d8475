//! The model where the answer is known by other means.

use super::*;
use proptest::prelude::*;

/// Searches of these seconds, by rank and batch, with as many results everywhere.
fn searches(times: &[Vec<f64>], records: u32) -> Searches {
    let one = |&search_s: &f64| Searched { search_s, queries: 10, records, result_bytes: 100 * u64::from(records) };
    Searches::Recorded(times.iter().map(|rank| rank.iter().map(one).collect()).collect())
}

fn predicted(variant: Variant, times: &[Vec<f64>], costs: &Costs) -> f64 {
    predict(Settings::new(variant, 25), &searches(times, 10), times.len(), costs, None)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn one_rank_searches_and_writes() {
    let costs = Costs { write_s: 0.25, ..Costs::default() };
    for variant in Variant::ALL {
        // A batch is written once the next is there, beside the search of the one after that: two come after the last
        // search.
        assert!(near(predicted(variant, &[vec![1.0; 5]], &costs), 5.5), "{variant}");
        assert!(near(predicted(variant, &[vec![1.0; 5]], &Costs::default()), 5.0), "{variant}");
    }
}

#[test]
fn equal_ranks_do_not_wait_for_one_another() {
    for variant in Variant::ALL {
        let times = vec![vec![0.5; 8]; 6];
        assert!(near(predicted(variant, &times, &Costs::default()), 4.0), "{variant}");
    }
}

#[test]
fn what_cannot_overlap_is_added() {
    // Two batches: the first one's way lies under the second search; the last one's comes after it.
    let costs = Costs { message_s: 0.1, ..Costs::default() };
    let times = vec![vec![1.0, 1.0]; 2];
    // The records' way, then the results'.
    assert!(near(predicted(Variant::TwoSided, &times, &costs), 2.2));
    // What the master says and what it is given in return, for each of the two batches that are left when the searches
    // end.
    assert!(near(predicted(Variant::Master, &times, &costs), 2.4));
    let costs = Costs { fence_s: 0.1, ..Costs::default() };
    let fence = Variant::OneSided { sync: Sync::Fence, window_per_rank: false };
    assert!(near(predicted(fence, &times, &costs), 2.4), "two fences for each of the two batches");
    let windows = Variant::OneSided { sync: Sync::Fence, window_per_rank: true };
    assert!(near(predicted(windows, &times, &costs), 2.8), "on two windows");
}

#[test]
fn merging_grows_with_all_records_and_cores_are_shared() {
    let costs = Costs { record_s: 1e-3, ..Costs::default() };
    let two_sided = |ranks: usize, cores| {
        let work = searches(&vec![vec![0.0]; ranks], 10);
        predict(Settings::new(Variant::TwoSided, 25), &work, ranks, &costs, cores)
    };
    assert!(near(two_sided(1, None), 0.01) && near(two_sided(8, None), 0.08));
    assert!(near(two_sided(8, Some(2)), 0.32), "each of 8 ranks merges 80 records, on 2 cores");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Where nothing costs anything, a naive twin walks through the batches: two-sided, a rank waits for the records of
    /// the batch before; with fences, also for everybody's search of this one.
    #[test]
    fn skew_is_that_of_walking_through_the_batches(
        times in (1usize..12, 1usize..6).prop_flat_map(|(batches, ranks)| {
            proptest::collection::vec(proptest::collection::vec(0.0f64..1.0, batches), ranks)
        }),
    ) {
        let free = Costs::default();
        prop_assert!(near(predicted(Variant::TwoSided, &times, &free), walk(&times, false)));
        let fence = Variant::OneSided { sync: Sync::Fence, window_per_rank: false };
        prop_assert!(near(predicted(fence, &times, &free), walk(&times, true)));
    }

    /// No exchange is faster than its searches, and none gets faster by costs.
    #[test]
    fn costs_only_add(
        times in proptest::collection::vec(proptest::collection::vec(0.0f64..0.1, 6), 4),
        variant in 0usize..8,
        cost in 0.0f64..0.01,
    ) {
        let variant = Variant::ALL[variant];
        let (message_s, send_s, flush_s, flag_s, get_s, fence_s) = (cost, cost, cost, cost, cost, cost);
        let costs = Costs { message_s, send_s, flush_s, flag_s, get_s, fence_s, ..Costs::default() };
        let slowest = times.iter().map(|rank| rank.iter().sum::<f64>()).fold(0.0, f64::max);
        let (free, dear) = (predicted(variant, &times, &Costs::default()), predicted(variant, &times, &costs));
        prop_assert!(free >= slowest - 1e-6 && dear >= free - 1e-6);
    }
}

/// When the last rank ends.
fn walk(times: &[Vec<f64>], fences: bool) -> f64 {
    let ranks = times.len();
    let (mut handed, mut taken, mut talk) = (vec![0.0f64; ranks], vec![0.0f64; ranks], vec![0.0f64; ranks]);
    let mut given_before = 0.0;
    let latest = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    for batch in 0..=times[0].len() {
        for (rank, of_rank) in times.iter().enumerate() {
            // What is found is handed over once the batch before was taken, and only then the next search begins.
            handed[rank] = of_rank.get(batch).map_or(0.0, |time| (handed[rank] + time).max(taken[rank]));
            talk[rank] = talk[rank].max(handed[rank]);
            taken[rank] = talk[rank];
        }
        let given = latest(&talk);
        if batch > 0 {
            let wait = if fences { given } else { given_before };
            talk.iter_mut().for_each(|talk| *talk = talk.max(wait));
            // All have as much, so rank 0 writes, and waits for the others to lay theirs ready.
            talk[0] = latest(&talk);
        }
        given_before = given;
    }
    latest(&talk)
}
