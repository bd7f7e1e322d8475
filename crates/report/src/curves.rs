//! Line charts of what reports found in the records, with their numbers.

use crate::chart::{Axes, Chart, Kind, Part, Series};
use crate::page::Table;
use crate::sequenced::{mean, mean_place};
use zerohop_model::measurement::{InsertSizes, TrimCycles, TrimReport};
use zerohop_model::qc_figures::{ContigDepth, QcFigures};
use zerohop_model::thousands::grouped;

/// The most rows of a table.
const MOST_ROWS: usize = 60;
/// The most points of a picture of the reference or of cycles: more are closer to each other than pixels.
const MOST_POINTS: usize = 600;
/// The part of pairs that is shown by insert size: the few others would make the picture too wide.
const SHOWN_PAIRS: f64 = 0.998;
/// Less of the reference than this, in percent, is not shown by depth.
const LEAST_COVERED: f64 = 0.1;

/// A chart, and its numbers.
pub(crate) struct Curve {
    /// The chart.
    pub chart: Chart,
    /// What the table is called.
    pub fold: String,
    /// Its numbers.
    pub table: Table,
}

impl Curve {
    /// A chart with a table of the same points, at those of the longest row of the chart.
    pub(crate) fn new(title: &str, x: &str, y: &str, series: Vec<Series>, digits: usize) -> Option<Self> {
        let longest = series.iter().map(|series| &series.points).max_by_key(|points| points.len())?;
        if longest.len() < 2 {
            return None;
        }
        let step = longest.len().div_ceil(MOST_ROWS);
        let value = |series: &Series, at: usize| {
            let place = series.points.binary_search_by(|(x, _)| x.total_cmp(&longest[at].0)).ok();
            place.map_or("-".to_owned(), |place| format!("{:.digits$}", series.points[place].1))
        };
        let row = |at: usize| {
            std::iter::once(longest[at].0.to_string()).chain(series.iter().map(|series| value(series, at))).collect()
        };
        let name = |series: &Series| if series.name.is_empty() { y.to_owned() } else { series.name.clone() };
        let table = Table {
            head: std::iter::once(x.to_owned()).chain(series.iter().map(name)).collect(),
            rows: (0..longest.len()).step_by(step).map(row).collect(),
        };
        let fold = match step {
            1 => "The same in numbers".to_owned(),
            _ => format!("The same in numbers, one point of {step}"),
        };
        let chart = Chart {
            title: title.to_owned(),
            x: x.to_owned(),
            y: y.to_owned(),
            axes: Axes::ToLast,
            series,
            parts: Vec::new(),
        };
        Some(Curve { chart, fold, table })
    }
}

pub(crate) fn measured(name: &str, points: Vec<(f64, f64)>, colour: usize) -> Series {
    Series { name: name.to_owned(), points, kind: Kind::Measured, colour }
}

/// Points at 0, 1, 2 and so on.
fn from_zero(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    values.enumerate().map(|(at, value)| (at as f64, value)).collect()
}

/// Contigs beside each other, in the order of the header; none where no read covers them.
pub(crate) fn along_reference(figures: &QcFigures) -> Option<Curve> {
    let shown: Vec<&ContigDepth> = figures.contigs.iter().filter(|contig| !contig.windows.is_empty()).collect();
    let windows: usize = shown.iter().map(|contig| contig.windows.len()).sum();
    let is_covered = shown.iter().flat_map(|contig| &contig.windows).any(|&depth| depth > 0.0);
    if windows < 2 || !is_covered {
        return None;
    }
    let bases = figures.window_bases.max(1);
    let (mut series, mut parts, mut begin) = (Vec::new(), Vec::new(), 0.0);
    for (number, contig) in shown.iter().enumerate() {
        let middle = |(from, to, depth): (u64, u64, f64)| (begin + (from + to) as f64 / 2e6, depth);
        let points = joined(contig, bases, windows.div_ceil(MOST_POINTS)).into_iter().map(middle).collect();
        // Neighbours differ.
        series.push(measured("", points, number % 2));
        let end = begin + contig.length as f64 / 1e6;
        parts.push(Part { name: contig.name.clone(), range: (begin, end) });
        begin = end;
    }
    let of = match figures.all_contigs > shown.len() as u64 {
        true => format!(", of {} of {} contigs", shown.len(), figures.all_contigs),
        false => String::new(),
    };
    let chart = Chart {
        title: format!("Depth along the reference{of}"),
        x: "million bases".to_owned(),
        y: "mean depth".to_owned(),
        axes: Axes::ToLast,
        series,
        parts,
    };
    let each = windows.div_ceil(MOST_ROWS);
    let row = |name: &str, (from, to, depth): (u64, u64, f64)| {
        vec![name.to_owned(), (from + 1).to_string(), to.to_string(), format!("{depth:.2}")]
    };
    let rows =
        shown.iter().flat_map(|contig| joined(contig, bases, each).into_iter().map(|part| row(&contig.name, part)));
    let head = ["contig", "from base", "to base", "mean depth"].map(str::to_owned).to_vec();
    let fold = match each {
        1 => "The same in numbers".to_owned(),
        _ => format!("The same in numbers, each the mean of {each} windows in a row"),
    };
    Some(Curve { chart, fold, table: Table { head, rows: rows.collect() } })
}

