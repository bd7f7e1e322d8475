//! The exchange by a master: rank 0 merges the records of all, says who shall send it what, and writes everything.

use std::time::Instant;
use zerohop_model::timeline::SearchStage;
use zerohop_ranks::exchange::{
    Batch, CHANNELS, Carrier, ExchangeError, MessageCarrier, Output, RankReport, Record, Survivor, bytes_by_rank,
    framed, in_order, merge, survived,
};
use zerohop_ranks::{Transport, receive};

/// The tags of what a master and its workers say.
const TO_MASTER_TAG: u32 = 30;
const FROM_MASTER_TAG: u32 = 40;

/// Exchanges batches as [`exchange::run`](zerohop_ranks::exchange::run) does.
///
/// # Errors
/// [`ExchangeError`].
pub(super) fn run(
    transport: &dyn Transport,
    most: usize,
    (first, offset): (u64, u64),
    next: &mut dyn FnMut() -> Result<Option<Batch>, String>,
    output: &mut dyn Output,
) -> Result<(RankReport, u64), ExchangeError> {
    let (started, carrier) = (Instant::now(), MessageCarrier::new(transport));
    let report = RankReport { rank: transport.rank(), ..RankReport::default() };
    let mut master = Master { transport, carrier, most, offset, started, report };
    let mut open: Option<(u64, Batch)> = None;
    for number in first.. {
        let begun = Instant::now();
        let batch = next().map_err(ExchangeError::Search)?;
        master.spent(SearchStage::WaitSearch, begun);
        let Some(batch) = batch else { break };
        master.publish(number, &batch)?;
        if let Some((number, batch)) = open.replace((number, batch)) {
            master.finish(number, &batch, output)?;
        }
    }
    if let Some((number, batch)) = open {
        master.finish(number, &batch, output)?;
    }
    let Master { mut report, offset, .. } = master;
    report.wall = started.elapsed();
    Ok((report, offset))
}

/// One rank of it: rank 0 is the master.
struct Master<'m> {
    transport: &'m dyn Transport,
    carrier: MessageCarrier<'m>,
    /// Results of one query that are kept.
    most: usize,
    /// Where the next batch goes.
    offset: u64,
    started: Instant,
    report: RankReport,
}

/// The channel of a batch.
fn channel_of(number: u64) -> usize {
    (number % CHANNELS as u64) as usize
}

impl Master<'_> {
    /// Accounts for the time since `begun`.
    fn spent(&mut self, stage: SearchStage, begun: Instant) {
        self.report.spent(stage, begun - self.started, begun.elapsed());
    }

    /// Sends the records of a batch to rank 0.
    fn publish(&mut self, number: u64, batch: &Batch) -> Result<(), ExchangeError> {
        let begun = Instant::now();
        self.report.batches += 1;
        self.report.records += batch.records.len() as u64;
        self.report.result_bytes += batch.text.len() as u64;
        if self.transport.rank() != 0 {
            self.transport.send(0, TO_MASTER_TAG + channel_of(number) as u32, Record::pack(&batch.records))?;
        }
        self.spent(SearchStage::Put, begun);
        Ok(())
    }

    fn finish(&mut self, number: u64, batch: &Batch, output: &mut dyn Output) -> Result<(), ExchangeError> {
        match self.transport.rank() {
            0 => self.decide(number, batch, output),
            _ => self.obey(number, batch),
        }
    }

    /// Gives rank 0 what it says that it wants.
    fn obey(&mut self, number: u64, batch: &Batch) -> Result<(), ExchangeError> {
        let (channel, me) = (channel_of(number), self.transport.rank());
        let begun = Instant::now();
        let kept = numbers(&receive(self.transport, 0, FROM_MASTER_TAG + channel as u32)?);
        self.spent(SearchStage::WaitRecords, begun);
        let begun = Instant::now();
        let survivors: Vec<Survivor> = kept.into_iter().map(|number| Survivor { list: me, number }).collect();
        self.report.survived += survivors.len() as u64;
        self.carrier.offer(channel, 0, survived(batch, &survivors, me))?;
        self.spent(SearchStage::Get, begun);
        Ok(())
    }

    /// Merges, says what survives, fetches it and writes.
    fn decide(&mut self, number: u64, batch: &Batch, output: &mut dyn Output) -> Result<(), ExchangeError> {
        let (channel, size) = (channel_of(number), self.transport.size());
        let begun = Instant::now();
        let mut records = vec![batch.records.clone()];
        for rank in 1..size {
            records.push(Record::all(&receive(self.transport, rank, TO_MASTER_TAG + channel as u32)?));
        }
        self.spent(SearchStage::WaitRecords, begun);
        let begun = Instant::now();
        let survivors = merge(&records, Record::order, self.most);
        let bytes = bytes_by_rank(&records, &survivors);
        self.spent(SearchStage::Merge, begun);
        let begun = Instant::now();
        for rank in 1..size {
            let kept = survivors.iter().filter(|survivor| survivor.list == rank);
            let kept: Vec<u8> = kept.flat_map(|survivor| (survivor.number as u64).to_le_bytes()).collect();
            self.transport.send(rank, FROM_MASTER_TAG + channel as u32, kept)?;
        }
        self.report.survived += survivors.iter().filter(|survivor| survivor.list == 0).count() as u64;
        let mut texts = vec![survived(batch, &survivors, 0)];
        for (rank, &bytes) in bytes.iter().enumerate().skip(1) {
            self.report.fetched_bytes += bytes;
            texts.push(self.carrier.fetch(channel, rank, bytes as usize)?);
        }
        self.spent(SearchStage::Get, begun);
        let text = in_order(&records, &survivors, &texts, &framed(batch, &records, &survivors));
        let begun = Instant::now();
        output.write(number, self.offset, &text)?;
        self.report.written += 1;
        self.spent(SearchStage::Write, begun);
        self.offset += text.len() as u64;
        Ok(())
    }
}

fn numbers(bytes: &[u8]) -> Vec<usize> {
    bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(std::array::from_fn(|i| bytes[i])) as usize).collect()
}
