//! How long a search over many ranks would take: a simulation of what the threads of all ranks do, batch by batch, as
//! `exchange` does it.
//!
//! Each rank is two actors: one searches, one batch ahead at most; the other takes what was found, gives records to the
//! others, and meanwhile finishes the batch before. They wait for one another where the exchange does. Nothing is
//! measured here: times of single calls come in as [`Costs`].
//!
//! What it leaves out: records that do not fit a window (they go in pieces; here in one), networks whose links are
//! shared, and ranks that take cores from searches while they wait, or see things later the longer they have waited (up
//! to a millisecond, `back-off`).

mod engine;

use super::Settings;
use super::searches::Searches;
use super::variant::{Sync, Variant};
use engine::{Gate, Script, Step};
use serde::{Deserialize, Serialize};
use zerohop_model::exchange::Searched;
use zerohop_ranks::exchange::{CHANNELS, Record};

/// Seconds that single calls take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// From sending a small message to having it.
    pub message_s: f64,
    /// In the call that sends it.
    pub send_s: f64,
    /// A byte of a message, both sides together.
    pub message_byte_s: f64,
    /// Putting a few bytes and flushing them.
    pub flush_s: f64,
    /// A byte that is put.
    pub put_byte_s: f64,
    /// From putting a flag to its being seen.
    pub flag_s: f64,
    /// Getting a few bytes.
    pub get_s: f64,
    /// A byte that is got.
    pub get_byte_s: f64,
    /// A barrier of ranks that are all there, for each doubling of their number.
    pub barrier_s: f64,
    /// A fence of the same kind.
    pub fence_s: f64,
    /// Post, start, complete and wait, for each other rank; the barrier is not in it.
    pub epoch_s: f64,
    /// How late a rank that naps sees what it waits for.
    pub notice_s: f64,
    /// Making and closing a window, for each doubling of ranks.
    pub window_s: f64,
    /// A byte of it.
    pub window_byte_s: f64,
    /// Putting a record in order, the number of ranks aside.
    pub record_s: f64,
    /// What each doubling of ranks adds to that.
    pub record_doubling_s: f64,
    /// A byte of results, from the search to the buffer that is written.
    pub text_byte_s: f64,
    /// Writing a batch.
    pub write_s: f64,
    /// A byte of it.
    pub write_byte_s: f64,
    /// How much longer than asked for a thread sleeps: searches that are made up are sleeps.
    pub oversleep_s: f64,
}

/// Seconds from the first batch to the last over `ranks` ranks, by simulation. They share `cores`, if there is a
/// number: then computing takes turns. Searches take none, for they are sleeps, or have cores of their own.
pub fn predict(settings: Settings, searches: &Searches, ranks: usize, costs: &Costs, cores: Option<usize>) -> f64 {
    let mut plan = ModelPlan::new(settings, searches, ranks, costs);
    let mut script = std::mem::take(&mut plan.script);
    for rank in 0..ranks {
        script.actor(plan.searching(rank));
        script.actor(plan.talking(rank));
    }
    script.run(cores) as f64 / 1e9
}

/// Nanoseconds.
fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round().max(0.0) as u64
}

/// A batch: its gates, and who does how much of it.
struct ModelBatch {
    /// By rank: it has searched; its talking thread has taken it.
    searched: Vec<Gate>,
    taken: Vec<Gate>,
    /// All ranks: have given their records; have read those of the others; have come to the first and to the second
    /// meeting.
    given: Gate,
    read: Gate,
    meetings: [Gate; 2],
    /// The writer has what the others have for it; has said what survives; has fetched it.
    ready: Gate,
    said: Gate,
    fetched: Gate,
    writer: usize,
    /// By rank.
    load: Vec<Searched>,
    /// Of all ranks, and the share of them that survives.
    records: f64,
    share: f64,
}

/// The simulation of one search.
struct ModelPlan<'p> {
    settings: Settings,
    costs: &'p Costs,
    ranks: usize,
    batches: Vec<ModelBatch>,
    script: Script,
}

/// Bytes that a rank gives to each other before the merge.
fn given_bytes(load: &Searched) -> f64 {
    (8 + Record::BYTES * load.records as usize) as f64
}

impl<'p> ModelPlan<'p> {
    fn new(settings: Settings, searches: &Searches, ranks: usize, costs: &'p Costs) -> Self {
        let mut plan = ModelPlan { settings, costs, ranks, batches: Vec::new(), script: Script::default() };
        for batch in 0..searches.batches() {
            let load: Vec<Searched> = (0..ranks).map(|rank| searches.searched(rank, batch)).collect();
            plan.add(load);
        }
        plan
    }

