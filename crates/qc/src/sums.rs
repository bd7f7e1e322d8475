//! What is added up, in any order.

use crate::cost::Cost;
use crate::counts::add_all;
use crate::coverage::Coverage;
use crate::cycles::Cycles;
use crate::figures::WindowDepths;
use crate::flagstat::FlagStat;
use crate::idxstats::IdxStats;
use crate::mosdepth::Mosdepth;
use crate::picard::Picard;
use crate::stats::Stats;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// What is added up, of each report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) flagstat: FlagStat,
    pub(crate) idxstats: IdxStats,
    pub(crate) cycles: Cycles,
    pub(crate) stats: Stats,
    /// Places by their depth, for samtools stats.
    pub(crate) depths: Vec<u64>,
    pub(crate) coverage: Coverage,
    pub(crate) mosdepth: Mosdepth,
    pub(crate) picard: Picard,
    pub(crate) windows: WindowDepths,
    pub(crate) cost: Cost,
}

impl Sums {
    /// Brings in what is kept aside: before they are added to others.
    pub(crate) fn settle(&mut self) {
        self.cycles.settle();
    }
}

impl AddAssign<&Sums> for Sums {
    fn add_assign(&mut self, more: &Sums) {
        self.flagstat += more.flagstat;
        self.idxstats += &more.idxstats;
        self.cycles += &more.cycles;
        self.stats += &more.stats;
        add_all(&mut self.depths, &more.depths);
        self.coverage += &more.coverage;
        self.mosdepth += &more.mosdepth;
        self.picard += &more.picard;
        self.windows += &more.windows;
        self.cost += more.cost;
    }
}
