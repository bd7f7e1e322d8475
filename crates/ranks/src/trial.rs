//! A self-test: which variant is the fastest over these ranks. All ranks get the same figures, and so make the same
//! choice.

use crate::exchange::{self, ExchangeError, Output, RankReport, Settings, Sync, Variant};
use crate::made_up::MadeUp;
use crate::transport::{Reach, Transport, TransportError};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What the others are compared with. It needs nothing of an MPI but messages.
pub const BASELINE: Variant = Variant::TwoSided;
/// What may be better: of the one-sided variants the one with the fewest calls that nothing can interrupt. Fences and
/// epochs block in the library; here that are only the making of windows and flushes.
const CANDIDATE: Variant = Variant::OneSided { sync: Sync::Flush, window_per_rank: false };
/// It must be better by this much: less is noise.
const CLEARLY: f64 = 0.9;
/// The most memory that windows of a rank may take.
const MOST_WINDOWS: usize = 256 << 20;
/// No further round is begun after this time, nor after so many.
const ENOUGH: Duration = Duration::from_millis(500);
const MOST_ROUNDS: usize = 5;
/// Batches of a round, and records of a batch over all ranks.
const BATCHES: u64 = 6;
const RECORDS: usize = 8192;

/// What a variant took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The variant.
    pub variant: Variant,
    /// Seconds for a batch that nobody had to search for, of the slowest rank; the median of some rounds. None if it
    /// cannot be used.
    pub batch_s: Option<f64>,
    /// Why not.
    pub fault: Option<String>,
}

/// Tries the variants that are safe to try, for a second or so; all ranks come to it. Nothing is tried with one rank.
///
/// # Errors
/// Ranks that cannot go on together. A variant that the library refuses on some rank is no error: it is left out on
/// all.
pub fn try_variants(transport: &dyn Transport) -> Result<Vec<Tried>, ExchangeError> {
    if transport.size() == 1 {
        return Ok(Vec::new());
    }
    let fault = match windows_fit(transport.size()) {
        true => refusal(transport)?,
        false => Some("its windows would take too much memory on each rank".to_owned()),
    };
    let mut variants = vec![BASELINE];
    variants.extend(fault.is_none().then_some(CANDIDATE));
    let times = rounds(transport, &variants)?;
    let median = |number: usize| {
        let mut of: Vec<f64> = times.iter().map(|round| round[number]).collect();
        of.sort_by(f64::total_cmp);
        of.get(of.len() / 2).copied()
    };
    let tried = variants.iter().enumerate();
    let mut tried: Vec<Tried> =
        tried.map(|(number, &variant)| Tried { variant, batch_s: median(number), fault: None }).collect();
    tried.extend(fault.map(|fault| Tried { variant: CANDIDATE, batch_s: None, fault: Some(fault) }));
    Ok(tried)
}

/// What is known when the self-test does not come back from the library.
pub fn hung() -> Vec<Tried> {
    let fault = Some("the self-test did not come back from it".to_owned());
    vec![Tried { variant: CANDIDATE, batch_s: None, fault }]
}

/// The variant to take: the fastest, if it is clearly faster than the baseline.
pub fn best(tried: &[Tried]) -> Variant {
    let time = |one: &Tried| one.batch_s.unwrap_or(f64::INFINITY);
    let baseline = tried.iter().find(|one| one.variant == BASELINE).map_or(f64::INFINITY, time);
    let better = tried.iter().filter(|one| time(one) < CLEARLY * baseline);
    better.min_by(|a, b| time(a).total_cmp(&time(b))).map_or(BASELINE, |one| one.variant)
}

fn windows_fit(ranks: usize) -> bool {
    let settings = Settings::new(CANDIDATE, 1);
    exchange::CHANNELS * (ranks * settings.record_room + settings.result_room) <= MOST_WINDOWS
}

/// Why windows cannot be used, if some rank finds that: each makes one, puts to its neighbour and gets it back.
fn refusal(transport: &dyn Transport) -> Result<Option<String>, TransportError> {
    let next = (transport.rank() + 1) % transport.size();
    let probe = || {
        let window = transport.window(64, Reach::Passive)?;
        window.put(next, 0, vec![1; 8])?;
        window.flush(next)?;
        window.get(next, 0, 8)?;
        Ok::<_, TransportError>(window)
    };
    let made = probe();
    let said = made.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let all = transport.all_gather(said.as_bytes())?;
    let fault = all.iter().find(|said| !said.is_empty()).map(|said| String::from_utf8_lossy(said).into_owned());
    match (fault, made) {
        (None, Ok(window)) => window.close().map(|()| None),
        // A window that was made stays: not all would come to close it.
        (fault, _) => Ok(fault),
    }
}

