//! The summary in a few lines.

use crate::methylation;
use crate::summary::{IndexOrigin, IndexReport, RankSummary, Summary, duplicates_percent, percent};
use std::fmt::Write;
use std::time::Duration;
use zerohop_model::machine::{Bytes, Machine, NodeId};
use zerohop_model::measurement::{Comparison, InstanceReport, PageCensus, ReplicaReport};
use zerohop_model::measurement::{DuplicateReport, LibraryReport, QcReport, SortReport, Tally, TrimReport, UmiReport};
use zerohop_model::plan::{Pages, Placement};
use zerohop_model::read_lengths::ReadLengths;
use zerohop_model::thousands::grouped;

/// Reads are long from this N50 on, in bases.
const LONG_READS: u64 = 1000;

impl Summary {
    /// One line: reads, how many are mapped and duplicates, and the time that it took.
    pub fn line(&self) -> String {
        let tally = &self.run.tally;
        let mut line = format!("{} reads, {:.2} % mapped", grouped(tally.reads), percent(tally.mapped, tally.reads));
        if let Some(duplicates) = self.figures().duplicates {
            line += &format!(", {duplicates:.2} % of these duplicates");
        }
        line + &format!(", {}", seconds(self.wall))
    }

    /// How many pairs are proper, and their insert sizes; none of single reads.
    pub(crate) fn proper_words(&self) -> Option<String> {
        let proper = self.proper()?;
        Some(format!("{proper:.2} % of paired reads properly paired{}", self.insert()))
    }

    /// How long long reads are; none of short ones.
    pub(crate) fn lengths_words(&self) -> Option<String> {
        let lengths = self.long_reads()?;
        Some(format!("N50 about {} bases, the longest read has {}", grouped(lengths.n50()), grouped(lengths.longest())))
    }

    /// The lengths of long reads, whose N50 is 1,000 bases or more; none of short ones.
    pub fn long_reads(&self) -> Option<&ReadLengths> {
        Some(&self.run.tally.lengths).filter(|lengths| lengths.n50() >= LONG_READS)
    }

    /// How often alignments cover the reference in the mean.
    pub(crate) fn coverage(&self) -> Option<f64> {
        let (covered, bases) = (self.run.tally.aligned.reference, self.index.reference_bases);
        // Where nothing was counted, as in PAF, it is not known.
        (bases > 0 && covered > 0).then(|| covered as f64 / bases as f64)
    }

    /// How alike long reads are to the reference, and how often they cover it; none of short ones.
    pub(crate) fn aligned_words(&self) -> Option<String> {
        let identity = self.long_reads().and_then(|_| self.run.tally.aligned.identity())?;
        let coverage =
            self.coverage().map(|times| format!(", {times:.1}x of the reference with supplementary records"));
        Some(format!("{identity:.2} % of columns equal (M, I and D; NM){}", coverage.unwrap_or_default()))
    }

