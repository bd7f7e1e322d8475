//! What single calls of a transport take, and the work of a batch: what [the model](super::model) is fed with.

use super::made_up;
use super::model::Costs;
use std::time::{Duration, Instant};
use zerohop_ranks::exchange::{Batch, ExchangeError, Output, Record, bytes_by_rank, in_order, merge, survived};
use zerohop_ranks::transport::{Reach, Transport, TransportError, Window};
use zerohop_ranks::{receive, wait_for};

/// How often each call is tried; the median counts, but for what only computes.
const TRIES: usize = 25;
/// Bytes that are few, and many.
const FEW: usize = 64;
const MANY: usize = 1 << 20;
/// Bytes of a window as the exchange makes them.
const LARGE_WINDOW: usize = 16 << 20;
const TAG: u32 = 50;
/// How long a rank lets the other wait to see how late that one looks.
const SILENCE: Duration = Duration::from_millis(3);
/// Records of a batch on which the merge is measured.
const RECORDS: u32 = 4096;

/// Measures for less than a second or so; all ranks come to it. The answer of rank 0 is the one that counts: it takes
/// part in everything. `output` is written to at its beginning. All ranks share `cores`, if there is a number: what
/// they do all at the same time takes longer then, and counts as if each had a core of its own.
///
/// # Errors
/// [`ExchangeError`].
pub fn calibrate(
    transport: &dyn Transport,
    output: &mut dyn Output,
    cores: Option<usize>,
) -> Result<Costs, ExchangeError> {
    let ranks_on_core = cores.map_or(1.0, |cores| (transport.size() as f64 / cores.max(1) as f64).max(1.0));
    let mut costs = Costs::default();
    if transport.rank() == 0 {
        // Alone: ranks may outnumber cores.
        costs.oversleep_s = median(TRIES, oversleep)?;
        merging(&mut costs)?;
        writing(&mut costs, output)?;
    }
    transport.barrier()?;
    if transport.size() > 1 {
        messages(transport, &mut costs)?;
        windows(transport, ranks_on_core, &mut costs)?;
        one_sided(transport, &mut costs)?;
        meetings(transport, ranks_on_core, &mut costs)?;
    }
    Ok(costs)
}

/// The median of what `measure` gives, in seconds.
fn median<E>(tries: usize, mut measure: impl FnMut() -> Result<Duration, E>) -> Result<f64, E> {
    let mut times = (0..tries).map(|_| measure()).collect::<Result<Vec<_>, E>>()?;
    times.sort_unstable();
    Ok(times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64))
}

/// The least of it: of what only computes, all else is the work of others.
fn least<E>(tries: usize, mut measure: impl FnMut() -> Result<Duration, E>) -> Result<f64, E> {
    let times = (0..tries).map(|_| measure()).collect::<Result<Vec<_>, E>>()?;
    Ok(times.into_iter().min().unwrap_or_default().as_secs_f64())
}

fn timed<E>(what: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let begun = Instant::now();
    what()?;
    Ok(begun.elapsed())
}

/// What a byte more takes.
fn per_byte(few_s: f64, many_s: f64) -> f64 {
    (many_s - few_s).max(0.0) / (MANY - FEW) as f64
}

fn oversleep() -> Result<Duration, ExchangeError> {
    let asked = Duration::from_millis(2);
    let slept = timed(|| {
        std::thread::sleep(asked);
        Ok::<_, ExchangeError>(())
    })?;
    Ok(slept.saturating_sub(asked))
}

