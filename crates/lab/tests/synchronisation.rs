//! Every synchronisation of the exchange is needed: without any one of them the exchange between threads fails, or
//! gives another output, in every variant that has it.
//!
//! The threads' windows are as late as MPI allows (crates/ranks/src/twin/window.rs), and [`Without`] leaves out all
//! calls of one [`Site`]. The sites of each variant are found by a run with all of them; that they are those of
//! [`expected`] is asserted, so this is a list of what synchronises what. What none of them is about need not be tried:
//! the calls of two-sided and master only send and receive.
#![allow(clippy::unwrap_used)]

#[path = "../../ranks/tests/made_up/mod.rs"]
mod made_up;

use made_up::{Job, expected as expected_output};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;
use zerohop_lab::exchange::{self, Settings, Sync, Variant};
use zerohop_ranks::transport::Window;
use zerohop_ranks::{Reach, Transport, TransportError, Twin};

/// Rooms of different sizes, by which windows are told apart; small, so that much goes in pieces.
const RECORD_ROOM: usize = 8 + 2 * 32;
const RESULT_ROOM: usize = 50;
const RANKS: usize = 3;
/// Two flags for each of two channels and each rank.
const FLAG_BYTES: usize = 2 * 2 * RANKS * 8;

/// A place in the exchange that synchronises: the call, what the window is for, and what tells apart several such
/// calls: of a fence, which it is in a round; of a flag, what it is about.
type Site = (&'static str, &'static str, &'static str);

/// What each variant must have.
fn expected(variant: Variant) -> BTreeSet<Site> {
    let Variant::OneSided { sync, .. } = variant else { return BTreeSet::new() };
    let of_results = [
        ("sync", "results", ""),
        ("replace", "result flags", "given"),
        ("replace", "result flags", "taken"),
        ("flush", "result flags", ""),
        ("fetch", "result flags", "given"),
        ("fetch", "result flags", "taken"),
    ];
    let of_records: &[Site] = match sync {
        Sync::Fence => {
            &[("fence", "records", "first"), ("fence", "records", "before reads"), ("fence", "records", "after reads")]
        }
        Sync::Pscw => {
            &[("post", "records", ""), ("start", "records", ""), ("complete", "records", ""), ("wait", "records", "")]
        }
        Sync::Flush => &[
            ("flush", "records", ""),
            ("sync", "records", ""),
            ("replace", "record flags", "given"),
            ("replace", "record flags", "taken"),
            ("flush", "record flags", ""),
            ("fetch", "record flags", "given"),
            ("fetch", "record flags", "taken"),
        ],
    };
    of_results.iter().chain(of_records).copied().collect()
}

/// A transport that leaves out the calls of one site, and notes all sites that it has seen.
struct Without {
    twin: Twin,
    left_out: Option<Site>,
    seen: RefCell<BTreeSet<Site>>,
    /// Windows of flags that were made.
    of_flags: Cell<usize>,
    /// Windows of flags before those of results.
    of_record_flags: usize,
}

impl Without {
    /// Whether a call is to be made.
    fn is_made(&self, site: Site) -> bool {
        self.seen.borrow_mut().insert(site);
        self.left_out != Some(site)
    }

    fn role(&self, bytes: usize) -> &'static str {
        match bytes {
            RESULT_ROOM => "results",
            FLAG_BYTES => {
                self.of_flags.set(self.of_flags.get() + 1);
                if self.of_flags.get() > self.of_record_flags { "result flags" } else { "record flags" }
            }
            _ => "records",
        }
    }
}

impl Transport for Without {
    fn rank(&self) -> usize {
        self.twin.rank()
    }
    fn size(&self) -> usize {
        self.twin.size()
    }
    fn name(&self) -> String {
        self.twin.name()
    }
    fn barrier(&self) -> Result<(), TransportError> {
        // It would be a synchronisation, too; the exchange has none.
        if self.is_made(("barrier", "", "")) { self.twin.barrier() } else { Ok(()) }
    }
    fn all_gather(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, TransportError> {
        self.twin.all_gather(mine)
    }
    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), TransportError> {
        self.twin.send(to, tag, bytes)
    }
    fn try_receive(&self, from: usize, tag: u32) -> Result<Option<Vec<u8>>, TransportError> {
        self.twin.try_receive(from, tag)
    }
    fn window(&self, bytes: usize, reach: Reach) -> Result<Box<dyn Window + '_>, TransportError> {
        let (window, role) = (self.twin.window(bytes, reach)?, self.role(bytes));
        Ok(Box::new(WindowWithout { without: self, window, role, fences: Cell::new(0) }))
    }
    fn poll(&self) -> Result<(), TransportError> {
        self.twin.poll()
    }
    fn limit(&self) -> Duration {
        self.twin.limit()
    }
}

struct WindowWithout<'w> {
    without: &'w Without,
    window: Box<dyn Window + 'w>,
    role: &'static str,
    fences: Cell<usize>,
}

impl WindowWithout<'_> {
    fn is_made(&self, call: &'static str, which: &'static str) -> bool {
        self.without.is_made((call, self.role, which))
    }

    fn unless_left_out(
        &self,
        call: &'static str,
        make: impl FnOnce(&dyn Window) -> Result<(), TransportError>,
    ) -> Result<(), TransportError> {
        if self.is_made(call, "") { make(&*self.window) } else { Ok(()) }
    }
}