    /// A few lines for the end of a run.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let t = &self.run.tally;
        let mut line = |name: &str, text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name:<11}{text}");
        };
        line("zerohop", format!("{} ({} {})", self.version, self.engine.0, self.engine.1));
        line("command", self.command.clone());
        line("reads", reads_words(t));
        line("mapped", format!("{:.2} %", percent(t.mapped, t.reads)));
        if let Some(words) = self.proper_words() {
            line("proper", words);
        }
        if let Some(words) = self.lengths_words() {
            line("lengths", words);
        }
        if let Some(words) = self.aligned_words() {
            line("aligned", words);
        }
        if let Some(found) = &self.run.methylation {
            line("cytosines", methylation::words(found));
            methylation::controls(found).for_each(|words| line("control", words));
        }
        line("index", self.index_line());
        line("plan", self.plan.reasons.join(" "));
        self.replicas.iter().enumerate().for_each(|(i, replica)| line(&format!("copy {i}"), replica_line(replica)));
        let instances = &self.run.instances;
        instances.iter().enumerate().for_each(|(i, instance)| line(&format!("instance {i}"), instance_words(instance)));
        self.ranks.iter().for_each(|rank| line(&format!("rank {}", rank.rank), rank_words(rank)));
        if let Some(comparison) = &self.comparison {
            line("compared", comparison_words(comparison));
        }
        // Of the others their reads are told alone.
        let of_first = if self.has_other_ranks() { " of rank 0" } else { "" };
        let of_process = self.process_words().map_or(of_first.to_owned(), |words| format!(" of {words}"));
        line(
            if instances.is_empty() { "workers" } else { "feeders" },
            format!(
                "{}{of_first}, waiting {:.1} % of their time for input, {:.1} % for output",
                self.run.workers.len(),
                100.0 * self.share_of_workers(|w| w.wait_input),
                100.0 * self.share_of_workers(|w| w.wait_output)
            ),
        );
        if let Some(trimmed) = &self.run.trimmed {
            line("trimmed", trimmed_words(trimmed));
        }
        line(
            "time",
            format!(
                "{} in all, {} mapping ({} reads/s); CPU{of_process} {} user, {} system",
                seconds(self.wall),
                seconds(self.run.wall),
                grouped(self.reads_per_second() as u64),
                seconds(self.resources.user),
                seconds(self.resources.system)
            ),
        );
        if let Some(sorted) = &self.run.sorted {
            line("sorted", sorted_words(sorted));
            if let Some(duplicates) = &sorted.duplicates {
                line("duplicates", duplicate_words(duplicates));
                libraries_words(&duplicates.libraries).for_each(|words| line("library", words));
                if let Some(umis) = &duplicates.umis {
                    line("molecules", umi_words(umis));
                }
            }
            if let Some(reports) = &sorted.reports {
                line("reports", reports_words(reports));
            }
        }
        line("memory", format!("{} at the peak{of_process}", self.resources.peak_memory));
        for note in self.run.refused.iter().chain(&self.notes) {
            line("note", note.clone());
        }
        out
    }

    /// Whose CPU time and memory were measured, if it is not this run alone.
    pub(crate) fn process_words(&self) -> Option<String> {
        // With ranks a process aligns only some of them.
        (self.samples > 1).then(|| format!("the process so far, in a run of {} samples", self.samples))
    }

    fn insert(&self) -> String {
        let insert = &self.run.tally.insert;
        match (insert.quantile(0.25), insert.quantile(0.5), insert.quantile(0.75)) {
            (Some(low), Some(middle), Some(high)) => {
                format!("; insert size {middle} (quartiles {low} and {high})")
            }
            _ => String::new(),
        }
    }

    pub(crate) fn index_line(&self) -> String {
        let from = match &self.index.origin {
            IndexOrigin::File(path) if self.index.is_mapped => format!("mapped from {path}"),
            IndexOrigin::File(path) => format!("loaded from {path}"),
            IndexOrigin::Built => "built from the reference".to_owned(),
        };
        let IndexReport { bytes, time, read_length, .. } = self.index;
        let time = if time.is_zero() { String::new() } else { format!(" in {}", seconds(time)) };
        let reads = match read_length {
            0 => String::new(),
            length => format!(", for reads of about {length} bases"),
        };
        format!("{from}{time}, {bytes} per copy{reads}")
    }
}

/// How records were sorted.
pub(crate) fn sorted_words(sorted: &SortReport) -> String {
    let spilled = match sorted.spilled {
        Bytes(0) => "all records fitted into memory".to_owned(),
        bytes => format!("{bytes} in temporary files"),
    };
    format!("merged, compressed and written in {}; {spilled}", seconds(sorted.wall))
}

/// How many duplicates there were.
pub(crate) fn duplicate_words(found: &DuplicateReport) -> String {
    let DuplicateReport { paired, single, paired_duplicates, single_duplicates, wall, .. } = *found;
    let Some(part) = duplicates_percent(found) else {
        return format!("no mapped reads; looked for in {}", seconds(wall));
    };
    format!(
        "{part:.2} % of mapped reads: {} of {} with a mapped mate, {} of {} without; found in {}",
        grouped(paired_duplicates),
        grouped(paired),
        grouped(single_duplicates),
        grouped(single),
        seconds(wall)
    )
}

