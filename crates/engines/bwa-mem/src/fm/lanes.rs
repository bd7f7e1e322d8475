//! Many walks at once. A step of a walk waits for memory (some 100 ns, in a large index), and no step can begin before
//! the one before it has ended. Steps of different walks do not wait for each other: the processor has many under way.

use rayon::prelude::*;

/// Walks of one thread at once.
const LANES: usize = 32;

/// A walk through the text, from right to left.
pub(super) trait Walk: Send {
    /// Steps that are left.
    fn left(&self) -> usize;
    /// Has what the next step needs come into the cache.
    fn look(&self);
    /// Goes one base to the left.
    fn step(&mut self);
}

/// Walks all to their ends, in all threads.
pub(super) fn walk(walks: Vec<impl Walk>) {
    // Several shares for each thread: walks that cannot be cut are long.
    let share = walks.len().div_ceil(4 * rayon::current_num_threads()).max(LANES);
    walks.into_par_iter().chunks(share).for_each(walk_share);
}

/// Counting bits takes one instruction where the processor has it; the plain set of x86-64 has not. That is a tenth of
/// the time of making an index.
#[allow(unsafe_code)]
fn walk_share(share: Vec<impl Walk>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi2") {
        // SAFETY: the processor has both.
        return unsafe { walk_lanes_counting(share) };
    }
    walk_lanes(share);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi2")]
fn walk_lanes_counting(share: Vec<impl Walk>) {
    walk_lanes(share);
}

#[inline(always)]
fn walk_lanes(share: Vec<impl Walk>) {
    let mut waiting = share.into_iter();
    let mut lanes: Vec<_> = waiting.by_ref().take(LANES).collect();
    while let Some(steps) = lanes.iter().map(Walk::left).min() {
        for _ in 0..steps {
            for walk in &mut lanes {
                walk.step();
                walk.look();
            }
        }
        lanes.retain(|walk| walk.left() > 0);
        while lanes.len() < LANES
            && let Some(next) = waiting.next()
        {
            lanes.push(next);
        }
    }
}
