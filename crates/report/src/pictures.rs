//! The pictures of what was sequenced, in the order in which they are looked at.

use crate::bars::{Bar, Bars};
use crate::chart::ChartError;
use crate::curves;
use crate::m_bias;
use crate::page::{Page, Table};
use crate::summary::{Summary, percent};
use zerohop_model::index::Product;
use zerohop_model::measurement::{DuplicateReport, TrimReport, UmiReport};
use zerohop_model::qc_figures::{ContigDepth, QcFigures};
use zerohop_model::thousands::grouped;

/// The most contigs with a bar each.
const MOST_CONTIGS: usize = 30;

/// Adds all pictures of a run for which it has numbers.
pub(crate) fn add(page: &mut Page, run: &Summary) -> Result<(), ChartError> {
    let nothing = QcFigures::default();
    let figures = run.qc_figures().unwrap_or(&nothing);
    if let Some(trimmed) = &run.run.trimmed {
        page.bars(&trimmed_reads(trimmed));
        let bases = [0, 1].map(|mate| curves::sequenced_bases(trimmed, mate));
        for curve in std::iter::once(curves::trimmed_quality(trimmed)).chain(bases).flatten() {
            page.chart(&curve.chart)?.folded(&curve.fold, &curve.table);
        }
        if trimmed.reads > 0 && trimmed.cycles.iter().all(|cycles| cycles.quality_before.is_empty()) {
            page.note("Trimmed with --fastp-json, zerohop also shows qualities and bases by cycle.");
        }
    }
    page.bars(&reads(run));
    let inserts = curves::inserts(figures, &run.run.tally.insert);
    let of_depth = [curves::along_reference(figures), curves::cumulative(figures)];
    for (number, curve) in of_depth.into_iter().chain([inserts, curves::gc(figures)]).enumerate() {
        if let Some(curve) = curve {
            page.chart(&curve.chart)?.folded(&curve.fold, &curve.table);
        }
        if number == 0 && figures.contigs.len() > 1 {
            page.bars(&contigs(figures));
        }
    }
    if figures.mapq.iter().any(|&count| count > 0) {
        page.bars(&mapping_quality(&figures.mapq))
            .folded("The same in numbers: each quality", &qualities(&figures.mapq));
    }
    for curve in [curves::quality(figures), curves::mismatches(figures)].into_iter().flatten() {
        page.chart(&curve.chart)?.folded(&curve.fold, &curve.table);
    }
    if let Some(found) = run.run.sorted.as_ref().and_then(|sorted| sorted.duplicates.as_ref()) {
        let duplicates = duplicates(found);
        if !duplicates.bars.is_empty() {
            page.bars(&duplicates);
        }
        if let Some(umis) = found.umis.as_ref().filter(|umis| !umis.families.is_empty()) {
            page.bars(&families(umis)).folded("The same in numbers: each size", &family_sizes(umis));
        }
    }
    if let Some(found) = &run.run.methylation {
        for curve in m_bias::m_bias(found).into_iter().flatten() {
            page.chart(&curve.chart)?.folded(&curve.fold, &curve.table);
        }
        page.caption("Methylated cytosines by context").table(&m_bias::table(found));
    }
    // Of no reads, reports find nothing either.
    if figures.reads == 0 && run.run.tally.reads > 0 && run.product == Product::Records {
        page.note("Sorted with --qc, zerohop also shows depth, GC content, mapping quality, and quality by cycle.");
    }
    Ok(())
}

fn bar(name: String, value: f64, shown: String, colour: usize) -> Bar {
    Bar { name, value, shown, colour }
}

/// What became of the reads.
fn reads(run: &Summary) -> Bars {
    let tally = &run.run.tally;
    let count = |(name, count, colour): (&str, u64, usize)| {
        let part = percent(count, tally.reads);
        bar(name.to_owned(), part, format!("{part:.2} % ({})", grouped(count)), colour)
    };
    let not_mapped = ("not mapped", tally.reads.saturating_sub(tally.mapped), 1);
    let kinds = match run.proper() {
        Some(_) => {
            let otherwise = tally.mapped.saturating_sub(tally.properly_paired);
            vec![("properly paired", tally.properly_paired, 0), ("mapped otherwise", otherwise, 5), not_mapped]
        }
        None => vec![("mapped", tally.mapped, 0), not_mapped],
    };
    Bars { title: "Reads".to_owned(), bars: kinds.into_iter().map(count).collect(), ..Bars::default() }
}

/// Which reads were dropped before they were aligned, and from how many an adapter was cut.
fn trimmed_reads(trimmed: &TrimReport) -> Bars {
    let kinds = [
        ("stayed", trimmed.kept_reads, 0),
        ("had an adapter cut off", trimmed.adapter_reads, 5),
        ("of low quality", trimmed.low_quality, 1),
        ("with many N", trimmed.too_many_n, 1),
        ("too short", trimmed.too_short, 1),
        ("too long", trimmed.too_long, 1),
        ("of low complexity", trimmed.low_complexity, 1),
        ("of adapters alone", trimmed.adapter_dimers, 1),
    ];
    let count = |(name, count, colour): (&str, u64, usize)| {
        let part = percent(count, trimmed.reads);
        bar(name.to_owned(), part, format!("{part:.2} % ({})", grouped(count)), colour)
    };
    let shown = kinds.into_iter().filter(|(_, count, colour)| *count > 0 || *colour == 0);
    Bars { title: "Reads, trimmed and dropped".to_owned(), bars: shown.map(count).collect(), ..Bars::default() }
}

