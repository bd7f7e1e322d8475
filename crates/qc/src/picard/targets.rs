//! Regions that were enriched, out of a file of BED or an interval list, as Picard reads them
//! (picard.util.BedToIntervalList, htsjdk.samtools.util.IntervalList).

use std::collections::HashMap;
use std::ops::Range;
use zerohop_model::record::Contig;

/// Regions that do not overlap or touch, in the order of the contigs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    /// The name of their file, up to its first dot.
    pub name: String,
    /// How many there were before they were joined.
    pub(super) listed: u64,
    /// All of them, contig by contig.
    intervals: Vec<Interval>,
    /// Where those of each contig end.
    ends: Vec<usize>,
}

/// Positions of a contig, from 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Interval {
    pub(super) contig: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A line that is no region of these contigs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotTargets {
    /// Its number, from 1; 0 of no line.
    pub line: usize,
    /// What is wrong.
    pub words: String,
}

impl Targets {
    /// The regions of a text: an interval list, if it begins with `@`, or else BED, of which empty ones are left out.
    ///
    /// # Errors
    /// A line that is no region of these contigs; no region at all.
    pub fn parse(name: &str, text: &str, contigs: &[Contig]) -> Result<Self, NotTargets> {
        let numbers: HashMap<&str, u32> =
            contigs.iter().zip(0..).map(|(contig, number)| (&*contig.name, number)).collect();
        let is_list = text.starts_with('@');
        let mut intervals = Vec::new();
        for (line, text) in text.lines().enumerate().filter(|(_, line)| !is_comment(line, is_list)) {
            let wrong = |words: String| NotTargets { line: line + 1, words };
            let (contig, positions) = region(text, is_list).map_err(wrong)?;
            let number = *numbers.get(contig).ok_or_else(|| wrong(format!("the reference has no contig {contig}")))?;
            let length = contigs[number as usize].length;
            if u64::from(positions.end) > length {
                return Err(wrong(format!("it ends behind the end of {contig}, which has {length} bases")));
            }
            match positions.is_empty() {
                // BedToIntervalList leaves them out; of a list Picard has figures that are none of bases.
                true if is_list => return Err(wrong("it has no base".to_owned())),
                true => {}
                false => intervals.push(Interval { contig: number, start: positions.start, end: positions.end }),
            }
        }
        if intervals.is_empty() {
            return Err(NotTargets { line: 0, words: "it has no region".to_owned() });
        }
        let listed = intervals.len() as u64;
        let intervals = joined(intervals);
        let ends =
            (0..contigs.len() as u32).map(|number| intervals.partition_point(|of| of.contig <= number)).collect();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        Ok(Targets { name, listed, intervals, ends })
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Interval] {
        &self.intervals
    }

    /// How many bases they have.
    pub(super) fn territory(&self) -> u64 {
        self.intervals.iter().map(|interval| u64::from(interval.end - interval.start)).sum()
    }

    /// The numbers of those that have a base less than `near` from these positions of a contig.
    pub(super) fn near(&self, contig: u32, positions: &Range<u32>, near: u32) -> Range<usize> {
        let from = (contig as usize).checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let to = self.ends.get(contig as usize).copied().unwrap_or(from);
        let of_contig = &self.intervals[from..to];
        let first = of_contig.partition_point(|interval| interval.end.saturating_add(near) <= positions.start);
        let end = of_contig.partition_point(|interval| interval.start < positions.end.saturating_add(near));
        from + first..from + end.max(first)
    }

    /// Those that these positions of a contig have bases in: number, and the positions in it.
    pub(super) fn within(&self, contig: u32, positions: Range<u32>) -> impl Iterator<Item = (usize, Range<u32>)> {
        self.near(contig, &positions, 0).map(move |number| {
            let Interval { start, end, .. } = self.intervals[number];
            (number, start.max(positions.start)..end.min(positions.end))
        })
    }
}

