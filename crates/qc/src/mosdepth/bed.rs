//! Regions of a file of BED, and windows: which places they have, and in which order they are told.

use super::By;
use std::ops::Range;
use zerohop_model::record::Contig;

/// The regions of a file of BED.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bed {
    regions: Vec<(String, Region)>,
}

/// A region of a contig.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Region {
    /// Its positions, from 0; they may lie behind the end of the contig.
    pub(crate) positions: Range<u32>,
    /// Its name, if it has one.
    pub(crate) name: String,
}

/// A line that is none of BED.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotBed {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub words: String,
}

/// The regions of all contigs, in the order in which they are told.
#[derive(Debug)]
pub(crate) struct RegionTable {
    /// The lengths of the contigs.
    lengths: Vec<u32>,
    regions: Regions,
}

#[derive(Debug)]
enum Regions {
    Windows(u32),
    /// Of each contig: its regions by their start, and how far each and those before it reach.
    Bed(Vec<(Vec<Region>, Vec<u32>)>),
}

/// The number of a region: that of its contig, and its own there.
pub(crate) type RegionNumber = (u32, u32);

impl Bed {
    /// The regions of a text. Lines that begin with `#`, `track` or `browser`, and empty ones, are none.
    ///
    /// # Errors
    /// A line that has no contig, start and end, with tabs between them.
    pub fn parse(text: &str) -> Result<Self, NotBed> {
        let is_comment = |line: &str| {
            let first = line.split([' ', '\t']).next();
            line.is_empty() || line.starts_with('#') || matches!(first, Some("track" | "browser"))
        };
        let mut regions = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !is_comment(line)) {
            let wrong = |words: String| NotBed { line: number + 1, words };
            let mut fields = line.split('\t');
            let (Some(contig), Some(start), Some(end)) = (fields.next(), fields.next(), fields.next()) else {
                return Err(wrong("it needs a contig, a start and an end, with tabs between them".to_owned()));
            };
            let position = |text: &str| {
                let words = || wrong(format!("'{text}' is no position from 0 to 4294967295"));
                text.trim().parse::<u32>().map_err(|_| words())
            };
            let positions = position(start)?..position(end)?;
            if positions.start > positions.end {
                return Err(wrong(format!("its start, {start}, is behind its end, {end}")));
            }
            let name = fields.next().unwrap_or_default().trim().to_owned();
            regions.push((contig.to_owned(), Region { positions, name }));
        }
        Ok(Bed { regions })
    }

    /// The first contig of it that is none of these.
    pub fn unknown_contig(&self, contigs: &[Contig]) -> Option<&str> {
        let names: std::collections::HashSet<&str> = contigs.iter().map(|contig| &*contig.name).collect();
        self.regions.iter().map(|(contig, _)| &**contig).find(|contig| !names.contains(contig))
    }
}

impl RegionTable {
    pub(crate) fn new(by: &By, contigs: &[Contig]) -> Self {
        let lengths = contigs.iter().map(|contig| contig.length as u32).collect();
        let regions = match by {
            By::Windows(places) => Regions::Windows(places.get()),
            By::Bed(Bed { regions }) => {
                let numbers: std::collections::HashMap<&str, usize> =
                    contigs.iter().enumerate().map(|(number, contig)| (&*contig.name, number)).collect();
                let mut all: Vec<(Vec<Region>, Vec<u32>)> = vec![Default::default(); contigs.len()];
                for (contig, region) in regions {
                    if let Some(number) = numbers.get(&**contig) {
                        all[*number].0.push(region.clone());
                    }
                }
                for (regions, reach) in &mut all {
                    regions.sort_by_key(|region| region.positions.start);
                    *reach = regions
                        .iter()
                        .scan(0, |reach: &mut u32, region| {
                            *reach = region.positions.end.max(*reach);
                            Some(*reach)
                        })
                        .collect();
                }
                Regions::Bed(all)
            }
        };
        RegionTable { lengths, regions }
    }

    /// How many regions a contig has.
    pub(crate) fn count(&self, contig: u32) -> u32 {
        match &self.regions {
            Regions::Windows(places) => self.length(contig).div_ceil(*places),
            Regions::Bed(all) => all.get(contig as usize).map_or(0, |(regions, _)| regions.len() as u32),
        }
    }

    /// The first region of a contig that may have this position or one behind it.
    pub(crate) fn first_from(&self, contig: u32, position: u32) -> u32 {
        match &self.regions {
            Regions::Windows(places) => position / places,
            Regions::Bed(all) => {
                all.get(contig as usize).map_or(0, |(_, reach)| reach.partition_point(|end| *end <= position) as u32)
            }
        }
    }

    /// A region, which exists.
    pub(crate) fn region(&self, (contig, index): RegionNumber) -> Region {
        match &self.regions {
            Regions::Windows(places) => {
                let start = index.saturating_mul(*places);
                let positions = start..start.saturating_add(*places).min(self.length(contig));
                Region { positions, name: String::new() }
            }
            Regions::Bed(all) => {
                let region = all.get(contig as usize).and_then(|(regions, _)| regions.get(index as usize));
                region.cloned().unwrap_or_default()
            }
        }
    }

    /// The positions of a region that its contig has.
    pub(crate) fn places(&self, number: RegionNumber) -> Range<u32> {
        let Range { start, end } = self.positions(number);
        let length = self.length(number.0);
        start.min(length)..end.min(length)
    }

    fn positions(&self, (contig, index): RegionNumber) -> Range<u32> {
        match &self.regions {
            Regions::Windows(_) => self.region((contig, index)).positions,
            Regions::Bed(all) => {
                let region = all.get(contig as usize).and_then(|(regions, _)| regions.get(index as usize));
                region.map_or(0..0, |region| region.positions.clone())
            }
        }
    }

    pub(crate) fn length(&self, contig: u32) -> u32 {
        self.lengths.get(contig as usize).copied().unwrap_or(0)
    }

    /// The first region at or behind this number; none behind all.
    pub(crate) fn at_or_behind(&self, (mut contig, mut index): RegionNumber) -> Option<RegionNumber> {
        while index >= self.count(contig) {
            (contig, index) = (contig + 1, 0);
            if contig as usize >= self.lengths.len() {
                return None;
            }
        }
        Some((contig, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_none_of_bed_are_refused() {
        let bed = Bed::parse("track a\n#x\n\nc\t1\t5\tname \t0\nd\t7\t7\r\n").unwrap();
        let regions = [("c", 1..5, "name"), ("d", 7..7, "")];
        let regions =
            regions.map(|(contig, positions, name)| (contig.to_owned(), Region { positions, name: name.into() }));
        assert_eq!(bed.regions, regions);
        for (text, line) in [("c 1 5", 1), ("c\t1\t5\nc\t6\n", 2), ("c\t-1\t5", 1), ("c\t6\t5", 1)] {
            assert_eq!(Bed::parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