/// Which molecules templates came from.
pub(crate) fn umi_words(umis: &UmiReport) -> String {
    let UmiReport {
        rules,
        families,
        grouped: reads,
        without_umi,
        not_passing_filter,
        poor_alignment,
        no_calls,
        too_short,
    } = umis;
    let (templates, all) = families
        .iter()
        .fold((0, 0), |(templates, all), (size, families)| (templates + size * families, all + families));
    let left_out = [
        (without_umi, "without a UMI"),
        (not_passing_filter, "failed the sequencer's filters"),
        (poor_alignment, "of low mapping quality"),
        (no_calls, "with N in the UMI"),
        (too_short, "with a UMI that is too short"),
    ];
    let left_out: String = left_out
        .iter()
        .filter(|(reads, _)| **reads > 0)
        .map(|(reads, why)| format!(", {} {why}", grouped(**reads)))
        .collect();
    format!(
        "{} families of {} templates ({rules}; {:.2} each); reads: {} grouped{left_out}",
        grouped(all),
        grouped(templates),
        templates as f64 / (all as f64).max(1.0),
        grouped(*reads)
    )
}

/// What came of trimming.
pub(crate) fn trimmed_words(trimmed: &TrimReport) -> String {
    let dropped = [
        (trimmed.low_quality, "of low quality"),
        (trimmed.too_many_n, "with many N"),
        (trimmed.too_short, "too short"),
        (trimmed.too_long, "too long"),
        (trimmed.low_complexity, "of low complexity"),
        (trimmed.adapter_dimers, "of adapters alone"),
    ];
    let dropped: Vec<String> = dropped
        .iter()
        .filter(|(reads, _)| *reads > 0)
        .map(|(reads, why)| format!("{} {why}", grouped(*reads)))
        .collect();
    let dropped = if dropped.is_empty() { "none".to_owned() } else { dropped.join(", ") };
    format!(
        "{} of {} reads stayed, with {:.2} % of all bases; dropped: {dropped}; adapters cut from {} reads",
        grouped(trimmed.kept_reads),
        grouped(trimmed.reads),
        percent(trimmed.kept_bases, trimmed.bases),
        grouped(trimmed.adapter_reads)
    )
}

/// What reports were made.
pub(crate) fn reports_words(reports: &QcReport) -> String {
    let QcReport { files, time, mosdepth, picard, methyldackel, .. } = reports;
    let (time, picard) = (seconds(*time), if *picard { ", metrics of Picard" } else { "" });
    let mosdepth = format!("mosdepth {mosdepth}");
    let methyldackel = methyldackel.as_ref().map(|options| format!(", MethylDackel extract {options}"));
    let methyldackel = methyldackel.as_ref().map_or("", |words| words.trim_end());
    let tools = format!("samtools stats, flagstat, idxstats, coverage, {}{picard}{methyldackel}", mosdepth.trim_end());
    format!("{files} files of {tools}; about {time} of the workers' time")
}

/// What libraries hold; one without reads is left out if there are others.
pub(crate) fn libraries_words(libraries: &[LibraryReport]) -> impl Iterator<Item = String> {
    let is_shown = move |library: &&LibraryReport| libraries.len() == 1 || library.pairs + library.single > 0;
    libraries.iter().filter(is_shown).map(library_words)
}

/// What a library holds.
fn library_words(library: &LibraryReport) -> String {
    let LibraryReport { name, pairs, single, pair_duplicates, single_duplicates, optical_pairs, estimated_size } =
        library;
    let share = percent(2 * pair_duplicates + single_duplicates, 2 * pairs + single);
    let mut text = format!("{name}: {share:.2} % duplicates");
    if let Some(optical) = optical_pairs.filter(|optical| *optical > 0) {
        text += &format!("; {} of {} duplicate pairs are optical", grouped(optical), grouped(*pair_duplicates));
    }
    if let Some(size) = estimated_size {
        text += &format!("; about {} different fragments", grouped(*size));
    }
    text
}

