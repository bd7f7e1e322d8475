//! An engine whose second phase needs statistics of the whole cohort, against its sequential twin: over numbers of
//! workers, sizes of cohorts and pieces, kinds of lanes and orders, and with a fault in every phase.
#![allow(clippy::unwrap_used, clippy::panic)]

mod made_up;

use made_up::Memory;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::{Chunk, ReadSpans, Span, Ticket};
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;
use zerohop_model::mapper::{Phased, Phases};
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};
use zerohop_model::record::{Contig, Locus};
use zerohop_model::sink::{Encoder, OfRead, OutputAccess, Sink};
use zerohop_model::source::{Claim, Claimed, Deal, Emit, Emitted, Lane, Parse};
use zerohop_runtime::{Job, Mapping, Order, Progress, ReplicaMap, run};

/// Bases of the read and of its mate.
type Fragment = (usize, Option<usize>);

/// Where the engine fails: in lane 0, cohort 1, piece 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    First,
    Combine,
    Second,
    /// Pieces from there on never come, and the lane ends.
    Missing,
}

#[derive(Debug, Clone)]
struct Case {
    lanes: Vec<Vec<Fragment>>,
    /// Which lanes have an emitter.
    emitted: Vec<bool>,
    cut: Cut,
    workers: usize,
    order: Order,
    access: OutputAccess,
    files: usize,
    /// Finished chunks that a worker may hold.
    held: usize,
    fault: Fault,
    /// Whether a fault is a panic.
    panics: bool,
    /// Whether workers go over to other copies all the time.
    moves: bool,
}

impl Case {
    fn fails_at(&self, ticket: Ticket) -> bool {
        (ticket.lane, ticket.cohort, ticket.piece) == (0, 1, 1)
    }
}

/// Its alignments say how many bases its cohort has, and the number of the fragment's first read in the input.
struct Sums(Arc<Case>);

impl Engine for Sums {
    fn program(&self) -> (&str, &str) {
        ("sums", "0")
    }

    fn cut(&self) -> Cut {
        self.0.cut
    }

    fn max_read_bases(&self) -> usize {
        1000
    }

    fn contigs(&self) -> &[Contig] {
        &[]
    }

    fn index_bytes(&self) -> u64 {
        0
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(Sums(Arc::clone(&self.0))))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(Phased(SumsMapper(&self.0)))
    }
}

struct SumsMapper<'e>(&'e Case);

impl SumsMapper<'_> {
    fn fail(&self, fault: Fault, ticket: Ticket) -> Result<(), Error> {
        if self.0.fault != fault || !self.0.fails_at(ticket) {
            return Ok(());
        }
        // Meanwhile the others come to wait for it.
        std::thread::sleep(Duration::from_millis(30));
        if self.0.panics { panic!("injected") } else { Err(made_up::fault()) }
    }
}

impl Phases for SumsMapper<'_> {
    type Partial = (ThreadId, Ticket);
    type Summary = (Ticket, i32);
    type Statistics = i32;

    fn first(&mut self, chunk: &Chunk) -> Result<(Self::Partial, Self::Summary), Error> {
        let ticket = chunk.ticket;
        self.fail(Fault::First, ticket)?;
        // Pieces take different times, so that they are finished out of order.
        std::thread::sleep(Duration::from_micros(ticket.number * 37 % 11 * 10));
        let bases: usize = chunk.fragments().flat_map(|fragment| fragment.reads()).map(|read| read.seq.len()).sum();
        Ok(((std::thread::current().id(), ticket), (ticket, bases as i32)))
    }

    fn combine(&mut self, summaries: Vec<Self::Summary>) -> Result<i32, Error> {
        let mut sum = 0;
        for (piece, (ticket, bases)) in summaries.iter().enumerate() {
            assert_eq!(ticket.piece as usize, piece, "summaries come in the order of the pieces");
            assert_eq!(ticket.is_last_piece, piece + 1 == summaries.len());
            self.fail(Fault::Combine, *ticket)?;
            sum += bases;
        }
        Ok(sum)
    }

    fn second(
        &mut self,
        chunk: &Chunk,
        (thread, ticket): Self::Partial,
        sum: &i32,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        assert_eq!(thread, std::thread::current().id(), "a partial stays with its worker");
        assert_eq!(ticket, chunk.ticket, "and with its chunk");
        self.fail(Fault::Second, ticket)?;
        let mut read = ticket.first_read;
        for fragment in chunk.fragments() {
            let locus = Some(Locus { contig: 0, position: read as u32 });
            out.push(Alignment { locus, template_length: *sum, ..Alignment::default() }, [], []);
            // One record stands for a pair.
            out.leave_out(u64::from(fragment.mate.is_some()));
            out.end_fragment();
            read += fragment.reads().count() as u64;
        }
        Ok(())
    }
}

