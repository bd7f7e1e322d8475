//! What a thread leaves behind.

use zerohop_model::measurement::{InstanceReport, Tally, WorkerReport};

/// The share of one worker, or of one thread around an instance, in what is reported.
#[derive(Debug, Default)]
pub(crate) struct ReportShare {
    pub(crate) worker: WorkerReport,
    pub(crate) tally: Tally,
    /// Bytes that it put out.
    pub(crate) bytes: u64,
    pub(crate) instance: Option<InstanceReport>,
}

impl ReportShare {
    /// Both together, where the threads of one instance share the work of one worker: what one of them does not do, it
    /// counts as nothing.
    pub(crate) fn and(mut self, other: ReportShare) -> ReportShare {
        let (mine, its) = (&mut self.worker, other.worker);
        mine.chunks += its.chunks;
        mine.claim += its.claim;
        mine.wait_input += its.wait_input;
        mine.parse += its.parse;
        mine.map += its.map;
        mine.encode += its.encode;
        mine.commit += its.commit;
        mine.wait_output += its.wait_output;
        mine.timeline.join(its.timeline);
        mine.wall = mine.wall.max(its.wall);
        self.tally += &other.tally;
        self.bytes += other.bytes;
        self.instance = self.instance.or(other.instance);
        self
    }
}
