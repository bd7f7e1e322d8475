//! The exchange: the results of every rank, batch by batch, put in order and written by one of them.
//!
//! For each batch ([`run`]):
//!
//! 1. *publish*: what a rank knows of its results goes to all others; meanwhile the batch before is finished;
//! 2. *merge*: every rank puts the records of all ranks in the same order, and so knows what survives, who has most of
//!    it and writes it, and where it goes in the output: no message is needed for that, nor for what stands between
//!    results ([`Frame`]);
//! 3. *carry*: the writer gets the bytes of the others that survived, and only those; the others go on with the next
//!    batch;
//! 4. *write*.
//!
//! What is published and carried travels as messages. The laboratory has other [`Rounds`] and [`Carrier`]s, and runs
//! the same exchange [by](run_by) them.

mod carrier;
mod frame;
mod messages;
mod record;
mod rounds;

use crate::transport::{Transport, TransportError};
pub use carrier::Carrier;
pub use frame::{Frame, framed};
pub use messages::MessageCarrier;
use messages::MessageRounds;
pub use record::{Record, Survivor, merge};
pub use rounds::{CHANNELS, Rounds};
use std::time::Instant;
pub use zerohop_model::exchange::{RankReport, Times};
use zerohop_model::timeline::SearchStage;

/// What comes before the records of a piece: how many records there are in all.
const COUNT_BYTES: usize = 8;

/// What one rank found for a batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// By query, then by key.
    pub records: Vec<Record>,
    /// The results, one after the other, in the order of the records.
    pub text: Vec<u8>,
    /// What stands between the results of all ranks, if anything does.
    pub frame: Option<Box<dyn Frame>>,
}

/// How results are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Results of one query that are kept.
    pub most: usize,
    /// Bytes of records in one message; more go in pieces.
    pub record_room: usize,
}

impl Settings {
    /// Room for what is usual.
    pub fn new(most: usize) -> Self {
        Settings { most, record_room: 1 << 20 }
    }
}

/// Where the output goes.
pub trait Output {
    /// Writes the results of a batch, complete, at their place.
    ///
    /// # Errors
    /// What the system says.
    fn write(&mut self, batch: u64, offset: u64, bytes: &[u8]) -> std::io::Result<()>;
}

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The ranks cannot go on together.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] std::io::Error),
    /// Our own results could not be had.
    #[error("{0}")]
    Search(String),
}

/// Exchanges batches by messages, from number `first` on, until `next` has no more; the output goes on at `offset`. All
/// ranks have the same batches, in the same order. Gives what this rank did, and the end of the output.
///
/// # Errors
/// [`ExchangeError`].
pub fn run(
    transport: &dyn Transport,
    settings: Settings,
    begin: (u64, u64),
    next: &mut dyn FnMut() -> Result<Option<Batch>, String>,
    output: &mut dyn Output,
) -> Result<(RankReport, u64), ExchangeError> {
    let (rounds, carrier) = (MessageRounds::new(transport, settings.record_room), MessageCarrier::new(transport));
    run_by(transport, (&rounds, &carrier), settings.most, begin, next, output)
}

/// The same by any rounds and carrier; `most` results of a query are kept.
///
/// # Errors
/// [`ExchangeError`].
pub fn run_by(
    transport: &dyn Transport,
    (rounds, carrier): (&dyn Rounds, &dyn Carrier),
    most: usize,
    (first, offset): (u64, u64),
    next: &mut dyn FnMut() -> Result<Option<Batch>, String>,
    output: &mut dyn Output,
) -> Result<(RankReport, u64), ExchangeError> {
    let started = Instant::now();
    let report = RankReport { rank: transport.rank(), ..RankReport::default() };
    let mut exchange = Exchange { transport, rounds, carrier, most, offset, started, report };
    let mut open: Option<(u64, Batch)> = None;
    for number in first.. {
        let begun = Instant::now();
        let batch = next().map_err(ExchangeError::Search)?;
        exchange.spent(SearchStage::WaitSearch, begun);
        let Some(batch) = batch else { break };
        exchange.publish(number, &batch)?;
        if let Some((number, batch)) = open.replace((number, batch)) {
            exchange.finish(number, batch, output)?;
        }
    }
    if let Some((number, batch)) = open {
        exchange.finish(number, batch, output)?;
    }
    let Exchange { mut report, offset, .. } = exchange;
    report.wall = started.elapsed();
    Ok((report, offset))
}

struct Exchange<'e> {
    transport: &'e dyn Transport,
    rounds: &'e dyn Rounds,
    carrier: &'e dyn Carrier,
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

