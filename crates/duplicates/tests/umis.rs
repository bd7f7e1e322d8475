//! Molecules of templates with UMIs, against a twin that looks at all pairs of templates.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use zerohop_duplicates::{
    ChunkCounts, Decision, NamedFragment, Primary, Rules, Search, Signatures, UmiRules, UmiStrategy,
};
use zerohop_model::record::{CigarOp, FIRST, LAST, PAIRED, QC_FAIL, REVERSE, UNMAPPED};
use zerohop_model::sink::Collect;
use zerohop_sort::{Ordinal, RunStore};

#[derive(Debug, Clone)]
struct Read {
    flags: u16,
    position: i32,
    clipped: u32,
    mapq: u8,
    quality: u8,
}

#[derive(Debug, Clone)]
struct Template {
    umi: Option<&'static str>,
    cell: Option<&'static str>,
    library: u16,
    reads: Vec<Read>,
    /// Whether a supplementary record follows the first.
    supplementary: bool,
}

const BASES: i64 = 10;

impl Read {
    fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// 5' end before clipping, and strand; behind all others if it is nowhere.
    fn end(&self) -> (i64, bool) {
        let start = i64::from(self.position) + 1;
        match (self.is(UNMAPPED), self.is(REVERSE)) {
            (true, _) => (i64::MAX, true),
            (_, false) => (start - i64::from(self.clipped), false),
            (_, true) => (start + BASES - 1, true),
        }
    }
}

impl Template {
    fn is_grouped(&self) -> bool {
        let mapped = || self.reads.iter().filter(|read| !read.is(UNMAPPED));
        self.umi.is_some_and(|umi| !umi.contains('N'))
            && mapped().next().is_some()
            && mapped().all(|read| read.mapq > 0)
            && !self.reads.iter().any(|read| read.is(QC_FAIL))
    }

    /// The first read, and the second.
    fn in_order(&self) -> impl Iterator<Item = &Read> {
        let (first, second): (Vec<_>, Vec<_>) = self.reads.iter().partition(|read| !read.is(LAST));
        first.into_iter().chain(second)
    }

    fn ends(&self) -> Vec<(i64, bool)> {
        let mut ends: Vec<_> = self.in_order().map(Read::end).collect();
        ends.resize(2, (i64::MAX, true));
        ends
    }

    fn sorted_ends(&self) -> Vec<(i64, bool)> {
        let mut ends = self.ends();
        ends.sort_unstable();
        ends
    }

    fn strands(&self) -> Vec<bool> {
        let mut strands: Vec<_> = self.in_order().map(|read| !read.is(UNMAPPED) && read.is(REVERSE)).collect();
        strands.resize(2, false);
        strands
    }

    /// The halves of a paired UMI, that of the lower end first, and whether they were turned for that.
    fn halves(&self) -> (Vec<&'static str>, bool) {
        let mut halves: Vec<_> = self.umi.unwrap_or_default().split('-').collect();
        let is_turned = self.ends()[0] > self.ends()[1];
        if is_turned {
            halves.reverse();
        }
        (halves, is_turned)
    }

    fn score(&self) -> u64 {
        let good = |read: &&Read| !read.is(UNMAPPED) && read.quality >= 15;
        self.reads.iter().filter(good).map(|read| u64::from(read.quality)).sum::<u64>() * BASES as u64
    }
}

/// Whether two templates come from one molecule, without steps over others; and whether from one strand of it.
fn same(strategy: UmiStrategy, one: &Template, other: &Template) -> (bool, bool) {
    let place = |template: &Template| (template.sorted_ends(), template.library, template.cell);
    if place(one) != place(other) {
        return (false, false);
    }
    let differ = |a: &str, b: &str| a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count();
    let (one_umi, other_umi) = (one.umi.unwrap(), other.umi.unwrap());
    match strategy {
        UmiStrategy::Exact => (one.strands() == other.strands() && one_umi == other_umi, true),
        UmiStrategy::Edit => (one.strands() == other.strands() && differ(one_umi, other_umi) <= 1, true),
        UmiStrategy::Paired => {
            let (one, other) = (one.halves(), other.halves());
            (one.0 == other.0, one.1 == other.1)
        }
        UmiStrategy::Adjacency => unreachable!(),
    }
}