    fn add(&mut self, load: Vec<Searched>) {
        let most = |rank: &usize| (load[*rank].result_bytes, std::cmp::Reverse(*rank));
        let writer = match self.settings.variant {
            Variant::Master => 0,
            _ => (0..self.ranks).max_by_key(most).unwrap_or(0),
        };
        let records: f64 = load.iter().map(|one| f64::from(one.records)).sum();
        let queries = load.iter().map(|one| one.queries).max().unwrap_or(0);
        // As if every query had its even share.
        let kept = (self.settings.most as f64 * f64::from(queries)).min(records);
        let others = load.iter().enumerate().filter(|(rank, one)| *rank != writer && one.records > 0).count();
        let (ranks, script) = (self.ranks, &mut self.script);
        self.batches.push(ModelBatch {
            searched: (0..ranks).map(|_| script.gate(1)).collect(),
            taken: (0..ranks).map(|_| script.gate(1)).collect(),
            given: script.gate(ranks),
            read: script.gate(ranks),
            meetings: [script.gate(ranks), script.gate(ranks)],
            ready: script.gate(others),
            said: script.gate(1),
            fetched: script.gate(1),
            writer,
            load,
            records,
            share: if records > 0.0 { kept / records } else { 0.0 },
        });
    }

    /// The thread that searches: a batch is searched while the one before waits to be taken, no more.
    fn searching(&self, rank: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, batch) in self.batches.iter().enumerate() {
            steps.push(Step::Pause(nanos(batch.load[rank].search_s + self.costs.oversleep_s)));
            if let Some(before) = number.checked_sub(1) {
                steps.push(Step::Await(self.batches[before].taken[rank], 0));
            }
            steps.push(Step::Open(batch.searched[rank], 0));
        }
        steps
    }

    /// The thread that talks to the others.
    fn talking(&self, rank: usize) -> Vec<Step> {
        let mut steps = vec![Step::Work(nanos(self.setup()))];
        for (number, batch) in self.batches.iter().enumerate() {
            steps.extend([Step::Await(batch.searched[rank], 0), Step::Open(batch.taken[rank], 0)]);
            self.publish(number, rank, &mut steps);
            if let Some(before) = number.checked_sub(1) {
                self.finish(before, rank, &mut steps);
            }
        }
        if let Some(last) = self.batches.len().checked_sub(1) {
            self.finish(last, rank, &mut steps);
        }
        steps
    }

    fn others(&self) -> f64 {
        (self.ranks - 1) as f64
    }

    /// How often the number of ranks doubles.
    fn doublings(&self) -> f64 {
        (self.ranks as f64).log2().ceil()
    }

    /// Windows that one round of one channel has.
    fn windows(&self) -> f64 {
        match self.settings.variant {
            Variant::OneSided { window_per_rank: true, .. } => self.ranks as f64,
            _ => 1.0,
        }
    }

    /// Making and closing all windows: those of the records, those of the results, those of flags.
    fn setup(&self) -> f64 {
        let Variant::OneSided { sync, .. } = self.settings.variant else { return 0.0 };
        let channels = CHANNELS as f64;
        let windows = channels * (self.windows() + 1.0) + 1.0 + f64::from(sync == Sync::Flush);
        let room = (self.settings.record_room * self.ranks + self.settings.result_room) as f64;
        windows * self.costs.window_s * self.doublings() + channels * room * self.costs.window_byte_s
    }

    fn wait(&self, gate: Gate) -> Step {
        Step::Await(gate, nanos(self.costs.notice_s))
    }

    /// All ranks wait for all, and then for something more.
    fn meet(&self, gate: Gate, more: f64, steps: &mut Vec<Step>) {
        steps.extend([Step::Open(gate, 0), self.wait(gate), Step::Pause(nanos(more))]);
    }

    /// What a flag needs on its way after the call that put it.
    fn flag_way(&self) -> u64 {
        nanos(self.costs.flag_s - self.costs.flush_s)
    }

    /// As `Exchange::publish`.
    fn publish(&self, number: usize, rank: usize, steps: &mut Vec<Step>) {
        let (batch, costs, others) = (&self.batches[number], self.costs, self.others());
        let bytes = given_bytes(&batch.load[rank]);
        let send = costs.send_s + bytes * costs.message_byte_s / 2.0;
        // Small puts cost about what a small flush does.
        let put = bytes * costs.put_byte_s;
        let given = |way: u64| Step::Open(batch.given, way);
        match self.settings.variant {
            Variant::TwoSided => steps.extend([Step::Work(nanos(others * send)), given(nanos(costs.message_s))]),
            Variant::Master => {
                let sent = if rank == 0 { 0.0 } else { send };
                steps.extend([Step::Work(nanos(sent)), given(nanos(costs.message_s))]);
            }
            Variant::OneSided { sync: Sync::Fence, .. } => steps.push(Step::Work(nanos(others * put))),
            Variant::OneSided { sync: Sync::Pscw, .. } => {
                self.meet(batch.meetings[0], costs.barrier_s * self.doublings(), steps);
                steps.extend([Step::Work(nanos(others * (put + costs.epoch_s))), given(nanos(costs.message_s))]);
            }
            Variant::OneSided { sync: Sync::Flush, .. } => {
                if let Some(before) = number.checked_sub(CHANNELS) {
                    steps.push(self.wait(self.batches[before].read));
                }
                steps.extend([Step::Work(nanos(others * (put + 2.0 * costs.flush_s))), given(self.flag_way())]);
            }
        }
    }

    /// As `Exchange::finish`.
    fn finish(&self, number: usize, rank: usize, steps: &mut Vec<Step>) {
        let (batch, costs) = (&self.batches[number], self.costs);
        let merge = batch.records * (costs.record_s + costs.record_doubling_s * self.doublings());
        let records_of_others: f64 = batch.load.iter().map(given_bytes).sum::<f64>() - given_bytes(&batch.load[rank]);
        let receive = records_of_others * costs.message_byte_s / 2.0;
        match self.settings.variant {
            Variant::Master if rank > 0 => steps.push(self.wait(batch.said)),
            Variant::Master => {
                let say = self.others() * costs.send_s + 8.0 * batch.records * batch.share * costs.message_byte_s / 2.0;
                steps.extend([self.wait(batch.given), Step::Work(nanos(receive + merge))]);
                steps.extend([Step::Work(nanos(say)), Step::Open(batch.said, nanos(costs.message_s))]);
            }
            Variant::TwoSided => steps.extend([self.wait(batch.given), Step::Work(nanos(receive + merge))]),
            Variant::OneSided { sync, .. } => {
                let read = records_of_others * costs.put_byte_s;
                let fence = costs.fence_s * self.doublings() * self.windows();
                match sync {
                    Sync::Fence => {
                        self.meet(batch.meetings[0], fence, steps);
                        steps.push(Step::Work(nanos(read)));
                        self.meet(batch.meetings[1], fence, steps);
                    }
                    Sync::Pscw => steps.extend([self.wait(batch.given), Step::Work(nanos(read))]),
                    Sync::Flush => {
                        let flags = self.others() * costs.flush_s;
                        steps.extend([self.wait(batch.given), Step::Work(nanos(read + flags))]);
                        steps.push(Step::Open(batch.read, self.flag_way()));
                    }
                }
                steps.push(Step::Work(nanos(merge)));
            }
        }
        match rank == batch.writer {
            true => self.fetch_and_write(batch, steps),
            false => self.offer(number, rank, steps),
        }
    }

    fn fetch_and_write(&self, batch: &ModelBatch, steps: &mut Vec<Step>) {
        let costs = self.costs;
        let all = batch.load.iter().map(|one| one.result_bytes as f64 * batch.share).sum::<f64>();
        let own = batch.load[batch.writer].result_bytes as f64 * batch.share;
        let givers = batch.load.iter().enumerate().filter(|(rank, one)| *rank != batch.writer && one.records > 0);
        let givers = givers.count() as f64;
        let fetch = match self.settings.variant {
            Variant::OneSided { .. } => givers * (costs.get_s + costs.flush_s) + (all - own) * costs.get_byte_s,
            _ => (all - own) * costs.message_byte_s / 2.0,
        };
        if givers > 0.0 {
            steps.push(self.wait(batch.ready));
        }
        steps.extend([Step::Work(nanos(fetch)), Step::Open(batch.fetched, self.flag_way())]);
        steps.push(Step::Work(nanos(all * (costs.text_byte_s + costs.write_byte_s) + costs.write_s)));
    }

    fn offer(&self, number: usize, rank: usize, steps: &mut Vec<Step>) {
        let (batch, costs) = (&self.batches[number], self.costs);
        if batch.load[rank].records == 0 {
            return;
        }
        let bytes = batch.load[rank].result_bytes as f64 * batch.share;
        match self.settings.variant {
            Variant::OneSided { .. } => {
                // What lay there before must have been fetched.
                if let Some(before) = number.checked_sub(CHANNELS) {
                    steps.push(self.wait(self.batches[before].fetched));
                }
                steps.push(Step::Work(nanos(bytes * costs.text_byte_s + costs.flush_s)));
                steps.push(Step::Open(batch.ready, self.flag_way()));
            }
            _ => {
                let send = costs.send_s + bytes * costs.message_byte_s / 2.0;
                steps.push(Step::Work(nanos(bytes * costs.text_byte_s + send)));
                steps.push(Step::Open(batch.ready, nanos(costs.message_s)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
