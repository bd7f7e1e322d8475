//! Every way of taking reads, lock and output, with any numbers of threads and of fragments at once, gives the same
//! records.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use zerohop_engine_null::Null;
use zerohop_lab::process::{EngineSpec, ProcessSpec, run};
use zerohop_lab::synthetic::{Cost, Synthetic};
use zerohop_lab::{Arm, Fragments, InputKind, LockKind, OutputKind};
use zerohop_model::engine::{Cut, Engine};

const INPUTS: [InputKind; 6] =
    [InputKind::O, InputKind::D, InputKind::B, InputKind::L, InputKind::Survey, InputKind::Farm];
const LOCKS: [LockKind; 4] = [LockKind::Tas, LockKind::Ttas, LockKind::Futex, LockKind::Mcs];
const OUTPUTS: [OutputKind; 3] = [OutputKind::Shared, OutputKind::Ordered, OutputKind::Files];

/// Reads of random lengths; the mates of pairs have others.
fn write_reads(folder: &Path, fragments: usize, paired: bool, seed: usize) -> Vec<PathBuf> {
    let mates = if paired { 2 } else { 1 };
    let file = |mate: usize| {
        let read = |i: usize| {
            let bases = (i * 7 + seed * 13 + mate * 5) % 90;
            format!("@read{i}\n{}\n+\n{}\n", "ACGT".repeat(23).get(..bases).unwrap(), "I".repeat(bases))
        };
        let path = folder.join(format!("source-{mate}.fq"));
        std::fs::write(&path, (0..fragments).map(read).collect::<String>()).unwrap();
        path
    };
    (1..=mates).map(file).collect()
}

fn records(output: &Path, arm: &Arm) -> Vec<String> {
    let files: Vec<PathBuf> = match arm.output {
        OutputKind::Files if arm.threads > 1 => {
            (1..=arm.threads).map(|i| zerohop_output::shard_path(output, i)).collect()
        }
        _ => vec![output.to_owned()],
    };
    let mut records: Vec<String> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        records.extend(text.lines().filter(|line| !line.starts_with('@')).map(str::to_owned));
        std::fs::remove_file(file).unwrap();
    }
    records
}

fn all_arms(threads: usize) -> impl Iterator<Item = Arm> {
    let of_input = move |input| {
        LOCKS.into_iter().flat_map(move |lock| {
            OUTPUTS.into_iter().map(move |output| Arm { input, lock, output, threads, processes: 1 })
        })
    };
    INPUTS.into_iter().flat_map(of_input)
}

fn spec(arm: Arm, files: Vec<PathBuf>, output: PathBuf, batch: usize, queue: usize) -> ProcessSpec {
    ProcessSpec {
        arm,
        engine: EngineSpec::Null,
        files,
        batch,
        interleaved: false,
        chunk_bases: 300,
        queue,
        output,
        cpus: vec![],
        nodes: vec![],
        rounds_per_second: 1e9,
        crowded: true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    #[test]
    fn every_combination_gives_the_same_records(
        each in 1usize..100, processes in 1usize..4, paired: bool, seed in 0usize..50, threads in 1usize..6,
        batch in 1usize..50, queue in 1usize..4, block_bytes in 20usize..3000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let fragments = each * processes;
        let source = write_reads(folder.path(), fragments, paired, seed);
        let reads = Fragments::read(&source, usize::MAX, false, folder.path()).unwrap();
        let engine = Null::new(Cut::at(300), vec![]);
        let output = folder.path().join("out.sam");
        let mut expected: Option<Vec<String>> = None;
        for arm in all_arms(threads) {
            let mut got = Vec::new();
            // Processes share nothing, so one after the other will do.
            for process in 0..processes {
                let blocks = (arm.input == InputKind::L).then_some(block_bytes);
                let files = reads.files(process * each, each, blocks).unwrap();
                let report = run(&spec(arm, files, output.clone(), batch, queue), &engine, || Ok(())).unwrap();
                prop_assert_eq!(report.threads.len(), threads);
                let part = records(&output, &arm);
                prop_assert_eq!(part.len(), each * source.len());
                if arm.output == OutputKind::Ordered {
                    prop_assert!(part.windows(2).all(|pair| number(&pair[0]) <= number(&pair[1])), "{}", arm);
                }
                got.extend(part);
            }
            got.sort();
            match &expected {
                None => expected = Some(got),
                Some(expected) => prop_assert!(*expected == got, "{}", arm),
            }
        }
    }
}

fn number(record: &str) -> usize {
    record.strip_prefix("read").unwrap().split('\t').next().unwrap().parse().unwrap()
}

#[test]
fn a_fault_ends_every_arm() {
    let folder = tempfile::tempdir().unwrap();
    let source = write_reads(folder.path(), 50, false, 1);
    let mut text = std::fs::read_to_string(&source[0]).unwrap();
    text.push_str("@broken\nACGT\n+\nI\n@more\nA\n+\nI\n");
    std::fs::write(&source[0], text).unwrap();
    let engine = Null::new(Cut::at(300), vec![]);
    let output = folder.path().join("out.sam");
    for arm in all_arms(3).filter(|arm| arm.input != InputKind::L) {
        let error = run(&spec(arm, source.clone(), output.clone(), 4, 1), &engine, || Ok(())).unwrap_err().to_string();
        assert!(error.contains("record 51") && error.contains("4 bases but 1 qualities"), "{arm}: {error}");
        assert!(!output.exists());
    }
}

#[test]
fn a_file_that_was_not_blocked_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = write_reads(folder.path(), 5, false, 1);
    let arm = Arm { input: InputKind::L, lock: LockKind::Futex, output: OutputKind::Shared, threads: 1, processes: 1 };
    let engine = Null::new(Cut::at(300), vec![]);
    let error =
        run(&spec(arm, source, folder.path().join("out.sam"), 1, 1), &engine, || Ok(())).unwrap_err().to_string();
    assert!(error.contains("it is not blocked"), "{error}");
}

/// The first read costs 20,000 times as much as each of the others: who has it does little else, and the others do the
/// rest.
#[test]
fn a_skewed_load_is_dealt_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let source = write_reads(folder.path(), 200, false, 3);
    let skew = Some((200, 20_000));
    let cost = Cost { sleep: std::time::Duration::from_micros(100), skew, ..Cost::default() };
    let engine = Synthetic::new(cost, 1e9);
    assert_eq!(engine.cut(), Cut::at(100_000));
    for input in [InputKind::B, InputKind::Farm] {
        let arm = Arm { input, lock: LockKind::Futex, output: OutputKind::Shared, threads: 4, processes: 1 };
        let report = run(&spec(arm, source.clone(), folder.path().join("out.sam"), 1, 1), &engine, || Ok(())).unwrap();
        // 2 s for one read, some 30 ms for all others.
        let most = report.threads.iter().map(|thread| thread.chunks).max().unwrap();
        let fewest = report.threads.iter().map(|thread| thread.chunks).min().unwrap();
        assert!(most > 4 * fewest, "{input}: {:?}", report.threads.iter().map(|t| t.chunks).collect::<Vec<_>>());
    }
}
