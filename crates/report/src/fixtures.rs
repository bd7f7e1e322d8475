//! Results as a large machine would leave them, for tests.

use crate::map_page::MeasuredMachine;
use crate::summary::{IndexOrigin, IndexReport, ResourceUse, SCHEMA_VERSION, Summary};
use std::time::Duration;
use zerohop_model::exchange::RankReport;
use zerohop_model::exchange::SEARCH_VERSION;
use zerohop_model::index::Product;
use zerohop_model::machine::{Allowed, Bytes, CpuId, Machine, Node, NodeId};
use zerohop_model::measurement::{DuplicateReport, PageCensus, QcReport, SortReport};
use zerohop_model::measurement::{ReplicaReport, RunReport, Tally, WorkerReport};
use zerohop_model::memory_map::{Banks, Contention, MemoryMap, Reading, Source};
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};
use zerohop_model::qc_figures::{ContigDepth, QcFigures};
use zerohop_model::timeline::{SearchStage, Stage, Timeline};
use zerohop_model::tuning::{Choice, Finding, Trial, Tuning};

const GIB: u64 = 1 << 30;

fn node_ids(nodes: u32) -> Vec<NodeId> {
    (0..nodes).map(NodeId).collect()
}

/// So many nodes with so many CPUs each.
pub(crate) fn machine(nodes: u32, cpus: u32) -> Machine {
    let node = |id: u32| Node {
        id: NodeId(id),
        cpus: (id * cpus..(id + 1) * cpus).map(CpuId).collect(),
        memory: Bytes(16 * GIB),
        free: Bytes(15 * GIB),
    };
    let distance = |a: u32, b: u32| if a == b { 10 } else { 16 + 6 * ((a ^ b).count_ones() / 2) };
    Machine {
        name: "fixture".to_owned(),
        cpu_model: "Model & Make".to_owned(),
        nodes: (0..nodes).map(node).collect(),
        distances: (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect(),
        caches: Vec::new(),
        cores: Vec::new(),
        page_size: Bytes(4096),
        huge_page_size: None,
        allowed: Allowed {
            cpus: (0..nodes * cpus).map(CpuId).collect(),
            nodes: node_ids(nodes),
            cpu_quota: None,
            memory_limit: None,
            memory_left: None,
        },
    }
}

/// A copy per node and a worker per CPU of [`machine`].
pub(crate) fn plan(nodes: u32, cpus: u32) -> Plan {
    let copy = |node| Placement { nodes: vec![node], pages: Pages::Local, huge_pages: HugePages::Auto };
    let worker = |cpu: u32| {
        let node = cpu / cpus;
        WorkerPlan { cpus: vec![CpuId(cpu)], node: Some(NodeId(node)), replica: node as usize }
    };
    Plan {
        replicas: node_ids(nodes).into_iter().map(copy).collect(),
        workers: (0..nodes * cpus).map(worker).collect(),
        helper_cpus: Vec::new(),
        reasons: vec![format!("{nodes} index copies, one per node <each>.")],
    }
}

/// A run on this plan that took so many seconds.
pub(crate) fn summary(nodes: u32, cpus: u32, seconds: f64) -> Summary {
    let plan = plan(nodes, cpus);
    let at = Duration::from_secs_f64;
    let worker = |worker: &WorkerPlan| {
        let mut timeline = Timeline::default();
        let stages = [
            (Stage::Claim, 0.06),
            (Stage::Parse, 0.04),
            (Stage::Map, 0.7),
            (Stage::Encode, 0.12),
            (Stage::Commit, 0.05),
        ];
        let (mut now, round) = (0.0, seconds / 40.0);
        for _ in 0..38 {
            for (stage, part) in stages {
                timeline.add(stage, at(now), at(part * round));
                now += part * round;
            }
            now += 0.03 * round;
        }
        timeline.add(Stage::WaitOutput, at(now), at(seconds * 0.99 - now));
        let share = |part: f64| at(seconds * 0.95 * part);
        WorkerReport {
            cpus: worker.cpus.clone(),
            replica: worker.replica,
            chunks: 40,
            claim: share(0.06),
            parse: share(0.04),
            map: share(0.7),
            encode: share(0.12),
            commit: share(0.05),
            wait_output: share(0.02),
            wall: at(seconds),
            timeline,
            ..WorkerReport::default()
        }
    };
    let census = |placement: &Placement| {
        let (own, other) = (placement.nodes[0], NodeId((placement.nodes[0].0 + 1) % nodes));
        let (huge, most) = (Bytes(3 * GIB), Bytes(4 * GIB - 100_000_000));
        let per_node = vec![(own, most), (other, Bytes(100_000_000))];
        PageCensus { present: Bytes(4 * GIB), per_node, huge }
    };
    let replica = |placement: &Placement| ReplicaReport {
        placement: placement.clone(),
        census: census(placement),
        refused: Vec::new(),
    };
    let run = RunReport {
        tally: Tally { reads: 12_345_678, primary_records: 12_345_678, mapped: 12_000_000, ..Tally::default() },
        workers: plan.workers.iter().map(worker).collect(),
        wall: at(seconds),
        ..RunReport::default()
    };
    Summary {
        schema_version: SCHEMA_VERSION,
        version: "0".to_owned(),
        command: "zerohop align -o out.bam 'a <b>.fa' \
            /data/projects/2026/sample_with_a_long_name/lane_1/reads_1.fastq.gz reads_2.fq.gz"
            .to_owned(),
        engine: ("strobealign".to_owned(), "0.19.1".to_owned()),
        sample: "S1".to_owned(),
        product: Product::Records,
        inputs: vec![vec!["reads_1.fq.gz".to_owned(), "reads_2.fq.gz".to_owned()]],
        outputs: vec!["out.bam".to_owned()],
        machine: machine(nodes, cpus),
        replicas: plan.replicas.iter().map(replica).collect(),
        plan,
        index: IndexReport {
            origin: IndexOrigin::Built,
            is_mapped: false,
            bytes: Bytes(4 * GIB),
            reference_bases: 1_000_000_000,
            time: at(3.0),
            mean_read_length: 148,
            read_length: 150,
        },
        run,
        wall: at(seconds + 3.5),
        finished: Some(1_795_000_000),
        resources: ResourceUse::default(),
        samples: 0,
        comparison: None,
        ranks: Vec::new(),
        notes: vec!["A note & more.".to_owned()],
    }
}

/// A run of a sample whose reports found something of each kind.
pub(crate) fn with_figures(sample: &str) -> Summary {
    let bell = |at: usize, middle: f64, width: f64| {
        (1e6 * (-((at as f64 - middle) / width).powi(2) / 2.0).exp()).round() as u64
    };
    let contig = |name: &str, megabases: usize| ContigDepth {
        name: name.to_owned(),
        length: megabases as u64 * 1_000_000,
        depth: 20.0,
        windows: (0..megabases * 10).map(|at| 20.0 + (at as f64 / 7.0).sin()).collect(),
    };
    let mut places = vec![0; 31];
    (places[0], places[9], places[19], places[29], places[25]) = (10, 190, 200, 400, 200);
    let figures = QcFigures {
        reads: 12_345_678,
        mapped_bases: 1_000_000,
        edits: 5_000,
        contigs: vec![contig("chr<1>", 80), contig("chr2", 60), contig("chrM", 1)],
        all_contigs: 3,
        window_bases: 100_000,
        places,
        inserts: (0..800).map(|at| bell(at, 350.0, 60.0)).collect(),
        gc: (0..=100).map(|at| bell(at, 45.0, 8.0)).collect(),
        mapq: (0..=60).map(|at| 1 + 1_000 * u64::from(at % 60 == 0)).collect(),
        quality: [vec![36.0; 100], vec![34.0; 100]],
        mismatches: [vec![0.001; 100], vec![0.002; 100]],
        ..QcFigures::default()
    };
    let reports = QcReport { files: 12, figures, ..QcReport::default() };
    let duplicates = DuplicateReport { paired: 11_000_000, paired_duplicates: 550_000, ..DuplicateReport::default() };
    let mut run = Summary { sample: sample.to_owned(), ..summary(1, 2, 10.0) };
    (run.run.tally.paired, run.run.tally.properly_paired) = (12_345_678, 11_500_000);
    run.run.sorted = Some(SortReport { duplicates: Some(duplicates), reports: Some(reports), ..SortReport::default() });
    run
}

/// A map of [`machine`].
pub(crate) fn map(nodes: u32) -> MeasuredMachine {
    let machine = machine(nodes, 8);
    let values = |of: &dyn Fn(u32) -> f64| {
        machine.distances.iter().map(|row| row.iter().map(|&d| of(d)).collect()).collect::<Vec<Vec<f64>>>()
    };
    let reading = |factor: f64| Reading {
        latency_ns: values(&|d| f64::from(d) * 9.5 * factor),
        bandwidth_gb_s: values(&|d| (16.0 - f64::from(d) / 4.0) * factor),
    };
    let contention = |memory, latency_ns| Contention { memory, latency_ns, bandwidth_gb_s: 50.0 };
    let map = MemoryMap {
        measured_at: 1_795_000_000,
        buffer: Bytes(GIB),
        page_size: Bytes(4096),
        on_huge_pages: 1.0,
        sources: node_ids(nodes).into_iter().map(|node| Source { node, cpus: 8 }).collect(),
        targets: node_ids(nodes),
        one_thread: reading(1.0),
        all_threads: reading(2.0),
        contention: vec![
            contention(Banks::Own, 171.5),
            contention(Banks::One(NodeId(0)), 1234.5),
            contention(Banks::Spread, 300.0),
        ],
        notes: vec!["The kernel <refused> nothing.".to_owned()],
    };
    MeasuredMachine { machine, map }
}

/// A tuning with both parts.
pub(crate) fn tuning(full: bool) -> Tuning {
    let (mut findings, mut trials) = (Vec::new(), Vec::new());
    let all = [Pages::FirstTouch, Pages::Interleave, Pages::LocalAlloc, Pages::Local];
    for copies in [1usize, 2, 4, 8] {
        for (place, pages) in all.into_iter().enumerate().filter(|(_, pages)| copies > 1 || *pages != Pages::Local) {
            for threads in [8usize, 16, 32, 48, 64].into_iter().filter(|threads| copies == 1 || *threads >= 48) {
                let factor = 1.0 + 0.15 * (place as f64 - 1.0).abs() - 0.05 * copies as f64;
                let seconds = (4000.0 * factor / (threads as f64).powf(0.8) + 12.0).round();
                let choice = Choice { copies, threads, pages, farm: false };
                let complete = copies != 4 || pages != Pages::FirstTouch;
                findings.push(Finding {
                    choice,
                    trials: if complete { 3 } else { 0 },
                    seconds: complete.then_some(seconds),
                    relative_error: complete.then_some(0.0123),
                    against_best: complete.then_some(1.25),
                    dropped: (place > 1).then(|| {
                        "In round 2 it took 1.31 times the best choice, and more than chance explains.".to_owned()
                    }),
                });
                trials.push(Trial {
                    choice,
                    round: 1,
                    reads: 400_000,
                    load_s: 12.0,
                    map_s: 0.5 * seconds,
                    cpu_s: seconds,
                    others_cpus: 0.25,
                    broken_off: !complete,
                });
            }
        }
    }
    findings.sort_by(|a, b| a.seconds.unwrap_or(f64::MAX).total_cmp(&b.seconds.unwrap_or(f64::MAX)));
    Tuning {
        schema_version: 1,
        version: "0".to_owned(),
        command: "zerohop tune ref.fa reads.fq".to_owned(),
        engine: ("bwa".to_owned(), "0.7.17".to_owned()),
        inputs: vec!["reads_1.fq".to_owned(), "reads_2.fq".to_owned()],
        machine: machine(8, 8),
        index: Bytes(5 * GIB),
        reads: 8_000_000,
        full,
        trials,
        findings,
        sure: "The best was faster than the second in 3 of 3 rounds.".to_owned(),
        took_s: 812.0,
        plan: plan(8, 8),
    }
}

/// What a search over so many ranks writes: in each, ten batches are searched, and exchanged meanwhile.
pub(crate) fn search(ranks: usize) -> String {
    let at = |tenths: u32| Duration::from_millis(100) * tenths;
    let rank = |rank: usize| {
        let mut report = RankReport { rank, batches: 10, wall: at(11), ..RankReport::default() };
        for batch in 0..10 {
            report.searching.add(SearchStage::Search, at(batch), at(1));
            report.spent(SearchStage::WaitRecords, at(batch + 1), at(1) * 3 / 10);
        }
        report
    };
    let ranks: Vec<RankReport> = (0..ranks).map(rank).collect();
    serde_json::json!({
        "schema_version": SEARCH_VERSION, "version": "0", "command": "zerohop search", "transport": "a <b> network",
        "queries": 1234, "output_bytes": 99, "ranks": ranks,
    })
    .to_string()
}