/// What a flag is about, by its place.
fn about(offset: usize) -> &'static str {
    if offset < FLAG_BYTES / 2 { "given" } else { "taken" }
}

impl Window for WindowWithout<'_> {
    fn put(&self, rank: usize, offset: usize, bytes: Vec<u8>) -> Result<(), TransportError> {
        self.window.put(rank, offset, bytes)
    }
    fn get(&self, rank: usize, offset: usize, bytes: usize) -> Result<Vec<u8>, TransportError> {
        self.window.get(rank, offset, bytes)
    }
    fn fetch_add(&self, rank: usize, offset: usize, value: u64) -> Result<u64, TransportError> {
        self.window.fetch_add(rank, offset, value)
    }
    fn replace(&self, rank: usize, offset: usize, value: u64) -> Result<(), TransportError> {
        if self.is_made("replace", about(offset)) { self.window.replace(rank, offset, value) } else { Ok(()) }
    }
    fn fetch(&self, offset: usize) -> Result<u64, TransportError> {
        // Nobody waits for a flag that seems to be as far as it ever gets.
        if self.is_made("fetch", about(offset)) { self.window.fetch(offset) } else { Ok(u64::MAX) }
    }
    fn flush(&self, rank: usize) -> Result<(), TransportError> {
        self.unless_left_out("flush", |window| window.flush(rank))
    }
    fn sync(&self) -> Result<(), TransportError> {
        self.unless_left_out("sync", |window| window.sync())
    }
    fn fence(&self) -> Result<(), TransportError> {
        let which = match self.fences.get() {
            0 => "first",
            odd if odd % 2 == 1 => "before reads",
            _ => "after reads",
        };
        self.fences.set(self.fences.get() + 1);
        if self.is_made("fence", which) { self.window.fence() } else { Ok(()) }
    }
    fn post(&self, sources: &[usize]) -> Result<(), TransportError> {
        self.unless_left_out("post", |window| window.post(sources))
    }
    fn start(&self, targets: &[usize]) -> Result<(), TransportError> {
        self.unless_left_out("start", |window| window.start(targets))
    }
    fn complete(&self) -> Result<(), TransportError> {
        self.unless_left_out("complete", |window| window.complete())
    }
    fn wait(&self) -> Result<(), TransportError> {
        self.unless_left_out("wait", |window| window.wait())
    }
    fn close(self: Box<Self>) -> Result<(), TransportError> {
        self.window.close()
    }
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), TransportError> {
        self.window.read(offset, into)
    }
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), TransportError> {
        self.window.write(offset, bytes)
    }
}

/// The exchange of all ranks without a site: the sites that were seen, and whether all went well.
fn run(variant: Variant, left_out: Option<Site>, limit: Duration) -> (BTreeSet<Site>, Result<(), String>) {
    let job = Job { seed: 3, batches: 9, ranks: RANKS, most: 3 };
    let settings = Settings { record_room: RECORD_ROOM, result_room: RESULT_ROOM, ..Settings::new(variant, job.most) };
    let output = made_up::Memory::default();
    let is_flush = matches!(variant, Variant::OneSided { sync: Sync::Flush, .. });
    let work = |twin: Twin, mut output: made_up::Memory| {
        let (seen, of_flags) = Default::default();
        let without = Without { twin, left_out, seen, of_flags, of_record_flags: usize::from(is_flush) };
        let mut number = 0;
        let mut next = || {
            number += 1;
            Ok((number <= job.batches).then(|| job.batch(without.rank(), number - 1)))
        };
        let outcome = exchange::run(&without, settings, (0, 0), &mut next, &mut output);
        if outcome.is_err() {
            without.twin.fail();
        }
        (without.seen.into_inner(), outcome.map(drop).map_err(|error| error.to_string()))
    };
    let ranks: Vec<_> = std::thread::scope(|scope| {
        let start = |twin| {
            let output = output.clone();
            scope.spawn(|| work(twin, output))
        };
        let threads: Vec<_> = Twin::ranks(RANKS, limit).into_iter().map(start).collect();
        // What was not synchronised may be anything, and a panic is a failure as well.
        threads.into_iter().map(|thread| thread.join().unwrap_or((BTreeSet::new(), Err("panic".to_owned())))).collect()
    });
    let (seen, outcomes): (Vec<_>, Vec<_>) = ranks.into_iter().unzip();
    let mut failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if failures.is_empty() && *output.0.lock().unwrap() != expected_output(job) {
        failures.push("another output".to_owned());
    }
    // Of several ranks that fail, what made the others fail.
    failures.sort_by_key(|failure| *failure == TransportError::PeerFailed.to_string());
    (seen.into_iter().flatten().collect(), failures.into_iter().next().map_or(Ok(()), Err))
}

#[test]
fn without_any_one_synchronisation_every_variant_fails() {
    // All at once: some wait for what never comes.
    std::thread::scope(|scope| {
        for variant in Variant::ALL {
            let (sites, outcome) = run(variant, None, Duration::from_secs(60));
            assert_eq!(outcome, Ok(()), "{variant}");
            assert_eq!(sites, expected(variant), "{variant}");
            for site in sites {
                scope.spawn(move || {
                    let (_, outcome) = run(variant, Some(site), Duration::from_secs(5));
                    let failure = outcome.expect_err(&format!("{variant} does not need {site:?}"));
                    println!("{variant}: without {site:?}: {failure}");
                });
            }
        }
    });
}