/// A lane that is cut already.
struct Pieces {
    chunks: Vec<(Ticket, Vec<u8>)>,
    reads: u64,
    next: AtomicU64,
    calls: AtomicU64,
}

impl Pieces {
    /// Cuts as [`Cut`] says.
    fn new(lane: u32, fragments: &[Fragment], case: &Case) -> Self {
        let (mut chunks, mut text, mut reads) = (Vec::new(), Vec::new(), 0);
        let (mut ticket, mut bases, mut before) = (Ticket { lane, ..Ticket::default() }, 0, 0);
        for (i, &(first, mate)) in fragments.iter().enumerate() {
            let line = format!("{lane}.{i} {} {}\n", "A".repeat(first), "C".repeat(mate.unwrap_or(0)));
            text.extend_from_slice(line.as_bytes());
            bases += (first + mate.unwrap_or(0)) as u64;
            reads += 1 + u64::from(mate.is_some());
            let is_last = i + 1 == fragments.len();
            if bases < case.cut.next_chunk_closes_at(before) && !is_last {
                continue;
            }
            ticket.is_last_piece = is_last || before + bases >= case.cut.closes_at_bases;
            if case.fault == Fault::Missing && case.fails_at(ticket) {
                break;
            }
            chunks.push((ticket, std::mem::take(&mut text)));
            let number = ticket.number + 1;
            let behind = Ticket { number, first_fragment: i as u64 + 1, first_read: reads, ..ticket };
            (ticket, before, bases) = match ticket.is_last_piece {
                true => (Ticket { cohort: ticket.cohort + 1, piece: 0, ..behind }, 0, 0),
                false => (Ticket { piece: ticket.piece + 1, ..behind }, before + bases, 0),
            };
        }
        Pieces { chunks, reads, next: AtomicU64::new(0), calls: AtomicU64::new(0) }
    }

    fn next(&self, chunk: &mut Chunk) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        let Some((ticket, text)) = self.chunks.get(number) else { return false };
        chunk.clear();
        chunk.ticket = *ticket;
        chunk.text[0].bytes.extend_from_slice(text);
        true
    }
}

impl Claim for Pieces {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        // Now and then there is nothing to do.
        if self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 1 {
            return Ok(Claimed::NotYet);
        }
        let end = Claimed::End { chunks: self.chunks.len() as u64, reads: self.reads };
        Ok(if self.next(chunk) { Claimed::Chunk } else { end })
    }

    fn serial_time(&self) -> Duration {
        Duration::ZERO
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}

impl Emit for Pieces {
    fn emit(&mut self, chunk: &mut Chunk, _stop: &AtomicBool) -> Result<Emitted, Error> {
        let end = Emitted::End { chunks: self.chunks.len() as u64, reads: self.reads };
        Ok(if self.next(chunk) { Emitted::Chunk } else { end })
    }

    fn serial_time(&self) -> Duration {
        Duration::ZERO
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}

/// A line is a fragment: a name, bases, and maybe those of a mate.
struct Words;

impl Parse for Words {
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        chunk.forget_reads();
        let (text, mut at) = (chunk.text[0].bytes.clone(), 0);
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let mut spans = line.trim_ascii_end().split(|&byte| byte == b' ').map(|word| {
                let span = Span { start: at, end: at + word.len() as u32 };
                at = span.end + 1;
                span
            });
            let (name, seq, mate) = (spans.next().unwrap(), spans.next().unwrap_or_default(), spans.next());
            let read = |seq| ReadSpans { name, seq, ..ReadSpans::default() };
            chunk.push(read(seq), mate.map(read));
            at = line.as_ptr().addr() as u32 - text.as_ptr().addr() as u32 + line.len() as u32;
        }
        Ok(())
    }
}

/// Writes names and what the engine said.
struct Said(Memory);

impl Sink for Said {
    fn files(&self) -> usize {
        self.0.files()
    }

    fn access(&self) -> OutputAccess {
        self.0.access()
    }

    fn start(&self, file: usize) -> u64 {
        self.0.start(file)
    }

    fn write_at(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.0.write_at(file, offset, bytes)
    }

    fn write_header(&self) -> Result<(), Error> {
        self.0.write_header()
    }

    fn encoder(&self) -> Box<dyn Encoder + '_> {
        Box::new(SaidEncoder(Vec::new()))
    }
}

struct SaidEncoder(Vec<u8>);

