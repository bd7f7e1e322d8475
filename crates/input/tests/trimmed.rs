//! Chunks of reads that are trimmed while they are dealt are those of files that hold the trimmed reads.
#![allow(clippy::unwrap_used)]

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use zerohop_input::{LaneSpec, OpenLane, Shared, Table, TrimOptions, Trimming};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Cut;
use zerohop_model::source::{Claimed, Deal, Emitted, Grant, Granted, Lane};

/// Ticket and texts of each chunk.
type Dealt = Vec<(String, [Vec<u8>; 2])>;

/// All chunks, in order, dealt by so many threads; and how many chunks and reads there were.
fn dealt(lane: Lane, threads: usize) -> (Dealt, u64, u64) {
    let (found, end) = (Mutex::new(Vec::new()), Mutex::new((0, 0)));
    let keep = |chunk: &mut Chunk| {
        lane.parser.parse(chunk).unwrap();
        let reads: usize = chunk.fragments().map(|fragment| fragment.reads().count()).sum();
        let texts = chunk.text.each_ref().map(|text| text.bytes.clone());
        found.lock().unwrap().push((chunk.ticket.number, format!("{:?} {reads}", chunk.ticket), texts));
    };
    match lane.deal {
        Deal::Claim(claim) => std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut chunk = Chunk::default();
                    loop {
                        match claim.claim(&mut chunk).unwrap() {
                            Claimed::Chunk => keep(&mut chunk),
                            Claimed::NotYet => std::thread::yield_now(),
                            Claimed::End { chunks, reads } => break *end.lock().unwrap() = (chunks, reads),
                        }
                    }
                });
            }
        }),
        Deal::Emit(mut emit) => {
            let (mut chunk, stop) = (Chunk::default(), AtomicBool::new(false));
            loop {
                match emit.emit(&mut chunk, &stop).unwrap() {
                    Emitted::Chunk => keep(&mut chunk),
                    Emitted::End { chunks, reads } => break *end.lock().unwrap() = (chunks, reads),
                }
            }
        }
    }
    let mut found = found.into_inner().unwrap();
    found.sort();
    let (chunks, reads) = end.into_inner().unwrap();
    (found.into_iter().map(|(_, ticket, texts)| (ticket, texts)).collect(), chunks, reads)
}

/// Reads whose qualities fall to their ends, some of them bad or short.
fn text(mate: u64, reads: u64) -> String {
    let mut random = fastrand::Rng::with_seed(7 + mate);
    let mut text = String::new();
    for number in 0..reads {
        let length = if number % 11 == mate { random.usize(..40) } else { random.usize(80..160) };
        let bases: String = (0..length).map(|_| *random.choice(b"ACGTN").unwrap() as char).collect();
        let good = if number % 7 == mate { 0 } else { length - random.usize(..length / 3 + 1) };
        let quality: String = (0..length).map(|at| if at < good { 'I' } else { '#' }).collect();
        text += &format!("@r{number}/{} c\n{bases}\n+\n{quality}\n", mate + 1);
    }
    text
}

fn lane(files: &[PathBuf], interleaved: bool, trimming: Option<&Trimming>) -> OpenLane {
    let lane = OpenLane::open(&LaneSpec { files: files.to_vec(), interleaved }).unwrap();
    match trimming {
        Some(trimming) => lane.with_trimming(trimming).unwrap(),
        None => lane,
    }
}

fn check(folder: &Path, mates: u64, interleaved: bool, reads: u64) {
    let write = |name: String, text: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let texts: Vec<_> = (0..mates).map(|mate| text(mate, reads)).collect();
    let raw = match interleaved {
        false => texts,
        true => {
            let records = |text: &str| -> Vec<String> {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                lines.chunks(4).map(<[_]>::concat).collect()
            };
            let [first, second] = [0, 1].map(|mate| records(&texts[mate]));
            // Some have no mate.
            let with_mate = |(number, (one, other)): (usize, (String, String))| match number % 13 {
                5 => one,
                _ => one + &other,
            };
            vec![first.into_iter().zip(second).enumerate().map(with_mate).collect::<String>()]
        }
    };
    let of_file = |(number, text): (usize, &String)| write(format!("raw{number}.fq"), text.as_bytes());
    let raw: Vec<_> = raw.iter().enumerate().map(of_file).collect();
    let options = TrimOptions::parse(["--cut_right", "-n", "50", "-Q", "-l", "20"]).unwrap();
    let trimming = Trimming { options, has_statistics: true };
    // All at once: what stays of the reads.
    let whole = lane(&raw, interleaved, Some(&trimming)).deal(0, Cut::at(u64::MAX), 1 << 20, 1).unwrap();
    let (chunks, ..) = dealt(whole, 1);
    let kept: Vec<_> = (0..raw.len())
        .map(|mate| {
            let text = chunks.first().map_or(&[][..], |(_, texts)| &texts[mate]);
            write(format!("kept{mate}.fq"), text)
        })
        .collect();
    for cut in [Cut::at(1_000), Cut::at(40_000), Cut::at(20_000).in_pieces_of(3_000)] {
        over_ranks(&raw, interleaved, &trimming, cut);
        let wanted = dealt(lane(&kept, interleaved, None).deal(0, cut, 1 << 20, 1).unwrap(), 1);
        for threads in [1, 4] {
            let opened = lane(&raw, interleaved, Some(&trimming));
            let trimmed = opened.trimmed().unwrap();
            let found = dealt(opened.deal(0, cut, 1 << 20, threads).unwrap(), threads);
            assert_eq!(found.0.len() as u64, found.1);
            assert!(found == wanted, "{mates} mates, {reads} reads, {cut:?}, {threads} threads");
            let counts = trimmed.counts();
            let all: u64 = counts.before.iter().map(|amount| amount.reads).sum();
            assert!(all == mates * reads || interleaved && all > reads, "{all} reads");
            assert_eq!(counts.after.iter().map(|amount| amount.reads).sum::<u64>(), found.2);
        }
    }
}