/// For each template its molecule, as the number of its first template, and a number of its strand; and whether it is a
/// duplicate.
fn naive(strategy: UmiStrategy, templates: &[Template]) -> Vec<Option<(usize, usize, bool)>> {
    let mut first: Vec<usize> = (0..templates.len()).collect();
    let grouped: Vec<usize> = first.iter().copied().filter(|at| templates[*at].is_grouped()).collect();
    loop {
        let before = first.clone();
        for (&a, &b) in grouped.iter().flat_map(|a| grouped.iter().map(move |b| (a, b))) {
            if same(strategy, &templates[a], &templates[b]).0 {
                first[b] = first[a].min(first[b]);
            }
        }
        if before == first {
            break;
        }
    }
    let is_of_family =
        |one: usize, other: usize| first[one] == first[other] && same(strategy, &templates[one], &templates[other]).1;
    let of = |at: usize| {
        let family: Vec<_> = grouped.iter().copied().filter(|other| is_of_family(at, *other)).collect();
        let best = family.iter().copied().min_by_key(|at| (std::cmp::Reverse(templates[*at].score()), *at));
        (first[at], family[0], best != Some(at))
    };
    (0..templates.len()).map(|at| templates[at].is_grouped().then(|| of(at))).collect()
}

/// The same by signatures, with so many templates in a chunk and so much memory.
fn found(
    (rules, strategy): (Rules, UmiStrategy),
    templates: &[Template],
    in_chunk: usize,
    memory: u64,
) -> Vec<Option<(usize, usize, bool)>> {
    let edits = (strategy == UmiStrategy::Paired).then_some(0);
    let umis = Some(UmiRules::new(strategy, edits).unwrap());
    let search = Search { rules, optical_distance: None, templates: true, umis };
    let folder = tempfile::tempdir().unwrap();
    let (store, counts) = (RunStore::new(memory, folder.path().to_owned()), ChunkCounts::default());
    let (mut collector, mut signatures) = (store.collector(), Signatures::new(search));
    // Of each template its records, and the number of the first of all.
    let (mut records, mut all) = (Vec::new(), 0);
    for (chunk, of_chunk) in templates.chunks(in_chunk).enumerate() {
        signatures.clear();
        let mut record = 0;
        for template in of_chunk {
            // Equal scores are decided by names: in the order of the input.
            let name = format!("{:05}", records.len());
            let fragment = NamedFragment { name: name.as_bytes(), library: template.library, read_group: 0 };
            signatures.begin_fragment(fragment).unwrap();
            let begin = record;
            for (number, read) in template.reads.iter().enumerate() {
                let cigar = [CigarOp::new(read.clipped, b'S').unwrap(), CigarOp::new(BASES as u32, b'M').unwrap()];
                let cigar = if read.clipped > 0 { &cigar[..] } else { &cigar[1..] };
                let qual = [read.quality + 33; BASES as usize];
                let primary = Primary::new(read.flags, (0, read.position), cigar, (&qual, qual.len()), 0, record);
                let primary = primary.with_barcode(template.umi.map(str::as_bytes));
                signatures.add(primary.of_molecule(read.mapq, template.cell.map(str::as_bytes)));
                record += 1;
                if number == 0 && template.supplementary {
                    signatures.count_other(true);
                    record += 1;
                }
            }
            let ordinal = |record| Ordinal::first_of(chunk as u64).unwrap().with_record(record);
            records.push(((begin..record).map(ordinal).collect::<Vec<_>>(), all + u64::from(begin)));
        }
        collector.add(chunk as u64, signatures.frames().unwrap()).unwrap();
        let mut stored = Vec::new();
        signatures.put_counts(&mut stored);
        counts.add(chunk as u64, record, &stored);
        all += u64::from(record);
    }
    collector.finish().unwrap();
    let decision = Decision::new(store.parts(1 << 20), &counts, search);
    let mut found = decision.examined();
    found += decision.decide(0..decision.count()).unwrap();
    let marks = decision.into_marks();
    let total = found.total();
    let reads: usize = templates.iter().map(|template| template.reads.len()).sum();
    let dropped = total.without_umi + total.not_passing_filter + total.poor_alignment + total.no_calls;
    assert_eq!(total.grouped + dropped, reads as u64);
    let families: u64 = found.families.iter().map(|(size, families)| size * families).sum();
    assert_eq!(families, templates.iter().filter(|template| template.is_grouped()).count() as u64);
    let numbers: Vec<u64> = records.iter().map(|(_, number)| *number).collect();
    // The strand is known by the first template that has it.
    let mut of_strand = std::collections::HashMap::new();
    let mut of = |(at, (records, _)): (usize, &(Vec<Ordinal>, u64))| {
        let all: Vec<_> = records.iter().map(|record| (marks.molecule(*record), marks.is_marked(*record))).collect();
        assert!(all.iter().all(|other| *other == all[0]), "{all:?}");
        let (molecule, is_marked) = all[0];
        let mut text = Vec::new();
        molecule?.put(&mut text);
        let first = numbers.iter().position(|number| *number == molecule.unwrap().number).unwrap();
        Some((first, *of_strand.entry(text).or_insert(at), is_marked))
    };
    records.iter().enumerate().map(&mut of).collect()
}