impl Encoder for SaidEncoder {
    fn begin(&mut self, _lane: u32, buffer: Vec<u8>) {
        self.0 = buffer;
    }

    fn encode(&mut self, chunk: &Chunk, alignments: &Alignments) -> Result<(), Error> {
        for (i, fragment) in chunk.fragments().enumerate() {
            let said = alignments.fragment(i).next().unwrap().alignment;
            let name = String::from_utf8_lossy(fragment.first.name);
            let line = format!("{name} {} {}\n", said.template_length, said.locus.unwrap().position);
            self.0.extend_from_slice(line.as_bytes());
        }
        Ok(())
    }

    fn line(&mut self, _line: &[u8], _of_read: OfRead<'_>, _is_first: bool) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        Ok(std::mem::take(&mut self.0))
    }
}

/// The lines of all chunks, one fragment after the other: cohorts are added up first, then they are cut.
fn twin(case: &Case) -> Vec<String> {
    let (mut chunks, mut read) = (Vec::new(), 0);
    for (lane, fragments) in case.lanes.iter().enumerate() {
        let bases = |fragment: &Fragment| (fragment.0 + fragment.1.unwrap_or(0)) as u64;
        let (mut sums, mut of, mut open) = (vec![0], Vec::new(), 0);
        for fragment in fragments {
            of.push(open);
            sums[open] += bases(fragment);
            if sums[open] >= case.cut.closes_at_bases {
                sums.push(0);
                open += 1;
            }
        }
        let (mut lines, mut in_chunk) = (String::new(), 0);
        for (i, fragment) in fragments.iter().enumerate() {
            lines += &format!("{lane}.{i} {} {read}\n", sums[of[i]]);
            in_chunk += bases(fragment);
            read += 1 + u64::from(fragment.1.is_some());
            if of.get(i + 1) != Some(&of[i]) || case.cut.piece_bases.is_some_and(|piece| in_chunk >= piece) {
                chunks.push(std::mem::take(&mut lines));
                in_chunk = 0;
            }
        }
    }
    chunks
}

/// Runs a case; fails the test if it does not end. What came of it, and what is in the files.
fn aligned(case: &Case) -> (Result<u64, Error>, Vec<String>) {
    let (send, receive) = channel();
    let case = Arc::new(case.clone());
    let shown = format!("{case:?}");
    std::thread::spawn(move || {
        let lane = |(i, fragments): (usize, &Vec<Fragment>)| {
            let pieces = Box::new(Pieces::new(i as u32, fragments, &case));
            let deal = if case.emitted[i] { Deal::Emit(pieces) } else { Deal::Claim(pieces) };
            Lane { deal, parser: Box::new(Words) }
        };
        let lanes = case.lanes.iter().enumerate().map(lane).collect();
        let files = (0..case.files).map(|_| Mutex::new(b"h\n".to_vec())).collect();
        let sink = Said(Memory { files, access: case.access, fault: made_up::Fault::None });
        let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
        let worker = |_| WorkerPlan { cpus: vec![], node: None, replica: 0 };
        let workers = (0..case.workers).map(worker).collect();
        let plan = Plan { replicas: vec![placement], workers, helper_cpus: vec![], reasons: vec![] };
        let (progress, over) = (Progress::default(), AtomicBool::new(!case.moves));
        let copy = || -> Arc<dyn Engine> { Arc::new(Sums(Arc::clone(&case))) };
        let replicas = ReplicaMap::new((0..case.workers).map(|_| copy()));
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    (0..case.workers).for_each(|worker| replicas.move_to(worker, copy()));
                    std::thread::yield_now();
                }
            });
            let mapping = Mapping::Embedded { replicas: &replicas, sink: &sink, held: case.held };
            let job =
                Job { lanes, mapping, order: case.order, grains: None, plan: &plan, progress: &progress, until: None };
            let outcome = run(job);
            over.store(true, Ordering::Relaxed);
            outcome
        });
        let texts = sink.0.files.iter().map(|file| String::from_utf8(file.lock().unwrap().clone()).unwrap()).collect();
        send.send((outcome.map(|outcome| outcome.report.tally.reads), texts)).unwrap();
    });
    receive.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("it hangs: {shown}"))
}

/// Checks that a case gives what its twin does.
fn check(case: &Case) {
    let (outcome, texts) = aligned(case);
    let reads: u64 = case.lanes.iter().flatten().map(|fragment| 1 + u64::from(fragment.1.is_some())).sum();
    assert_eq!(outcome.unwrap(), reads, "{case:?}");
    let chunks = twin(case);
    if case.order == Order::Input {
        for (i, text) in texts.iter().enumerate() {
            let expected: String = chunks.iter().skip(i).step_by(case.files).map(String::as_str).collect();
            assert_eq!(text, &format!("h\n{expected}"), "{case:?}");
        }
    } else {
        let mut lines: Vec<&str> = texts.iter().flat_map(|text| text[2..].lines()).collect();
        let mut expected: Vec<&str> = chunks.iter().flat_map(|chunk| chunk.lines()).collect();
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected, "{case:?}");
    }
}

