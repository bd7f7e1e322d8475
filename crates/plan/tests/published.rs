//! The rule, and the rule with pilots, over all published cases of the AMD Opteron 6376 with all 64 threads (tests/data/papers).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Duration;
use zerohop_model::machine::{Allowed, Bytes, CpuId, Machine, Node, NodeId};
use zerohop_model::plan::Pages;
use zerohop_plan::{PILOT_PART, Pilots, Strategy, Verdict, forecast, rank};

const GB: u64 = 1_000_000_000;
/// Draws of the printed errors per case.
const DRAWS: u64 = 500;

/// 8 nodes of 8 cores and 16 GB.
fn opteron() -> Machine {
    let node = |i: u32| Node {
        id: NodeId(i),
        cpus: (8 * i..8 * i + 8).map(CpuId).collect(),
        memory: Bytes(16 * GB),
        free: Bytes(16 * GB),
    };
    Machine {
        name: "AMD Opteron 6376".into(),
        cpu_model: "AMD Opteron 6376".into(),
        nodes: (0..8).map(node).collect(),
        distances: distances(),
        caches: Vec::new(),
        page_size: Bytes(4096),
        huge_page_size: None,
        allowed: Allowed {
            cpus: (0..64).map(CpuId).collect(),
            nodes: (0..8).map(NodeId).collect(),
            cpu_quota: None,
            memory_limit: None,
        },
    }
}

/// As printed in Lenis & Senar (2016), and as docs/machines has them.
fn distances() -> Vec<Vec<u32>> {
    let text = include_str!("../../../docs/machines/amd-opteron-6376.json");
    let described: Machine = serde_json::from_str(text).unwrap();
    described.distances
}

fn table(name: &str) -> Vec<BTreeMap<String, String>> {
    let path = format!("{}/../../tests/data/papers/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| head.iter().zip(line.split(',')).map(|(key, value)| (key.to_string(), value.to_string())).collect())
        .collect()
}

struct Case {
    name: String,
    index: u64,
    /// Seconds and relative error of each published strategy. In 2016 the pages of instances are not stated.
    times: Vec<(usize, Option<Pages>, f64, f64)>,
}

impl Case {
    fn time(&self, strategy: Strategy) -> Option<(f64, f64)> {
        let same = |(copies, pages, ..): &&(usize, Option<Pages>, f64, f64)| {
            *copies == strategy.copies && pages.is_none_or(|pages| pages == strategy.pages)
        };
        self.times.iter().find(same).map(|&(_, _, time, error)| (time, error))
    }

    fn best(&self) -> f64 {
        self.times.iter().map(|&(_, _, time, _)| time).fold(f64::INFINITY, f64::min)
    }
}

fn cases() -> Vec<Case> {
    let sizes = table("index_sizes.csv");
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    for row in table("times_amd.csv").into_iter().filter(|row| row["total_threads"] == "64") {
        let year = &row["source"][..4];
        let index =
            sizes.iter().find(|size| size["source"].starts_with(year) && size["aligner"] == row["aligner"]).unwrap();
        let copies: usize = row["instances"].parse().unwrap();
        let pages = match (copies, &*row["policy"]) {
            (1, "original") => Some(Pages::FirstTouch),
            (_, "original") => Some(Pages::Local),
            (_, "localalloc") => Some(Pages::LocalAlloc),
            (_, "interleave") => Some(Pages::Interleave),
            _ => None,
        };
        let name = format!("{year} {} {}", row["aligner"], row["dataset"]);
        let case = cases.entry(name.clone()).or_insert_with(|| Case {
            name,
            index: (index["index_gb"].parse::<f64>().unwrap() * GB as f64) as u64,
            times: Vec::new(),
        });
        let error = row["error_pct"].parse().unwrap_or(0.0) / 100.0;
        case.times.push((copies, pages, row["mean_s"].parse().unwrap(), error));
    }
    cases.into_values().collect()
}

/// Largest and mean.
fn sums(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(0.0, f64::max), values.iter().sum::<f64>() / values.len() as f64)
}