/// The mean depth of the longest contigs, in the order of the header.
fn contigs(figures: &QcFigures) -> Bars {
    let shown = longest(&figures.contigs);
    let title = match figures.all_contigs > shown.len() as u64 {
        true => format!("Mean depth of contigs, the longest of {}", grouped(figures.all_contigs)),
        false => "Mean depth of contigs".to_owned(),
    };
    let one = |contig: &&ContigDepth| bar(contig.name.clone(), contig.depth, format!("{:.2}x", contig.depth), 0);
    Bars { title, bars: shown.iter().map(one).collect(), ..Bars::default() }
}

/// The longest, in the order in which they are given; of some of the same length the first.
fn longest(contigs: &[ContigDepth]) -> Vec<&ContigDepth> {
    let mut shown: Vec<(usize, &ContigDepth)> = contigs.iter().enumerate().collect();
    shown.sort_by_key(|(_, contig)| std::cmp::Reverse(contig.length));
    shown.truncate(MOST_CONTIGS);
    shown.sort_by_key(|(place, _)| *place);
    shown.into_iter().map(|(_, contig)| contig).collect()
}

/// Reads by mapping quality: 0, and tens.
fn mapping_quality(counts: &[u64]) -> Bars {
    let all: u64 = counts.iter().sum();
    let range = |first: usize, last: usize| {
        let part = percent(counts.iter().take(last + 1).skip(first).sum(), all);
        let name = if first == last { first.to_string() } else { format!("{first} to {last}") };
        bar(name, part, format!("{part:.2} %"), 0)
    };
    let last = counts.len().saturating_sub(1);
    let tens = (1..=last).step_by(10).map(|first| range(first, (first + 9).min(last)));
    let title = "Mapping quality of mapped reads that are no duplicates".to_owned();
    Bars { title, bars: std::iter::once(range(0, 0)).chain(tens).collect(), ..Bars::default() }
}

fn qualities(counts: &[u64]) -> Table {
    let occurring = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let rows = occurring.map(|(quality, &count)| vec![quality.to_string(), grouped(count)]).collect();
    Table { head: ["mapping quality", "reads"].map(str::to_owned).to_vec(), rows }
}

/// The part of duplicates among reads with a mapped mate, without one, and in each of several libraries, as far as
/// there are such reads.
fn duplicates(found: &DuplicateReport) -> Bars {
    let part = |name: &str, duplicates: u64, all: u64, colour: usize| {
        let part = percent(duplicates, all);
        let shown = format!("{part:.2} % ({} of {})", grouped(duplicates), grouped(all));
        (all > 0).then(|| bar(name.to_owned(), part, shown, colour))
    };
    let mut bars = vec![
        part("reads with a mapped mate", found.paired_duplicates, found.paired, 0),
        part("reads without one", found.single_duplicates, found.single, 0),
    ];
    if found.libraries.len() > 1 {
        let of_library = |library: &zerohop_model::measurement::LibraryReport| {
            let duplicates = 2 * library.pair_duplicates + library.single_duplicates;
            part(&format!("library {}", library.name), duplicates, 2 * library.pairs + library.single, 5)
        };
        bars.extend(found.libraries.iter().map(of_library));
    }
    Bars { title: "Duplicates".to_owned(), bars: bars.into_iter().flatten().collect(), ..Bars::default() }
}

/// Families of this size and more are one bar.
const LARGE_FAMILY: u64 = 20;

/// How many templates come from families of each size: what a family of several templates brings, one of a single one
/// does not.
fn families(umis: &UmiReport) -> Bars {
    let templates = |(size, families): &(u64, u64)| size * families;
    let all: u64 = umis.families.iter().map(templates).sum();
    let of_sizes = |name: String, sizes: std::ops::RangeInclusive<u64>| {
        let found = umis.families.iter().filter(|(size, _)| sizes.contains(size));
        let (part, families) = (percent(found.clone().map(templates).sum(), all), found.map(|(_, count)| count).sum());
        bar(name, part, format!("{part:.2} % ({} families)", grouped(families)), 0)
    };
    let largest = umis.families.iter().map(|(size, _)| *size).max().unwrap_or(0);
    let mut bars: Vec<_> =
        (1..=largest.min(LARGE_FAMILY - 1)).map(|size| of_sizes(size.to_string(), size..=size)).collect();
    if largest >= LARGE_FAMILY {
        bars.push(of_sizes(format!("{LARGE_FAMILY} and more"), LARGE_FAMILY..=largest));
    }
    Bars {
        title: "Templates by the size of their family (one molecule, one strand)".to_owned(),
        bars,
        ..Bars::default()
    }
}