/// What is done with a batch, the way of its bytes aside: two ranks and many, small results and large ones.
fn merging(costs: &mut Costs) -> Result<(), ExchangeError> {
    let time = |ranks: u32, bytes: u32| {
        let of = |rank: usize| made_up::results(rank, 0, 64, &|_| RECORDS / ranks / 64, &|_| bytes);
        let batches: Vec<Batch> = (0..ranks as usize).map(of).collect();
        let packed: Vec<Vec<u8>> = batches.iter().map(|batch| Record::pack(&batch.records)).collect();
        least(9, || {
            timed(|| {
                let records: Vec<Vec<Record>> = packed.iter().map(|bytes| Record::all(bytes)).collect();
                let survivors = merge(&records, Record::order, usize::MAX);
                std::hint::black_box(bytes_by_rank(&records, &survivors));
                let text = |(rank, batch): (usize, &Batch)| survived(batch, &survivors, rank);
                let texts: Vec<Vec<u8>> = batches.iter().enumerate().map(text).collect();
                std::hint::black_box(in_order(&records, &survivors, &texts, &[]));
                Ok::<_, ExchangeError>(())
            })
        })
    };
    let records = f64::from(RECORDS);
    let (two, most, long) = (time(2, 1)?, time(64, 1)?, time(2, 1001)?);
    // From 2 ranks to 64 their number doubles five times, and once to 2.
    costs.record_doubling_s = (most - two).max(0.0) / records / 5.0;
    costs.record_s = (two / records - costs.record_doubling_s).max(0.0);
    costs.text_byte_s = (long - two).max(0.0) / records / 1000.0;
    Ok(())
}

fn writing(costs: &mut Costs, output: &mut dyn Output) -> Result<(), ExchangeError> {
    let mut write = |bytes: usize| {
        let text = vec![b'\n'; bytes];
        median(TRIES, || timed(|| output.write(0, 0, &text).map_err(ExchangeError::from)))
    };
    costs.write_s = write(FEW)?;
    costs.write_byte_s = per_byte(costs.write_s, write(MANY)?);
    Ok(())
}

/// Ranks 0 and 1 send to and fro, while the others wait.
fn messages(transport: &dyn Transport, costs: &mut Costs) -> Result<(), TransportError> {
    let round = |bytes: usize| ping_pong(transport, || Ok(vec![0; bytes]));
    let few = round(FEW)? / 2.0;
    costs.message_s = few;
    costs.message_byte_s = per_byte(few, round(MANY)? / 2.0);
    costs.send_s = sending(transport)?;
    costs.notice_s = (silence(transport)? - 2.0 * few).max(0.0);
    transport.barrier()
}

/// Seconds for there and back, of rank 0; the others have no answer. `bytes` makes what is sent.
fn ping_pong(
    transport: &dyn Transport,
    bytes: impl Fn() -> Result<Vec<u8>, TransportError>,
) -> Result<f64, TransportError> {
    median(TRIES, || {
        let message = bytes()?;
        timed(|| match transport.rank() {
            0 => {
                transport.send(1, TAG, message)?;
                receive(transport, 1, TAG).map(drop)
            }
            1 => {
                receive(transport, 0, TAG)?;
                transport.send(0, TAG, message)
            }
            _ => Ok(()),
        })
    })
}

/// Seconds in the call that sends.
fn sending(transport: &dyn Transport) -> Result<f64, TransportError> {
    median(TRIES, || match transport.rank() {
        0 => {
            let message = vec![0; FEW];
            let time = timed(|| transport.send(1, TAG, message))?;
            receive(transport, 1, TAG)?;
            Ok(time)
        }
        1 => {
            receive(transport, 0, TAG)?;
            transport.send(0, TAG, Vec::new())?;
            Ok(Duration::ZERO)
        }
        _ => Ok(Duration::ZERO),
    })
}

/// There and back, when rank 1 says nothing for a while and then tells how long that was; without that while.
fn silence(transport: &dyn Transport) -> Result<f64, TransportError> {
    median(TRIES, || match transport.rank() {
        0 => {
            let begun = Instant::now();
            transport.send(1, TAG, Vec::new())?;
            let silent = receive(transport, 1, TAG)?;
            let silent = silent.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
            Ok(begun.elapsed().saturating_sub(Duration::from_nanos(silent)))
        }
        1 => {
            receive(transport, 0, TAG)?;
            let begun = Instant::now();
            std::thread::sleep(SILENCE);
            transport.send(0, TAG, (begun.elapsed().as_nanos() as u64).to_le_bytes().to_vec())?;
            Ok(Duration::ZERO)
        }
        _ => Ok(Duration::ZERO),
    })
}

/// Making and closing windows.
fn windows(transport: &dyn Transport, ranks_on_core: f64, costs: &mut Costs) -> Result<(), TransportError> {
    let make = |bytes: usize| median(3, || timed(|| transport.window(bytes, Reach::Passive)?.close()));
    let (few, large) = (make(FEW)?, make(LARGE_WINDOW)?);
    costs.window_s = few / doublings(transport) / ranks_on_core;
    costs.window_byte_s = (large - few).max(0.0) / LARGE_WINDOW as f64 / ranks_on_core;
    Ok(())
}