pub(crate) fn rank_words(rank: &RankSummary) -> String {
    format!(
        "on {}, {}: {} in {}, {}",
        rank.host,
        some(rank.workers as u64, "worker", "workers"),
        some(rank.tally.reads, "read", "reads"),
        some(rank.grains, "run of chunks", "runs of chunks"),
        seconds(rank.wall)
    )
}

/// A number of things.
fn some(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

fn replica_line(replica: &ReplicaReport) -> String {
    let census = &replica.census;
    let mut text = wanted(&replica.placement);
    match census.present {
        // What is refused may be to tell.
        Bytes(0) if !replica.refused.is_empty() => {}
        Bytes(0) => text += "; it has no pages large enough to be looked for",
        present => text += &format!("; {present} found"),
    }
    if !census.per_node.is_empty() {
        let huge = percent(census.huge.0, census.present.0);
        text +=
            &format!(": {}; {huge:.0} % on huge pages{}", nodes_found(census), elsewhere(&replica.placement, census));
    }
    replica.refused.iter().for_each(|refused| text += &format!("; {refused}"));
    text
}

/// One instance of an external program, in a line.
pub fn instance_line(number: usize, report: &InstanceReport) -> String {
    format!("{:<11}{}", format!("instance {number}"), instance_words(report))
}

fn instance_words(report: &InstanceReport) -> String {
    let InstanceReport { plan, reads_in, reads_out, private, shared, peak_memory, .. } = report;
    let cpus: Vec<String> = plan.cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    let on = if cpus.is_empty() { "any CPU".to_owned() } else { format!("CPU {}", cpus.join(",")) };
    let mut text = format!("{} threads on {on}, {}", plan.threads, wanted(&plan.placement));
    if *reads_in > 0 {
        text += &format!("; {} reads in, {} out", grouped(*reads_in), grouped(*reads_out));
    }
    text += &format!("; {peak_memory} at the peak");
    for (what, census) in [("of its own", private), ("of a shared index", shared)] {
        if census.present.0 > 0 {
            let elsewhere = elsewhere(&plan.placement, census);
            text += &format!("; {} {what}: {}{elsewhere}", census.present, nodes_found(census));
        }
    }
    report.refused.iter().for_each(|refused| text += &format!("; {refused}"));
    text
}

pub(crate) fn comparison_words(comparison: &Comparison) -> String {
    let Comparison { fragments, records, same, ties, other_score, other_pairing, other_fields, unmatched, .. } =
        comparison;
    let part = |count: u64| format!("{} ({:.4} %)", grouped(count), percent(count, *records));
    format!(
        "with the aligner by itself, {} reads or pairs: {} of {} records the same; {} at another place of the same \
         score, {} \
         at a place of another score, {} paired otherwise, {} with other fields, {} in one of the two alone",
        grouped(*fragments),
        part(*same),
        grouped(*records),
        part(*ties),
        part(*other_score),
        part(*other_pairing),
        part(*other_fields),
        part(*unmatched),
    )
}

/// The placement that was wanted.
pub(crate) fn wanted(placement: &Placement) -> String {
    let nodes: Vec<String> = placement.nodes.iter().map(|n| n.to_string()).collect();
    let nodes = nodes.join(",");
    match placement.pages {
        Pages::Local => format!("local to node {nodes}"),
        Pages::Interleave => format!("interleaved over nodes {nodes}"),
        Pages::FirstTouch => "where first touched".to_owned(),
        Pages::LocalAlloc => "on the node of who first touched it (MPOL_LOCAL)".to_owned(),
    }
}

/// A machine in a line.
pub(crate) fn machine_words(machine: &Machine) -> String {
    let (nodes, cpus) = (machine.nodes.len(), machine.allowed.cpus.len());
    let memory = Bytes(machine.nodes.iter().map(|node| node.memory.0).sum());
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let model = if machine.cpu_model.is_empty() { "processor unknown" } else { &machine.cpu_model };
    format!("{}: {model}, {}, {} for us, {memory}", machine.name, count(nodes, "node"), count(cpus, "CPU"))
}

/// The part of these pages that lies on `node`, in percent.
pub(crate) fn percent_on(census: &PageCensus, node: NodeId) -> f64 {
    let on = |(at, bytes): &(NodeId, Bytes)| if *at == node { bytes.0 } else { 0 };
    percent(census.per_node.iter().map(on).sum(), census.present.0)
}

/// What part of the pages was found where.
fn nodes_found(census: &PageCensus) -> String {
    let share = |bytes: u64| percent(bytes, census.present.0);
    let found = census.per_node.iter().map(|(node, bytes)| format!("{:.1} % on node {node}", share(bytes.0)));
    found.collect::<Vec<_>>().join(", ")
}

/// A smaller part of the pages, in percent, may be on any node: what a program had before it was placed.
const ELSEWHERE_PERCENT: f64 = 5.0;

/// What fell on other nodes than those that were asked for.
fn elsewhere(asked: &Placement, census: &PageCensus) -> String {
    let is_asked_for = matches!(asked.pages, Pages::Local | Pages::Interleave) && !asked.nodes.is_empty();
    let others = census.per_node.iter().filter(|(node, _)| !asked.nodes.contains(node)).map(|(_, bytes)| bytes.0);
    let others = Bytes(others.sum());
    match is_asked_for && percent(others.0, census.present.0) > ELSEWHERE_PERCENT {
        true => format!("; {others} of it fell on other nodes: too little memory was free on its own"),
        false => String::new(),
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// How many reads came in and out.
pub(crate) fn reads_words(tally: &Tally) -> String {
    let Tally { reads, primary_records, unaligned, .. } = *tally;
    let without_record = tally.without_record();
    let some = |count: u64, words: &str| match count {
        0 => String::new(),
        count => format!(", {} {words}", grouped(count)),
    };
    let accounted_for = grouped(primary_records + without_record);
    let (without, unaligned) = (some(without_record, "without a record"), some(unaligned, "to --unaligned"));
    format!("{} in, {accounted_for} accounted for{without}{unaligned}", grouped(reads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_on_other_nodes_is_told() {
        use zerohop_model::plan::HugePages;
        let asked = |pages| Placement { nodes: vec![NodeId(1)], pages, huge_pages: HugePages::Auto };
        let census = |near: u64, far: u64| PageCensus {
            present: Bytes(near + far),
            per_node: vec![(NodeId(0), Bytes(far)), (NodeId(1), Bytes(near))],
            huge: Bytes(0),
        };
        assert_eq!(elsewhere(&asked(Pages::Local), &census(96 << 20, 4 << 20)), "");
        let told = elsewhere(&asked(Pages::Local), &census(60 << 20, 40 << 20));
        assert_eq!(told, "; 40.0 MiB of it fell on other nodes: too little memory was free on its own");
        assert_eq!(elsewhere(&asked(Pages::FirstTouch), &census(60 << 20, 40 << 20)), "", "nothing was asked for");
    }

    #[test]
    fn time_and_memory_of_a_sample_are_those_of_a_process_in_a_run_of_several() {
        let of = |samples| Summary { samples, ..crate::fixtures::summary(1, 1, 1.0) }.process_words();
        assert_eq!([of(0), of(1)], [None, None]);
        assert_eq!(of(3).as_deref(), Some("the process so far, in a run of 3 samples"));
    }

    #[test]
    fn reads_without_a_record_are_accounted_for() {
        let all = Tally { reads: 90, primary_records: 90, ..Tally::default() };
        assert_eq!(reads_words(&all), "90 in, 90 accounted for");
        let some = Tally { primary_records: 86, left_out: 1, not_shown: 3, unaligned: 5, ..all };
        assert_eq!(reads_words(&some), "90 in, 90 accounted for, 4 without a record, 5 to --unaligned");
    }
}