/// Single reads or pairs of random lengths.
fn lane() -> impl Strategy<Value = Vec<Fragment>> {
    let lengths = prop_oneof![4 => 1usize..60, 1 => Just(0)];
    let fragments = proptest::collection::vec((lengths, 1usize..60), 0..120);
    (fragments, any::<bool>()).prop_map(|(fragments, is_paired)| {
        fragments.into_iter().map(|(first, mate)| (first, is_paired.then_some(mate))).collect()
    })
}

fn case() -> impl Strategy<Value = Case> {
    let cut = (1u64..2000, proptest::option::weighted(0.9, 1u64..300))
        .prop_map(|(closes_at_bases, piece_bases)| Cut { closes_at_bases, piece_bases });
    let lanes = proptest::collection::vec((lane(), any::<bool>()), 1..4);
    let order = prop_oneof![Just(Order::Input), Just(Order::Any)];
    let access = prop_oneof![Just(OutputAccess::Positioned), Just(OutputAccess::Sequential)];
    let files_and_held = (1usize..=3, prop_oneof![0usize..=2, Just(8)]);
    (lanes, cut, 1usize..=16, order, access, files_and_held, proptest::bool::weighted(0.2)).prop_map(
        |(lanes, cut, workers, order, access, (files, held), moves)| {
            let (lanes, emitted) = lanes.into_iter().unzip();
            let (fault, panics) = (Fault::None, false);
            Case { lanes, emitted, cut, workers, order, access, files, held, fault, panics, moves }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn records_are_those_of_the_sequential_twin(case in case()) {
        check(&case);
    }
}

/// Cohorts of several pieces, more text than may be held, in every kind of run.
fn cases(fault: Fault, panics: bool) -> impl Iterator<Item = Case> {
    let lanes = vec![vec![(50, Some(40)); 200], vec![(50, None); 50]];
    let kinds = [1, 2, 3, 8].into_iter().flat_map(|workers| {
        [[false, false], [true, true], [true, false]].into_iter().map(move |emitted| (workers, emitted))
    });
    kinds.flat_map(move |(workers, emitted)| {
        let lanes = lanes.clone();
        [OutputAccess::Positioned, OutputAccess::Sequential].into_iter().map(move |access| Case {
            lanes: lanes.clone(),
            emitted: emitted.to_vec(),
            cut: Cut::at(900).in_pieces_of(180),
            workers,
            order: Order::Input,
            access,
            files: 1,
            held: 1,
            fault,
            panics,
            moves: false,
        })
    })
}

/// A farm deals pieces ahead, to workers that may not claim them at once.
#[test]
fn cohorts_of_one_piece_are_finished_whoever_they_were_dealt_to() {
    for case in cases(Fault::None, false).filter(|case| case.emitted[0] && case.workers > 1) {
        for workers in [case.workers, 6] {
            check(&Case { cut: Cut::at(1), workers, ..case.clone() });
        }
    }
}

#[test]
fn workers_go_over_to_other_copies_between_the_phases() {
    for case in cases(Fault::None, false) {
        check(&Case { moves: true, ..case });
    }
}

#[test]
fn a_fault_in_any_phase_ends_the_run_and_is_named() {
    zerohop_runtime::install_hook();
    for fault in [Fault::First, Fault::Combine, Fault::Second] {
        for case in cases(fault, false) {
            let error = aligned(&case).0.unwrap_err().to_string();
            assert_eq!(error, "made-up: injected", "{case:?}");
        }
        for case in cases(fault, true) {
            let error = aligned(&case).0.unwrap_err().to_string();
            assert!(error.starts_with("the engine failed on read '0."), "{error}, {case:?}");
            assert!(error.ends_with("injected"), "{error}, {case:?}");
            assert_eq!(error.contains("the statistics of its cohort"), fault == Fault::Combine, "{error}, {case:?}");
        }
    }
}

#[test]
fn pieces_that_never_come_end_the_run() {
    for case in cases(Fault::Missing, false) {
        let error = aligned(&case).0.unwrap_err().to_string();
        let wanted = "internal error, please report it: pieces of a cohort never came";
        assert_eq!(error, wanted, "{case:?}");
    }
}