/// Where so many windows in a row begin and end, and their mean depth.
fn joined(contig: &ContigDepth, bases: u64, windows: usize) -> Vec<(u64, u64, f64)> {
    let part = |(number, depths): (usize, &[f64])| {
        let from = (number * windows) as u64 * bases;
        let to = (from + depths.len() as u64 * bases).min(contig.length);
        (from, to, depths.iter().sum::<f64>() / depths.len() as f64)
    };
    contig.windows.chunks(windows.max(1)).enumerate().map(part).collect()
}

/// How much of the reference is covered so deep or deeper.
pub(crate) fn cumulative(figures: &QcFigures) -> Option<Curve> {
    let all: u64 = figures.places.iter().sum();
    let mut left = all;
    let mut points = Vec::new();
    for (depth, count) in figures.places.iter().enumerate() {
        let part = 100.0 * left as f64 / all.max(1) as f64;
        if part < LEAST_COVERED {
            break;
        }
        points.push((depth as f64, part));
        left -= count;
    }
    let y = "of the reference (%)";
    Curve::new("How much of the reference is covered how deep", "depth, or deeper", y, vec![measured("", points, 0)], 2)
}

/// Pairs by insert size: those of the reports, or, without these, proper pairs. Pairs that are too large to be counted
/// by size are part of all pairs, but no point.
pub(crate) fn inserts(figures: &QcFigures, of_proper_pairs: &InsertSizes) -> Option<Curve> {
    let (counts, all, of) = match &figures.inserts[..] {
        [] => (of_proper_pairs.counts(), of_proper_pairs.pairs(), "proper pairs"),
        [counts @ .., larger] => (counts, counts.iter().sum::<u64>() + larger, "pairs"),
    };
    let mut seen = 0;
    let is_shown = |count: &&u64| {
        let is_shown = (seen as f64) < SHOWN_PAIRS * all as f64;
        seen += **count;
        is_shown
    };
    let points = from_zero(counts.iter().take_while(is_shown).map(|&count| count as f64));
    Curve::new("Insert sizes", "insert size (bases)", of, vec![measured("", points, 0)], 0)
}

/// Reads by their share of G and C, and a normal distribution with the same mean and standard deviation.
pub(crate) fn gc(figures: &QcFigures) -> Option<Curve> {
    let counts = &figures.gc;
    let (all, mean) = (counts.iter().sum::<u64>() as f64, mean_place(counts)?);
    let squares = counts.iter().enumerate().map(|(at, &count)| (at as f64 - mean).powi(2) * count as f64);
    let deviation = (squares.sum::<f64>() / all).sqrt();
    let normal = |at: f64| {
        let scaled = (at - mean) / deviation;
        100.0 * (-scaled * scaled / 2.0).exp() / (deviation * std::f64::consts::TAU.sqrt())
    };
    let mut series = vec![measured("reads", from_zero(counts.iter().map(|&count| 100.0 * count as f64 / all)), 0)];
    if deviation > 0.0 {
        let points = from_zero((0..counts.len()).map(|at| normal(at as f64)));
        series.push(Series { name: "normal distribution".to_owned(), points, kind: Kind::Predicted, colour: 1 });
    }
    Curve::new("GC content of reads, against theory", "GC (%)", "reads (%)", series, 3)
}

