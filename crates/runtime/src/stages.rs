//! A thread's time line while it is written.

use std::time::{Duration, Instant};
use zerohop_model::timeline::{Stage, Timeline};

/// Stages that were gone through, from the thread's start on.
pub(crate) struct Stages {
    pub(crate) started: Instant,
    timeline: Timeline,
}

impl Stages {
    /// Times will be told from `started` on.
    pub(crate) fn since(started: Instant) -> Self {
        Stages { started, timeline: Timeline::default() }
    }

    /// Enters stages that followed one another.
    pub(crate) fn add<const N: usize>(&mut self, from: Instant, stages: [(Stage, Duration); N]) {
        let mut at = from.saturating_duration_since(self.started);
        for (stage, length) in stages {
            self.timeline.add(stage, at, length);
            at += length;
        }
    }

    /// The time line.
    pub(crate) fn end(self) -> Timeline {
        self.timeline
    }
}