/// Seconds for a batch, by round and variant. When it is enough is decided by times that all ranks know.
fn rounds(transport: &dyn Transport, variants: &[Variant]) -> Result<Vec<Vec<f64>>, ExchangeError> {
    let queries = 32;
    let hits = (RECORDS / transport.size()).clamp(32, 1024) as f64 / f64::from(queries);
    let work = MadeUp { batches: BATCHES, queries, hits, result_bytes: 100, search_s: 0.0, skew: 2.0 };
    let (mut times, mut spent) = (Vec::new(), Duration::ZERO);
    // The first round warms up, and does not count.
    for round in 0..=MOST_ROUNDS {
        let begun = Instant::now();
        let mine = variants.iter().map(|&variant| batch_s(transport, variant, &work)).collect::<Result<Vec<_>, _>>()?;
        let own: Vec<u8> = mine.iter().chain([&begun.elapsed().as_secs_f64()]).flat_map(|s| s.to_le_bytes()).collect();
        let mut slowest = vec![0.0f64; variants.len() + 1];
        for rank in transport.all_gather(&own)? {
            for (slowest, bytes) in slowest.iter_mut().zip(rank.chunks_exact(8)) {
                *slowest = slowest.max(f64::from_le_bytes(std::array::from_fn(|i| bytes[i])));
            }
        }
        spent += Duration::from_secs_f64(slowest.pop().unwrap_or(0.0));
        if round > 0 {
            times.push(slowest);
        }
        if spent > ENOUGH && !times.is_empty() {
            break;
        }
    }
    Ok(times)
}

/// Seconds for a batch on this rank; making windows is not in it, for a search does that once.
fn batch_s(transport: &dyn Transport, variant: Variant, work: &MadeUp) -> Result<f64, ExchangeError> {
    let batches: Vec<_> = (0..work.batches).map(|batch| work.batch(transport.rank(), batch)).collect();
    let (mut batches, room) = (batches.into_iter(), 1 << 18);
    let settings = Settings { record_room: room, result_room: room, ..Settings::new(variant, 25) };
    transport.barrier()?;
    let (report, _) = exchange::run(transport, settings, (0, 0), &mut || Ok(batches.next()), &mut Nowhere)?;
    Ok(exchanging(&report).as_secs_f64() / work.batches as f64)
}

fn exchanging(report: &RankReport) -> Duration {
    let times = &report.times;
    times.put + times.wait + times.merge + times.get
}

struct Nowhere;

impl Output for Nowhere {
    fn write(&mut self, _: u64, _: u64, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Window;
    use crate::twin::Twin;

    fn tried(variant: Variant, batch_s: Option<f64>) -> Tried {
        Tried { variant, batch_s, fault: None }
    }

    #[test]
    fn the_baseline_stays_unless_another_is_clearly_faster() {
        assert_eq!(best(&[]), BASELINE);
        assert_eq!(best(&[tried(BASELINE, Some(1.0)), tried(CANDIDATE, Some(0.95))]), BASELINE);
        assert_eq!(best(&[tried(BASELINE, Some(1.0)), tried(CANDIDATE, Some(0.8))]), CANDIDATE);
        assert_eq!(best(&[tried(BASELINE, Some(1.0)), tried(CANDIDATE, None)]), BASELINE);
        assert!(windows_fit(64) && !windows_fit(1024));
    }

    /// A transport on which one rank cannot make windows.
    struct Poor(Twin);

    impl Transport for Poor {
        fn rank(&self) -> usize {
            self.0.rank()
        }
        fn size(&self) -> usize {
            self.0.size()
        }
        fn name(&self) -> String {
            self.0.name()
        }
        fn barrier(&self) -> Result<(), TransportError> {
            self.0.barrier()
        }
        fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, TransportError> {
            self.0.all_gather(mine)
        }
        fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
            self.0.send(to, tag, bytes)
        }
        fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
            self.0.try_receive(from, tag)
        }
        fn window(&self, bytes: usize, reach: Reach) -> Result<Box<dyn Window + '_>, TransportError> {
            let window = self.0.window(bytes, reach)?;
            match self.rank() {
                1 => Err(TransportError::Library { call: "window", said: "no such thing".to_owned() }),
                _ => Ok(window),
            }
        }
        fn poll(&self) -> Result<(), TransportError> {
            self.0.poll()
        }
        fn limit(&self) -> Duration {
            self.0.limit()
        }
    }

    /// Runs the self-test on so many ranks.
    fn on_ranks<T: Transport + Send>(wrap: fn(Twin) -> T, size: usize) -> Vec<Vec<Tried>> {
        let ranks = Twin::ranks(size, Duration::from_secs(60));
        std::thread::scope(|scope| {
            let start = |twin: Twin| scope.spawn(move || try_variants(&wrap(twin)).unwrap());
            let threads: Vec<_> = ranks.into_iter().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_ranks_see_the_same_figures_and_choose_the_same() {
        for size in [2, 3, 5] {
            let all = on_ranks(|twin| twin, size);
            assert_eq!(all[0].len(), 2);
            assert!(all[0].iter().all(|one| one.batch_s.is_some_and(|time| time > 0.0) && one.fault.is_none()));
            assert!(all.iter().all(|other| other == &all[0] && best(other) == best(&all[0])), "{all:?}");
        }
        assert_eq!(on_ranks(|twin| twin, 1), vec![vec![]], "one rank tries nothing");
    }

    #[test]
    fn what_one_rank_cannot_do_none_does() {
        let all = on_ranks(Poor, 3);
        assert!(all.iter().all(|other| other == &all[0]), "{all:?}");
        assert_eq!(best(&all[0]), BASELINE);
        let refused = all[0].iter().find(|one| one.variant == CANDIDATE).unwrap();
        assert!(refused.batch_s.is_none() && refused.fault.as_ref().unwrap().contains("no such thing"));
    }
}