/// The mean quality by cycle.
pub(crate) fn quality(figures: &QcFigures) -> Option<Curve> {
    by_cycle("Quality by cycle", "mean quality", &figures.quality, (1.0, 1))
}

/// The share of bases on the reference that are another one than that of the reference, by cycle.
pub(crate) fn mismatches(figures: &QcFigures) -> Option<Curve> {
    by_cycle("Mismatches by cycle", "mismatches (% of bases on the reference)", &figures.mismatches, (100.0, 3))
}

/// The mean quality by cycle, of reads before and after they were trimmed.
pub(crate) fn trimmed_quality(trimmed: &TrimReport) -> Option<Curve> {
    let of_mate = |(mate, cycles): (usize, &TrimCycles)| {
        let line = |name: &str, values: &[f64], colour| measured(name, from_one(values.iter().copied()), colour);
        let mate_name = ["first reads", "second reads"][mate];
        [
            line(&format!("{mate_name}, as they came"), &cycles.quality_before, 2 * mate),
            line(&format!("{mate_name}, trimmed"), &cycles.quality_after, 2 * mate + 1),
        ]
    };
    let series = trimmed.cycles.iter().enumerate().flat_map(of_mate).filter(|series| !series.points.is_empty());
    Curve::new("Quality by cycle, before and after trimming", "cycle", "mean quality", series.collect(), 1)
}

/// The shares of the bases by cycle, of first or of second reads before they were trimmed: adapters and tails of G are
/// seen there.
pub(crate) fn sequenced_bases(trimmed: &TrimReport, mate: usize) -> Option<Curve> {
    let bases = &trimmed.cycles[mate].bases_before;
    let of_letter = |(number, letter): (usize, &str)| {
        measured(letter, from_one(bases.iter().map(|shares| 100.0 * shares[number])), number)
    };
    let series = ["A", "C", "G", "T", "N"].into_iter().enumerate().map(of_letter).collect();
    let title = ["Bases by cycle of first reads, as they came", "Bases by cycle of second reads, as they came"][mate];
    Curve::new(title, "cycle", "of all bases (%)", series, 2)
}

/// Points at 1, 2 and so on.
fn from_one(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    values.enumerate().map(|(at, value)| (at as f64 + 1.0, value)).collect()
}

fn by_cycle(title: &str, y: &str, values: &[Vec<f64>; 2], (factor, digits): (f64, usize)) -> Option<Curve> {
    let each = values.iter().map(Vec::len).max()?.div_ceil(MOST_POINTS).max(1);
    let row = |(colour, (values, name)): (usize, (&Vec<f64>, &str))| {
        let points = means(values, each).map(|(cycle, value)| (cycle, factor * value)).collect();
        measured(name, points, colour)
    };
    let of_mates = values.iter().zip(["first reads", "last reads"]).enumerate();
    let series: Vec<Series> = of_mates.filter(|(_, (values, _))| !values.is_empty()).map(row).collect();
    let mut curve = Curve::new(title, "cycle", y, series, digits)?;
    if each > 1 {
        curve.fold += &format!(", each the mean of {} cycles in a row", grouped(each as u64));
    }
    Some(curve)
}

