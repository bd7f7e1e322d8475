//! Where the time of a thread goes: every stage is timed here, and nowhere else.

use std::time::{Duration, Instant};
use zerohop_model::measurement::WorkerReport;
use zerohop_model::timeline::{Stage, Timeline};

/// The stages that a thread goes through, one after the other.
pub(crate) struct ThreadStages {
    pub(crate) started: Instant,
    /// When the present stage began.
    since: Instant,
    spent: [Duration; Stage::ALL.len()],
    timeline: Timeline,
}

impl ThreadStages {
    /// Those of a thread; times are told from `started` on.
    pub(crate) fn since(started: Instant) -> Self {
        ThreadStages { started, since: started, spent: Default::default(), timeline: Timeline::default() }
    }

    /// A stage begins; what was before is in none.
    pub(crate) fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// The present stage was this one. The next begins.
    pub(crate) fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        self.add(stage, self.since, now.saturating_duration_since(self.since));
        self.since = now;
    }

    /// The present stage was several, one after the other, of which others keep the time: so much of each since the
    /// thread was started. The next begins.
    pub(crate) fn end_several<const N: usize>(&mut self, stages: [(Stage, Duration); N]) {
        let mut from = self.since;
        for (stage, total) in stages {
            let length = total.saturating_sub(self.spent[stage as usize]);
            self.add(stage, from, length);
            from += length;
        }
        self.since = Instant::now();
    }

    fn add(&mut self, stage: Stage, from: Instant, length: Duration) {
        self.spent[stage as usize] += length;
        self.timeline.add(stage, from.saturating_duration_since(self.started), length);
    }

    /// Says it in the report of a worker.
    pub(crate) fn tell(self, report: &mut WorkerReport) {
        let [claim, wait_input, parse, map, encode, commit, wait_output] = self.spent;
        (report.claim, report.wait_input, report.parse, report.map) = (claim, wait_input, parse, map);
        (report.encode, report.commit, report.wait_output) = (encode, commit, wait_output);
        report.timeline = self.timeline;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_follow_one_another() {
        let mut stages = ThreadStages::since(Instant::now());
        let ms = Duration::from_millis;
        stages.begin();
        stages.end_several([(Stage::Claim, ms(3)), (Stage::WaitInput, ms(4))]);
        std::thread::sleep(ms(1));
        stages.end(Stage::Parse);
        stages.end_several([(Stage::Claim, ms(5)), (Stage::WaitInput, ms(4))]);
        let mut report = WorkerReport::default();
        stages.tell(&mut report);
        assert_eq!((report.claim, report.wait_input, report.map), (ms(5), ms(4), ms(0)));
        assert!(report.parse >= ms(1));
    }
}