fn family_sizes(umis: &UmiReport) -> Table {
    let rows = umis.families.iter().map(|(size, families)| vec![grouped(*size), grouped(*families)]).collect();
    Table { head: ["templates", "families"].map(str::to_owned).to_vec(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use zerohop_model::measurement::TrimCycles;

    #[test]
    fn families_are_shown_by_their_size() {
        let umis = UmiReport { families: vec![(1, 10), (3, 5), (25, 1), (40, 1)], ..UmiReport::default() };
        let bars = families(&umis).bars;
        assert_eq!(bars.len(), 20);
        assert_eq!((&*bars[0].shown, &*bars[1].shown), ("11.11 % (10 families)", "0.00 % (0 families)"));
        assert_eq!((&*bars[19].name, &*bars[19].shown), ("20 and more", "72.22 % (2 families)"));
        let small = UmiReport { families: vec![(2, 3)], ..UmiReport::default() };
        assert_eq!(families(&small).bars.len(), 2);
    }

    #[test]
    fn trimmed_reads_have_their_pictures() {
        let mut run = fixtures::summary(1, 1, 1.0);
        let cycles = TrimCycles {
            quality_before: vec![30.0, 20.0, 2.0],
            quality_after: vec![31.0, 25.0],
            bases_before: vec![[0.25, 0.25, 0.5, 0.0, 0.0]; 3],
        };
        let cycles = [cycles, TrimCycles::default()];
        run.run.trimmed =
            Some(TrimReport { reads: 200, kept_reads: 150, low_quality: 50, cycles, ..TrimReport::default() });
        let mut page = Page::new("t");
        add(&mut page, &run).unwrap();
        let html = page.html();
        assert_eq!(html.matches("<svg").count(), 2, "{html}");
        for wanted in ["Quality by cycle, before and after trimming", "25.00 % (50)", "75.00 % (150)"] {
            assert!(html.contains(wanted), "{wanted} is not in {html}");
        }
        assert!(!html.contains("too long") && !html.contains("NaN"));
    }

    #[test]
    fn every_picture_has_a_title_and_its_numbers() {
        let mut page = Page::new("t");
        add(&mut page, &fixtures::with_figures("S1")).unwrap();
        let html = page.html();
        for title in [
            "Depth along the reference",
            "How much of the reference is covered how deep",
            "Insert sizes",
            "GC content of reads, against theory",
            "Quality by cycle",
            "Mismatches by cycle",
        ] {
            assert!(html.contains(&format!("<title>{title}</title>")), "{title} is not in {html}");
        }
        for wanted in ["Mean depth of contigs", ">1 to 10</th>", "Duplicates", "properly paired"] {
            assert!(html.contains(wanted), "{wanted} is not in {html}");
        }
        assert_eq!(html.matches("<svg").count(), html.matches("role=\"img\"").count());
        assert_eq!(html.matches("The same in numbers").count(), 7);
        assert!(!html.contains("NaN"));
    }

    #[test]
    fn of_contigs_of_the_same_length_the_first_have_bars() {
        let contig = |(number, length): (usize, u64)| ContigDepth {
            name: format!("c{number}"),
            length,
            ..ContigDepth::default()
        };
        let shown = |lengths: &[u64]| {
            let contigs = lengths.iter().copied().enumerate().map(contig).collect();
            let bars = super::contigs(&QcFigures { contigs, all_contigs: 100, ..QcFigures::default() }).bars;
            bars.into_iter().map(|bar| bar.name).collect::<Vec<_>>()
        };
        let names = |places: std::ops::Range<usize>| places.map(|place| format!("c{place}")).collect::<Vec<_>>();
        assert_eq!(shown(&[1_000; 100]), names(0..30));
        let with_long = [&[500; 40][..], &[1_000; 25], &[2_000]].concat();
        assert_eq!(shown(&with_long), [names(0..4), names(40..66)].concat());
    }

    #[test]
    fn an_empty_run_is_not_told_to_make_reports() {
        let mut run = fixtures::summary(1, 1, 1.0);
        run.run.tally = Default::default();
        let mut page = Page::new("t");
        add(&mut page, &run).unwrap();
        assert!(!page.html().contains("--qc"), "{}", page.html());
    }

    #[test]
    fn of_no_reads_there_are_no_bars_of_duplicates() {
        let found = DuplicateReport { paired: 10, paired_duplicates: 1, ..DuplicateReport::default() };
        assert_eq!(duplicates(&found).bars.len(), 1);
        assert!(duplicates(&DuplicateReport::default()).bars.is_empty());
    }

    #[test]
    fn a_run_without_reports_shows_its_reads() {
        let mut page = Page::new("t");
        add(&mut page, &fixtures::summary(1, 1, 1.0)).unwrap();
        let html = page.html();
        assert!(html.contains("97.20 % (12,000,000)") && html.contains("--qc") && !html.contains("<svg"), "{html}");
    }
}