/// Rank 0 puts into the memory of rank 1 and gets from it, and the two set flags to and fro; the others wait.
fn one_sided(transport: &dyn Transport, costs: &mut Costs) -> Result<(), TransportError> {
    let window = transport.window(MANY, Reach::Passive)?;
    let put = |bytes: usize| {
        let message = vec![0; bytes];
        timed(|| window.put(1, 0, message).and_then(|()| window.flush(1)))
    };
    let get = |bytes: usize| timed(|| window.get(1, 0, bytes).map(drop));
    if transport.rank() == 0 {
        costs.flush_s = median(TRIES, || put(FEW))?;
        costs.put_byte_s = per_byte(costs.flush_s, median(TRIES, || put(MANY))?);
        costs.get_s = median(TRIES, || get(FEW))?;
        costs.get_byte_s = per_byte(costs.get_s, median(TRIES, || get(MANY))?);
    }
    transport.barrier()?;
    costs.flag_s = flags(transport)? / 2.0;
    transport.barrier()?;
    window.close()
}

/// Seconds for a flag to rank 1 and one back, of rank 0.
fn flags(transport: &dyn Transport) -> Result<f64, TransportError> {
    let window = transport.window(FEW, Reach::Passive)?;
    let set = |rank: usize, value: u64| {
        window.replace(rank, 0, value)?;
        window.flush(rank)
    };
    let mut value = 0;
    let time = median(TRIES, || {
        value += 1;
        timed(|| match transport.rank() {
            0 => {
                set(1, value)?;
                await_flag(transport, &*window, value)
            }
            1 => {
                await_flag(transport, &*window, value)?;
                set(0, value)
            }
            _ => Ok(()),
        })
    })?;
    transport.barrier()?;
    window.close()?;
    Ok(time)
}

fn await_flag(transport: &dyn Transport, window: &dyn Window, value: u64) -> Result<(), TransportError> {
    wait_for(transport, &|| "the other rank".to_owned(), || {
        transport.poll()?;
        Ok((window.fetch(0)? >= value).then_some(()))
    })
}

/// How often the number of ranks doubles.
fn doublings(transport: &dyn Transport) -> f64 {
    (transport.size() as f64).log2().ceil().max(1.0)
}

/// What all ranks do together.
fn meetings(transport: &dyn Transport, ranks_on_core: f64, costs: &mut Costs) -> Result<(), TransportError> {
    let barrier = median(TRIES, || timed(|| transport.barrier()))?;
    let window = transport.window(FEW, Reach::Active)?;
    let fence = median(TRIES, || timed(|| window.fence()))?;
    window.close()?;
    let others: Vec<usize> = (0..transport.size()).filter(|&rank| rank != transport.rank()).collect();
    let window = transport.window(FEW, Reach::Active)?;
    let epoch = median(TRIES, || {
        timed(|| {
            window.post(&others)?;
            window.start(&others)?;
            window.complete()?;
            window.wait()
        })
    })?;
    window.close()?;
    costs.barrier_s = barrier / doublings(transport);
    costs.fence_s = fence / doublings(transport);
    costs.epoch_s = (epoch - barrier).max(0.0) / others.len() as f64 / ranks_on_core;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_ranks::Twin;

    struct Nowhere;

    impl Output for Nowhere {
        fn write(&mut self, _: u64, _: u64, _: &[u8]) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_ranks_come_through_and_rank_0_has_what_it_needs() {
        for size in [1, 2, 3] {
            let ranks = Twin::ranks(size, Duration::from_secs(60));
            let costs: Vec<Costs> = std::thread::scope(|scope| {
                let start = |twin: Twin| scope.spawn(move || calibrate(&twin, &mut Nowhere, Some(2)).unwrap());
                let threads: Vec<_> = ranks.into_iter().map(start).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let first = costs[0];
            assert!(first.record_s + first.record_doubling_s > 0.0, "{first:?}");
            let way = [first.message_s, first.flag_s, first.barrier_s, first.fence_s, first.window_s];
            assert!(way.iter().all(|seconds| (*seconds > 0.0) == (size > 1)), "{first:?}");
        }
    }
}