fn read(paired: u16) -> impl Strategy<Value = Read> {
    let odd = prop::sample::select(vec![0, 0, 0, 0, 0, UNMAPPED, QC_FAIL]);
    let mapq = prop::sample::select(vec![0u8, 1, 60, 60, 60, 60]);
    (3i32..6, any::<bool>(), 0u32..3, odd, mapq, prop::sample::select(vec![2u8, 20, 30])).prop_map(
        move |(position, reverse, clipped, odd, mapq, quality)| Read {
            flags: paired | odd | if reverse { REVERSE } else { 0 },
            position,
            clipped,
            mapq,
            quality,
        },
    )
}

fn template() -> impl Strategy<Value = Template> {
    let pair = (read(PAIRED | FIRST), read(PAIRED | LAST)).prop_map(|(one, two)| vec![one, two]);
    let turned = (read(PAIRED | LAST), read(PAIRED | FIRST)).prop_map(|(one, two)| vec![one, two]);
    let reads = prop_oneof![3 => pair, 1 => turned, 1 => read(0).prop_map(|read| vec![read])];
    let umis = ["AC-GT", "AC-GT", "GT-AC", "AC-GA", "CC-GA", "AN-GT"].map(Some);
    let umi = prop::sample::select([&umis[..], &[None]].concat());
    let cell = prop::sample::select(vec![None, None, None, Some("c")]);
    (umi, cell, prop::sample::select(vec![0u16, 0, 0, 1]), reads, any::<bool>())
        .prop_map(|(umi, cell, library, reads, supplementary)| Template { umi, cell, library, reads, supplementary })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn molecules_are_those_of_the_twin(
        templates in prop::collection::vec(template(), 0..60),
        in_chunk in 1usize..9,
        memory in prop::sample::select(vec![0u64, 500, 1 << 20]),
    ) {
        for strategy in [UmiStrategy::Exact, UmiStrategy::Edit, UmiStrategy::Paired] {
            let wanted = naive(strategy, &templates);
            prop_assert_eq!(found((Rules::Samtools, strategy), &templates, in_chunk, memory), wanted);
        }
    }
}

#[test]
fn umis_of_two_lengths_in_one_place_are_an_error_that_names_the_read() {
    let read = |flags| Read { flags, position: 5, clipped: 0, mapq: 60, quality: 30 };
    let template = |umi| Template {
        umi: Some(umi),
        cell: None,
        library: 0,
        reads: vec![read(PAIRED | FIRST), read(PAIRED | LAST | REVERSE)],
        supplementary: false,
    };
    let templates = [template("ACG"), template("ACGT")];
    let exact = found((Rules::Picard, UmiStrategy::Exact), &templates, 1, 0);
    assert_eq!(exact, [Some((0, 0, false)), Some((1, 1, false))]);
    let failed = std::panic::catch_unwind(|| found((Rules::Picard, UmiStrategy::Edit), &templates, 1, 0));
    let message = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("read: \"00001\"") && message.contains("UMIs ACGT and ACG of one place"), "{message}");
}
