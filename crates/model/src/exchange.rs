//! What a rank did for a search over many ranks, and where its time went; what `zerohop search --record` keeps of it.

use crate::timeline::{SearchStage, SearchTimeline};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version of what `zerohop search --json` writes.
pub const SEARCH_VERSION: u32 = 1;

/// Where the time of one rank went, in the thread that talks to the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Waiting for our own results.
    pub search: Duration,
    /// Giving records to others.
    pub put: Duration,
    /// Waiting for the records of others.
    pub wait: Duration,
    /// Putting them in order.
    pub merge: Duration,
    /// Fetching results of others, or laying ours ready.
    pub get: Duration,
    /// Writing.
    pub write: Duration,
}

/// What one rank did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// The number of the rank, from 0.
    pub rank: usize,
    /// Batches that it took part in.
    pub batches: u64,
    /// Batches that it wrote.
    pub written: u64,
    /// Records of its own results.
    pub records: u64,
    /// Its records that are among the results.
    pub survived: u64,
    /// Bytes of its own results.
    pub result_bytes: u64,
    /// Bytes that it fetched from others.
    pub fetched_bytes: u64,
    /// Where its time went.
    pub times: Times,
    /// From the first batch to the last.
    pub wall: Duration,
    /// What the thread that searches did when.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub searching: SearchTimeline,
    /// What the thread that talks to the others did when.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub talking: SearchTimeline,
}

fn is_empty(timeline: &SearchTimeline) -> bool {
    timeline.steps.is_empty()
}

impl RankReport {
    /// Adds what the thread that talks did, from `start` after its start on.
    pub fn spent(&mut self, stage: SearchStage, start: Duration, length: Duration) {
        let times = &mut self.times;
        let sum = match stage {
            SearchStage::WaitSearch => &mut times.search,
            SearchStage::Put => &mut times.put,
            SearchStage::WaitRecords => &mut times.wait,
            SearchStage::Merge => &mut times.merge,
            SearchStage::Get => &mut times.get,
            SearchStage::Write => &mut times.write,
            // Of the other thread.
            SearchStage::Search | SearchStage::WaitExchange => return,
        };
        *sum += length;
        self.talking.add(stage, start, length);
    }
}

/// The version of what `zerohop search --record` writes.
pub const RECORDING_VERSION: u32 = 1;

/// What `zerohop search --record` writes, for `zerohop-lab exchange --replay`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recording {
    /// [`RECORDING_VERSION`].
    pub schema_version: u32,
    /// The command that was recorded.
    pub command: String,
    /// What each rank did, batch by batch.
    pub ranks: Vec<Vec<Searched>>,
}

/// What one rank searched of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// Seconds of the search.
    pub search_s: f64,
    /// Queries of the batch.
    pub queries: u32,
    /// Results.
    pub records: u32,
    /// Bytes of all results.
    pub result_bytes: u64,
}