#[test]
fn the_rule_alone() {
    let regrets: Vec<f64> = cases()
        .iter()
        .map(|case| {
            let chosen = rank(&opteron(), case.index, None)[0].clone();
            assert_eq!(chosen.verdict, Verdict::Chosen);
            let regret = case.time(chosen.strategy).unwrap().0 / case.best();
            println!("{}: {:?}, {regret:.3}x of the best", case.name, chosen.strategy);
            regret
        })
        .collect();
    let (largest, mean) = sums(&regrets);
    println!("largest {largest:.3}x, mean {mean:.3}x over {} cases", regrets.len());
    assert!(largest <= 1.41 && mean <= 1.05, "{largest} {mean}");
}

/// Noise that comes to about a normal distribution: the sum of uniform draws.
fn noise(random: &mut u64) -> f64 {
    let mut draw = || {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*random >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..12).map(|_| draw()).sum::<f64>() - 6.0
}

#[test]
fn the_rule_with_pilots() {
    let mut random = 1;
    let mut all = Vec::new();
    for case in cases() {
        // What was not published cannot be replayed.
        let ranked: Vec<_> =
            rank(&opteron(), case.index, None).into_iter().filter(|r| case.time(r.strategy).is_some()).collect();
        let regrets: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let (mut pilots, mut cost) = (Pilots::new(&ranked), 0.0);
                while let Some(pilot) = pilots.next() {
                    let (time, error) = case.time(pilot.strategy).unwrap();
                    let took = PILOT_PART * time * (1.0 + error * noise(&mut random)).max(0.01);
                    let limit = pilot.limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64());
                    cost += took.min(limit);
                    pilots.took((took < limit).then(|| Duration::from_secs_f64(took)));
                }
                (case.time(pilots.best().unwrap()).unwrap().0 + cost) / case.best()
            })
            .collect();
        let (largest, mean) = sums(&regrets);
        println!("{}: {mean:.3}x of the best on average, {largest:.3}x at most", case.name);
        all.push(mean);
    }
    let (largest, mean) = sums(&all);
    println!("largest {largest:.3}x, mean {mean:.3}x, pilots counted");
    assert!(largest <= 1.06 && mean <= 1.02, "{largest} {mean}");
}

#[test]
fn the_rule_for_the_four_indexes() {
    let chosen = |gb: f64| rank(&opteron(), (gb * GB as f64) as u64, None)[0].clone();
    for gb in [3.9, 5.1] {
        let ranked = chosen(gb);
        assert_eq!(ranked.strategy, Strategy { copies: 8, pages: Pages::Local }, "{gb} GB");
        assert!(ranked.reasons[0].contains("every access is local"), "{:?}", ranked.reasons);
    }
    for gb in [15.0, 29.0] {
        let ranked = chosen(gb);
        assert_eq!(ranked.strategy, Strategy { copies: 1, pages: Pages::Interleave }, "{gb} GB");
        assert!(ranked.reasons[0].contains("spread over all banks"), "{:?}", ranked.reasons);
    }
    let pilots = |gb: f64| {
        rank(&opteron(), (gb * GB as f64) as u64, None).iter().filter(|r| r.verdict == Verdict::Pilot).count()
    };
    assert_eq!([3.9, 5.1, 15.0, 29.0].map(pilots), [0, 0, 1, 0], "only GEM's index is a doubtful case");
    let localalloc = rank(&opteron(), GB, None)
        .into_iter()
        .find(|r| (r.strategy.copies, r.strategy.pages) == (1, Pages::LocalAlloc));
    assert_eq!(localalloc.unwrap().verdict, Verdict::RuledOut);
}

/// The model knows nothing of the aligners, and is not fitted to anything: how often is its order right?
#[test]
fn the_order_of_the_model() {
    let machine = opteron();
    let (mut right, mut all) = (0, 0);
    for case in cases() {
        let known: Vec<(f64, f64)> = (rank(&machine, case.index, None).iter())
            .filter_map(|ranked| {
                let (time, _) = case.time(ranked.strategy)?;
                Some((time, forecast(&machine, None, ranked.strategy, 64).speed))
            })
            .collect();
        for (i, one) in known.iter().enumerate() {
            for other in &known[..i] {
                // Differences that are hardly larger than the printed errors are no order.
                if one.0.max(other.0) < 1.1 * one.0.min(other.0) {
                    continue;
                }
                all += 1;
                right += u32::from((one.0 < other.0) == (one.1 > other.1));
            }
        }
    }
    println!("{right} of {all} pairs of strategies that differ by 10 % or more are in the right order");
    assert!(f64::from(right) >= 0.75 * f64::from(all), "{right} of {all}");
}