/// The mean of so many cycles in a row, at the cycle in their middle.
fn means(values: &[f64], each: usize) -> impl Iterator<Item = (f64, f64)> {
    values.chunks(each).enumerate().filter_map(move |(number, values)| {
        let middle = number * each + values.len().div_ceil(2);
        Some((middle as f64, mean(values.iter().copied())?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contigs_lie_beside_each_other() {
        let contig = |name: &str, length, windows: &[f64]| ContigDepth {
            name: name.into(),
            length,
            depth: 1.0,
            windows: windows.to_vec(),
        };
        let contigs = vec![contig("a", 2_500_000, &[1.0, 2.0, 3.0]), contig("b", 1_000_000, &[4.0])];
        let figures = QcFigures { contigs, all_contigs: 9, window_bases: 1_000_000, ..QcFigures::default() };
        let Curve { chart, table, .. } = along_reference(&figures).unwrap();
        assert_eq!(chart.title, "Depth along the reference, of 2 of 9 contigs");
        assert_eq!(chart.series[0].points, [(0.5, 1.0), (1.5, 2.0), (2.25, 3.0)]);
        assert_eq!(chart.series[1].points, [(3.0, 4.0)]);
        assert_eq!(chart.parts[1].range, (2.5, 3.5));
        assert_eq!(table.rows[2], ["a", "2000001", "2500000", "3.00"]);
    }

    #[test]
    fn depth_along_a_reference_without_reads_is_not_drawn() {
        let contig = |depth| ContigDepth { length: 2_000, windows: vec![0.0, depth], ..ContigDepth::default() };
        let figures = |depth| QcFigures { contigs: vec![contig(depth)], window_bases: 1_000, ..QcFigures::default() };
        assert!(along_reference(&figures(0.0)).is_none() && along_reference(&figures(0.1)).is_some());
    }

    #[test]
    fn pairs_larger_than_are_counted_by_size_are_no_point() {
        let points = |counts: Vec<u64>| {
            let figures = QcFigures { inserts: counts, ..QcFigures::default() };
            inserts(&figures, &InsertSizes::default()).unwrap().chart.series.remove(0).points
        };
        assert_eq!(points(vec![0, 10, 30, 10, 50]), [(0.0, 0.0), (1.0, 10.0), (2.0, 30.0), (3.0, 10.0)]);
        // They count among the pairs of which nearly all are shown.
        assert_eq!(points(vec![0, 997, 1, 1, 1]).len(), 3);
        assert_eq!(points(vec![0, 997, 1, 1, 9]).len(), 4);
    }

    #[test]
    fn many_cycles_are_drawn_as_means() {
        let figures = |cycles: [usize; 2]| QcFigures {
            quality: cycles.map(|cycles| (0..cycles).map(|at| (at % 10) as f64).collect()),
            ..QcFigures::default()
        };
        let Curve { chart, fold, table } = quality(&figures([6_000, 25])).unwrap();
        let [first, last] = &chart.series[..] else { panic!("{:?}", chart.series) };
        assert_eq!((first.points.len(), first.points[0], first.points[599]), (600, (5.0, 4.5), (5_995.0, 4.5)));
        assert_eq!(last.points, [(5.0, 4.5), (15.0, 4.5), (23.0, 2.0)]);
        assert_eq!(fold, "The same in numbers, one point of 10, each the mean of 10 cycles in a row");
        assert_eq!(table.rows[1], ["105", "4.5", "-"]);
        assert!(quality(&figures([1_000_000, 0])).unwrap().chart.svg().unwrap().len() < 50_000);
        assert_eq!(quality(&figures([600, 0])).unwrap().chart.series[0].points[1], (2.0, 1.0));
    }

    #[test]
    fn what_is_covered_deeper_is_covered_less_deep_too() {
        let figures = QcFigures { places: vec![10, 20, 30, 40], ..QcFigures::default() };
        let points = cumulative(&figures).unwrap().chart.series.remove(0).points;
        assert_eq!(points, [(0.0, 100.0), (1.0, 90.0), (2.0, 70.0), (3.0, 40.0)]);
    }

    #[test]
    fn theory_has_the_mean_of_the_reads() {
        let figures = QcFigures { gc: [vec![0; 49], vec![1, 2, 1], vec![0; 49]].concat(), ..QcFigures::default() };
        let Curve { chart, table, fold } = gc(&figures).unwrap();
        let theory = &chart.series[1].points;
        let most = theory.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!((chart.series[0].points[50], most.0), ((50.0, 50.0), 50.0));
        assert!((theory.iter().map(|point| point.1).sum::<f64>() - 100.0).abs() < 0.1);
        assert_eq!((table.rows.len(), fold.as_str()), (51, "The same in numbers, one point of 2"));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let nothing = QcFigures::default();
        let none = [along_reference(&nothing), cumulative(&nothing), inserts(&nothing, &InsertSizes::default())];
        assert!(none.iter().all(Option::is_none));
        assert!([gc(&nothing), quality(&nothing), mismatches(&nothing)].iter().all(Option::is_none));
        let mates = [vec![0.01, 0.02], vec![]];
        let chart = mismatches(&QcFigures { mismatches: mates, ..nothing }).unwrap().chart;
        assert_eq!((chart.series.len(), chart.series[0].points[1]), (1, (2.0, 2.0)));
        assert_eq!(chart.y, "mismatches (% of bases on the reference)");
    }
}