impl Exchange<'_> {
    /// Accounts for the time since `begun`.
    fn spent(&mut self, stage: SearchStage, begun: Instant) {
        self.report.spent(stage, begun - self.started, begun.elapsed());
    }

    /// Begins a batch.
    fn publish(&mut self, number: u64, batch: &Batch) -> Result<(), ExchangeError> {
        let begun = Instant::now();
        self.report.batches += 1;
        self.report.records += batch.records.len() as u64;
        self.report.result_bytes += batch.text.len() as u64;
        self.rounds.begin(channel_of(number), self.piece(&batch.records, 0))?;
        self.spent(SearchStage::Put, begun);
        Ok(())
    }

    /// Ends it: merges, carries and writes.
    fn finish(&mut self, number: u64, batch: Batch, output: &mut dyn Output) -> Result<(), ExchangeError> {
        let records = self.all_records(channel_of(number), &batch.records)?;
        let begun = Instant::now();
        let survivors = merge(&records, Record::order, self.most);
        let bytes = bytes_by_rank(&records, &survivors);
        let pieces = framed(&batch, &records, &survivors);
        let framed: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
        let (writer, total) = (writer(&bytes), bytes.iter().sum::<u64>() + framed as u64);
        self.spent(SearchStage::Merge, begun);

        let (channel, me) = (channel_of(number), self.transport.rank());
        self.carrier.agreed(channel, writer, &bytes);
        let begun = Instant::now();
        let ours = survived(&batch, &survivors, me);
        self.report.survived += survivors.iter().filter(|survivor| survivor.list == me).count() as u64;
        if me == writer {
            let mut texts = Vec::with_capacity(bytes.len());
            for (rank, &bytes) in bytes.iter().enumerate() {
                texts.push(match rank == me {
                    true => Vec::new(),
                    false => self.fetch(channel, rank, bytes as usize)?,
                });
            }
            texts[me] = ours;
            self.spent(SearchStage::Get, begun);
            self.write(number, &in_order(&records, &survivors, &texts, &pieces), output)?;
        } else if !ours.is_empty() {
            self.carrier.offer(channel, writer, ours)?;
            self.spent(SearchStage::Get, begun);
        }
        self.offset += total;
        Ok(())
    }

    fn fetch(&mut self, channel: usize, rank: usize, bytes: usize) -> Result<Vec<u8>, ExchangeError> {
        self.report.fetched_bytes += bytes as u64;
        Ok(if bytes == 0 { Vec::new() } else { self.carrier.fetch(channel, rank, bytes)? })
    }

    fn write(&mut self, number: u64, text: &[u8], output: &mut dyn Output) -> Result<(), ExchangeError> {
        let begun = Instant::now();
        output.write(number, self.offset, text)?;
        self.report.written += 1;
        self.spent(SearchStage::Write, begun);
        Ok(())
    }

    /// The records of all ranks for the batch that is open on a channel. Who has more than there is room for, gives
    /// them in further rounds, of which all ranks know from the first.
    fn all_records(&mut self, channel: usize, ours: &[Record]) -> Result<Vec<Vec<Record>>, ExchangeError> {
        let mut all: Vec<Vec<Record>> = vec![Vec::new(); self.transport.size()];
        let (mut piece, mut pieces) = (0, 1);
        while piece < pieces {
            let begun = Instant::now();
            if piece > 0 {
                self.rounds.begin(channel, self.piece(ours, piece))?;
            }
            let given = self.rounds.end(channel)?;
            self.spent(SearchStage::WaitRecords, begun);
            for (records, bytes) in all.iter_mut().zip(given) {
                let (count, rest) = bytes.split_at(COUNT_BYTES.min(bytes.len()));
                let count = count.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)) as usize;
                pieces = pieces.max(count.div_ceil(self.records_in_piece()));
                records.extend(Record::all(rest));
            }
            piece += 1;
        }
        Ok(all)
    }

    fn records_in_piece(&self) -> usize {
        (self.rounds.room().saturating_sub(COUNT_BYTES) / Record::BYTES).max(1)
    }

    fn piece(&self, records: &[Record], piece: usize) -> Vec<u8> {
        let each = self.records_in_piece();
        let mut bytes = (records.len() as u64).to_le_bytes().to_vec();
        records.iter().skip(piece * each).take(each).for_each(|record| record.put(&mut bytes));
        bytes
    }
}

/// Bytes of each rank's results that survived.
pub fn bytes_by_rank(records: &[Vec<Record>], survivors: &[Survivor]) -> Vec<u64> {
    let mut bytes = vec![0; records.len()];
    survivors.iter().for_each(|s| bytes[s.list] += u64::from(records[s.list][s.number].bytes));
    bytes
}

/// Who has most of what survived: the first of several.
fn writer(bytes: &[u64]) -> usize {
    (0..bytes.len()).max_by_key(|&rank| (bytes[rank], std::cmp::Reverse(rank))).unwrap_or(0)
}

/// Our results that survived, in order.
pub fn survived(batch: &Batch, survivors: &[Survivor], me: usize) -> Vec<u8> {
    let mut starts = Vec::with_capacity(batch.records.len());
    let mut at = 0;
    for record in &batch.records {
        starts.push(at);
        at += record.bytes as usize;
    }
    let mut text = Vec::new();
    for survivor in survivors.iter().filter(|survivor| survivor.list == me) {
        let start = starts[survivor.number];
        text.extend_from_slice(&batch.text[start..start + batch.records[survivor.number].bytes as usize]);
    }
    text
}

/// All that survived, in the order of the merge, and what stands between; `texts[r]` is what rank r has of it.
pub fn in_order(
    records: &[Vec<Record>],
    survivors: &[Survivor],
    texts: &[Vec<u8>],
    pieces: &[(usize, Vec<u8>)],
) -> Vec<u8> {
    let mut at = vec![0; texts.len()];
    let mut text = Vec::with_capacity(texts.iter().map(Vec::len).sum());
    let mut pieces = pieces.iter().peekable();
    for place in 0..=survivors.len() {
        while let Some((_, piece)) = pieces.next_if(|(before, _)| *before <= place) {
            text.extend_from_slice(piece);
        }
        let Some(survivor) = survivors.get(place) else { break };
        let bytes = records[survivor.list][survivor.number].bytes as usize;
        text.extend_from_slice(&texts[survivor.list][at[survivor.list]..at[survivor.list] + bytes]);
        at[survivor.list] += bytes;
    }
    text
}
