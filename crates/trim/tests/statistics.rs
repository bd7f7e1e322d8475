//! Statistics and their report, against sums over the bases of each read.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use zerohop_trim::{Counts, FirstReads, Options, Outcome, Read, Span, Statistics, Trimmer, fastp_json};

type Owned = (Vec<u8>, Vec<u8>);

fn reads(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<[Owned; 2]>> {
    let base = prop_oneof![30 => prop::sample::select(&b"ACGT"[..]), 1 => prop::sample::select(&b"Nacgtn"[..])];
    let read = || prop::collection::vec((base.clone(), 33..75u8), 0..90).prop_map(|read| read.into_iter().unzip());
    prop::collection::vec((read(), read()).prop_map(|(one, two)| [one, two]), count)
}

/// The report of these pairs.
fn report(options: &Options, pairs: &[[Owned; 2]]) -> (Value, Statistics, Counts) {
    let trimmer = Trimmer::new(options.clone(), true, &FirstReads::default(), &[]);
    let (mut statistics, mut counts) = (Statistics::default(), Counts::default());
    for pair in pairs {
        let reads = pair.each_ref().map(|(bases, qualities)| Read::new(bases, qualities));
        let outcome = trimmer.pair(reads, &mut counts);
        statistics.add_pair(reads, &outcome);
    }
    let text = fastp_json(&trimmer, &counts, &statistics, "fastp \"-g\"");
    (serde_json::from_str(&text).unwrap(), statistics, counts)
}

/// What trimming keeps of these pairs.
fn kept(options: &Options, pairs: &[[Owned; 2]]) -> Vec<[Owned; 2]> {
    let trimmer = Trimmer::new(options.clone(), true, &FirstReads::default(), &[]);
    let keep = |pair: &[Owned; 2]| {
        let reads = pair.each_ref().map(|(bases, qualities)| Read::new(bases, qualities));
        let part = |(read, span): (&Read<'_>, Span)| {
            let part = read.within(span);
            (part.bases().to_vec(), part.qualities().to_vec())
        };
        match trimmer.pair(reads, &mut Counts::default()) {
            Outcome::Kept([one, two]) => Some([part((&reads[0], one)), part((&reads[1], two))]),
            Outcome::Dropped(_) => None,
        }
    };
    pairs.iter().filter_map(keep).collect()
}

/// How many bases of each letter there are at a cycle, and the sum of their qualities.
type Cycle = BTreeMap<char, (u64, u64)>;

/// The counts of 5-mers, and of bases by cycle.
fn naive(reads: &[&Owned]) -> (BTreeMap<String, u64>, Vec<Cycle>) {
    let (mut kmers, mut cycles) = (BTreeMap::new(), Vec::<Cycle>::new());
    for (bases, qualities) in reads {
        for kmer in bases.windows(5).filter(|kmer| kmer.iter().all(|base| b"ACGT".contains(base))) {
            *kmers.entry(String::from_utf8(kmer.to_vec()).unwrap()).or_default() += 1;
        }
        for (cycle, (base, quality)) in bases.iter().zip(qualities).enumerate() {
            if cycles.len() == cycle {
                cycles.push(Cycle::new());
            }
            let cell = cycles[cycle].entry(base.to_ascii_uppercase().into()).or_default();
            cell.0 += 1;
            cell.1 += u64::from(quality - 33);
        }
    }
    (kmers, cycles)
}

/// Whether a figure of six digits is this one.
fn is_figure(found: &Value, figure: f64) -> bool {
    (found.as_f64().unwrap() - figure).abs() <= 1e-5 * figure.abs()
}

fn check(report: &Value, reads: &[&Owned]) {
    let (kmers, cycles) = naive(reads);
    for (kmer, count) in report["kmer_count"].as_object().unwrap() {
        assert_eq!(count.as_u64().unwrap(), kmers.get(kmer).copied().unwrap_or_default(), "{kmer}");
    }
    assert_eq!(report["kmer_count"].as_object().unwrap().len(), 1024);
    assert_eq!(report["total_reads"], reads.len());
    assert_eq!(report["total_cycles"], cycles.len());
    for (least, name) in [(20, "q20_bases"), (30, "q30_bases"), (40, "q40_bases")] {
        let good = reads.iter().flat_map(|(_, qualities)| qualities).filter(|&&quality| quality >= 33 + least);
        assert_eq!(report[name], good.count());
    }
    for (cycle, cells) in cycles.iter().enumerate() {
        let all = cells.values().fold((0, 0), |all, cell| (all.0 + cell.0, all.1 + cell.1));
        let of = |letter: char| cells.get(&letter).copied().unwrap_or_default();
        let mean = |(bases, qualities): (u64, u64)| qualities as f64 / bases as f64;
        for letter in "ATCG".chars() {
            let figure = if of(letter).0 == 0 { mean(all) } else { mean(of(letter)) };
            assert!(is_figure(&report["quality_curves"][letter.to_string()][cycle], figure));
        }
        for letter in "ATCGN".chars() {
            let share = of(letter).0 as f64 / all.0 as f64;
            assert!(is_figure(&report["content_curves"][letter.to_string()][cycle], share));
        }
        let gc = (of('G').0 + of('C').0) as f64 / all.0 as f64;
        assert!(is_figure(&report["content_curves"]["GC"][cycle], gc));
        assert!(is_figure(&report["quality_curves"]["mean"][cycle], mean(all)));
    }
}

fn options() -> impl Strategy<Value = Options> {
    prop::sample::select(vec!["", "-f 3 -F 0", "-t 5 -l 0", "-53 -Q", "-rg -l 30", "-b 20 -B 9 -x -e 15"])
        .prop_map(|words| Options::parse(words.split_whitespace()).unwrap())
}

proptest! {
    #[test]
    fn the_report_is_that_of_the_reads_before_and_after(options in options(), pairs in reads(0..30)) {
        let (report, ..) = report(&options, &pairs);
        let kept = kept(&options, &pairs);
        for (pairs, when) in [(&pairs, "before"), (&kept, "after")] {
            for mate in 0..2 {
                let reads: Vec<&Owned> = pairs.iter().map(|pair| &pair[mate]).collect();
                check(&report[format!("read{}_{when}_filtering", mate + 1)], &reads);
            }
        }
        prop_assert_eq!(&report["command"], "fastp \"-g\"");
        prop_assert_eq!(&report["filtering_result"]["passed_filter_reads"], 2 * kept.len());
    }

    #[test]
    fn parts_add_up_in_any_order(options in options(), pairs in reads(1..30), at in any::<prop::sample::Index>()) {
        let (_, whole, whole_counts) = report(&options, &pairs);
        let (one, two) = pairs.split_at(at.index(pairs.len()));
        let ((_, one, mut counts), (_, mut two, two_counts)) = (report(&options, one), report(&options, two));
        two += &one;
        counts += &two_counts;
        prop_assert_eq!(two, whole);
        prop_assert_eq!(counts, whole_counts);
    }
}