fn is_comment(line: &str, is_list: bool) -> bool {
    let first = line.split([' ', '\t']).next();
    match is_list {
        true => line.is_empty() || line.starts_with('@'),
        false => line.trim().is_empty() || line.starts_with('#') || matches!(first, Some("track" | "browser")),
    }
}

/// The contig and the positions of a line.
fn region(line: &str, is_list: bool) -> Result<(&str, Range<u32>), String> {
    let mut fields = line.split(if is_list { &['\t'][..] } else { &['\t', ' '][..] }).filter(|field| !field.is_empty());
    let (Some(contig), Some(start), Some(end)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("it needs a contig, a start and an end, with tabs between them".to_owned());
    };
    let position = |text: &str| text.trim().parse::<u32>().map_err(|_| format!("'{text}' is no position"));
    let (start, end) = (position(start)?, position(end)?);
    // Interval lists count from 1, BED from 0.
    let start = match is_list {
        true => start.checked_sub(1).ok_or("it starts at 0: the first base of a contig is 1 in interval lists")?,
        false => start,
    };
    match start <= end {
        true => Ok((contig, start..end)),
        false => Err("its start is behind its end".to_owned()),
    }
}

/// Those that overlap or touch are joined.
fn joined(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    let mut joined: Vec<Interval> = Vec::new();
    for next in intervals {
        match joined.last_mut() {
            Some(last) if last.contig == next.contig && next.start <= last.end => last.end = last.end.max(next.end),
            _ => joined.push(next),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Targets, NotTargets> {
        let contigs = [("a", 100), ("b", 50)].map(|(name, length)| Contig::new(name.to_owned(), length));
        Targets::parse("exome.v2.bed", text, &contigs)
    }

    #[test]
    fn regions_are_joined_and_found() {
        let bed = "track x\nb\t10\t20\tx\na\t5\t10\na\t0\t5\na\t30\t40\na\t35\t50\na 7 7\n";
        let list = "@HD\tVN:1.6\n@SQ\tSN:a\tLN:100\nb\t11\t20\t+\tx\na\t6\t10\t+\ty\na\t1\t5\t-\tz\n\
                    a\t31\t40\t+\t.\na\t36\t50\t+\t.\n";
        let targets = parsed(bed).unwrap();
        assert_eq!(parsed(list).unwrap(), targets);
        assert_eq!((&*targets.name, targets.listed, targets.territory()), ("exome", 5, 40));
        assert_eq!(targets.near(0, &(12..29), 0), 1..1);
        assert_eq!(targets.near(0, &(12..29), 3), 0..2);
        assert_eq!(targets.near(0, &(12..29), 2), 1..2);
        assert_eq!(targets.within(0, 8..33).collect::<Vec<_>>(), [(0, 8..10), (1, 30..33)]);
        assert_eq!(targets.within(1, 0..50).collect::<Vec<_>>(), [(2, 10..20)]);
    }

    #[test]
    fn what_is_no_region_is_said() {
        let wrong = |text: &str| parsed(text).map_err(|NotTargets { line, words }| (line, words)).unwrap_err();
        assert_eq!(wrong("#\nc\t0\t5\n"), (2, "the reference has no contig c".to_owned()));
        assert_eq!(wrong("a\t0\t101\n"), (1, "it ends behind the end of a, which has 100 bases".to_owned()));
        assert_eq!(wrong("a\t9\t8\n").1, "its start is behind its end");
        assert_eq!(wrong("a\t9\n").1, "it needs a contig, a start and an end, with tabs between them");
        assert_eq!(
            wrong("@HD\na\t0\t8\t+\tx\n").1,
            "it starts at 0: the first base of a contig is 1 in interval lists"
        );
        assert_eq!(wrong("@HD\na\t8\t7\t+\tx\n").1, "it has no base");
        assert_eq!(wrong("#\n"), (0, "it has no region".to_owned()));
    }
}