/// One rank of so many, which takes chunks in turn with the others, two at a time.
struct InTurn {
    rank: u64,
    ranks: u64,
    chunks: u64,
    /// Chunks that began before, and those that follow.
    moved: Mutex<[Vec<u64>; 2]>,
}

impl Grant for InTurn {
    fn granted(&self, from: u64) -> Granted {
        let next = (from..self.chunks).find(|chunk| chunk / 2 % self.ranks == self.rank);
        next.map_or(Granted::End, |chunk| Granted::Chunks(chunk..(chunk / 2 * 2 + 2).min(self.chunks)))
    }

    fn absent(&self, _: Range<u64>) {}

    fn begun_before(&self, chunks: Range<u64>) {
        self.moved.lock().unwrap()[0].extend(chunks);
    }

    fn goes_on(&self, chunks: Range<u64>) {
        self.moved.lock().unwrap()[1].extend(chunks);
    }
}

/// The ranks of a job deal the same chunks together, and count the same.
fn over_ranks(raw: &[PathBuf], interleaved: bool, trimming: &Trimming, cut: Cut) {
    let alone = lane(raw, interleaved, Some(trimming));
    let (counts_of_one, is_counted) = (alone.trimmed().unwrap(), alone.is_counted());
    let (wanted, chunks, reads) = dealt(alone.deal(0, cut, 1 << 20, 2).unwrap(), 2);
    for ranks in [1, 3] {
        let lanes: Vec<_> = (0..ranks).map(|_| lane(raw, interleaved, Some(trimming))).collect();
        let trimmed: Vec<_> = lanes.iter().map(|lane| lane.trimmed().unwrap()).collect();
        let table = is_counted.then(|| {
            let counts: Vec<_> = (0..ranks).map(|rank| lanes[rank].count(rank, ranks, 2).unwrap()).collect();
            let table = Arc::new(lanes[0].table(&counts, cut).unwrap());
            let counts: Vec<_> =
                (0..ranks).map(|rank| lanes[rank].count_kept(&table, rank, ranks, 3).unwrap()).collect();
            let table = Table::clone(&table).with_kept(&counts, cut);
            assert_eq!(Table::from_bytes(&table.to_bytes()).as_ref(), Some(&table));
            assert_eq!(table.chunks(), chunks);
            let all: Vec<_> = trimmed.iter().map(|trimmed| trimmed.to_bytes().unwrap()).collect();
            trimmed[0].take_all(&all).unwrap();
            assert!(trimmed[0].counts() == counts_of_one.counts());
            Arc::new(table)
        });
        let mut found = Vec::new();
        for (rank, lane) in lanes.into_iter().enumerate() {
            let (rank, ranks) = (rank as u64, ranks as u64);
            let grant = Arc::new(InTurn { rank, ranks, chunks, moved: Mutex::default() });
            let shared = Shared::new(Arc::clone(&grant) as Arc<dyn Grant>);
            let table = table.as_ref().map(|table| (Arc::clone(table), 0));
            let own = dealt(lane.deal_granted((0, 1), cut, 1 << 20, 3, table, &shared).unwrap(), 3);
            assert_eq!(own.1, chunks);
            assert_eq!(own.2, reads);
            found.extend(own.0);
        }
        assert_eq!(found.len(), wanted.len(), "{ranks} ranks, {cut:?}");
        let mut sorted = wanted.clone();
        found.sort();
        sorted.sort();
        assert!(found == sorted, "{ranks} ranks, {cut:?}");
        let counts = trimmed[0].counts();
        assert!(counts == counts_of_one.counts(), "{ranks} ranks, counted: {is_counted}");
    }
}

#[test]
fn chunks_are_those_of_the_trimmed_reads() {
    let folder = tempfile::tempdir().unwrap();
    for (mates, interleaved, reads) in
        [(1, false, 0), (2, false, 1), (1, false, 12_000), (2, false, 6_000), (2, true, 3), (2, true, 6_000)]
    {
        check(folder.path(), mates, interleaved, reads);
    }
}
