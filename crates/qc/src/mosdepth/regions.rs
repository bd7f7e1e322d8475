//! Depth of regions, out of parts of the output: what several parts share of a region is put together when all of them
//! are known.

use super::bed::{Region, RegionNumber, RegionTable};
use super::region_depth::{RegionDepth, Runs, has_place_behind};
use super::{By, Mosdepth, MosdepthSpec};
use crate::number::{push_hundredths, push_integer, push_place};
use std::collections::BTreeMap;
use std::ops::Range;
use zerohop_model::record::Contig;
use zerohop_output::BedFile;

/// The regions of one part.
#[derive(Debug, Default)]
pub(crate) struct PartOfRegions {
    /// Lines of those of which the part has all places, in their order.
    lines: Vec<(RegionNumber, RegionLines)>,
    /// What it has of others.
    pieces: Vec<(RegionNumber, Runs)>,
}

/// What is told of a region.
#[derive(Debug, Default)]
struct RegionLines {
    depth: String,
    thresholds: String,
}

/// What is asked for of the regions, and where they are.
#[derive(Debug)]
pub(crate) struct RegionsSpec<'s> {
    pub(crate) spec: &'s MosdepthSpec,
    pub(crate) contigs: &'s [Contig],
    pub(crate) table: &'s RegionTable,
}

impl RegionsSpec<'_> {
    /// The lines of a region that is wholly known; counts it.
    fn tell(&self, number: RegionNumber, depth: &RegionDepth, sums: &mut Mosdepth) -> RegionLines {
        let (contig, Region { positions, name }) = (number.0, self.table.region(number));
        let length = self.table.length(contig);
        let value = depth.value(&positions, length, self.spec);
        match self.spec.by {
            Some(By::Windows(_)) => sums.add_window(contig, value),
            _ if has_place_behind(&positions, length) => sums.add_to_regions(contig, 1, 0),
            _ => (),
        }
        let contig = &*self.contigs[contig as usize].name;
        let mut lines = RegionLines::default();
        push_place(&mut lines.depth, contig, &positions);
        if !name.is_empty() {
            lines.depth.push_str(&name);
            lines.depth.push('\t');
        }
        push_hundredths(&mut lines.depth, value);
        lines.depth.push('\n');
        if !self.spec.thresholds.is_empty() {
            push_place(&mut lines.thresholds, contig, &positions);
            lines.thresholds.push_str(if name.is_empty() { "unknown" } else { &name });
            // Of a region without a place of its contig nothing is known.
            for at in 0..self.spec.thresholds.len() {
                lines.thresholds.push('\t');
                push_integer(&mut lines.thresholds, depth.over.get(at).copied().unwrap_or(0));
            }
            lines.thresholds.push('\n');
        }
        lines
    }
}

/// Makes the regions of a part out of its runs of depth.
pub(crate) struct RegionMaker<'s> {
    regions: &'s RegionsSpec<'s>,
    made: PartOfRegions,
    /// The last place before the next run, and the next region that may have a place behind it.
    at: Option<(u32, u32)>,
    next: u32,
    open: Vec<OpenRegion>,
}

#[derive(Debug)]
struct OpenRegion {
    number: RegionNumber,
    places: Range<u32>,
    /// Whether it begins in this part.
    begins_here: bool,
    runs: Runs,
}

impl<'s> RegionMaker<'s> {
    pub(crate) fn new(regions: &'s RegionsSpec<'s>) -> Self {
        RegionMaker { regions, made: PartOfRegions::default(), at: None, next: 0, open: Vec::new() }
    }

    /// Adds a run of depth on one contig, which follows those before it.
    pub(crate) fn add(&mut self, contig: u32, positions: Range<u32>, depth: u32, sums: &mut Mosdepth) {
        let table = self.regions.table;
        if self.at != Some((contig, positions.start)) {
            self.next = table.first_from(contig, positions.start);
        }
        self.at = Some((contig, positions.end));
        let mut open = std::mem::take(&mut self.open);
        for region in &mut open {
            self.add_to(region, &positions, depth, sums);
        }
        open.extract_if(.., |region| region.places.end <= positions.end).for_each(|region| self.end(region, sums));
        self.open = open;
        while self.next < table.count(contig) {
            let number = (contig, self.next);
            let places = table.places(number);
            if places.start >= positions.end {
                break;
            }
            self.next += 1;
            if places.end > positions.start && !places.is_empty() {
                let begins_here = places.start >= positions.start;
                let mut region = OpenRegion { number, places, begins_here, runs: Runs::default() };
                self.add_to(&mut region, &positions, depth, sums);
                match region.places.end > positions.end {
                    true => self.open.push(region),
                    false => self.end(region, sums),
                }
            }
        }
    }

    fn add_to(&self, region: &mut OpenRegion, positions: &Range<u32>, depth: u32, sums: &mut Mosdepth) {
        let both = region.places.start.max(positions.start)..region.places.end.min(positions.end);
        region.runs.add(both.len() as u32, depth);
        if let Some(By::Bed(_)) = self.regions.spec.by {
            sums.add_to_regions(region.number.0, both.len() as u32, depth);
        }
    }

    /// Ends a region.
    fn end(&mut self, region: OpenRegion, sums: &mut Mosdepth) {
        let OpenRegion { number, begins_here, runs, .. } = region;
        if !begins_here {
            return self.made.pieces.push((number, runs));
        }
        let length = self.regions.table.region(number).positions.len() as u32;
        let depth = RegionDepth::of(&runs, length, self.regions.spec);
        self.made.lines.push((number, self.regions.tell(number, &depth, sums)));
    }

    pub(crate) fn finish(mut self) -> PartOfRegions {
        self.made.pieces.extend(self.open.into_iter().map(|region| (region.number, region.runs)));
        self.made.lines.sort_by_key(|(number, _)| *number);
        self.made
    }
}

/// Puts the regions of all parts together, which come in their order, and writes them.
pub(crate) struct RegionFiles {
    next: Option<RegionNumber>,
    pieces: BTreeMap<RegionNumber, RegionDepth>,
    /// Regions that are known, while one before them is not.
    late: BTreeMap<RegionNumber, RegionLines>,
    pub(crate) depth: BedFile,
    pub(crate) thresholds: Option<BedFile>,
}

impl RegionFiles {
    /// Files without a line; of thresholds, if some are asked for.
    pub(crate) fn new(regions: &RegionsSpec<'_>, depth: BedFile, mut thresholds: Option<BedFile>) -> Self {
        if let Some(file) = &mut thresholds {
            let bounds: String = regions.spec.thresholds.iter().map(|bound| format!("\t{bound}X")).collect();
            file.put_head(format!("#chrom\tstart\tend\tregion{bounds}\n").as_bytes());
        }
        let next = regions.table.at_or_behind((0, 0));
        RegionFiles { next, pieces: BTreeMap::new(), late: BTreeMap::new(), depth, thresholds }
    }

    /// Its files.
    pub(crate) fn files(&mut self) -> impl Iterator<Item = &mut BedFile> {
        [Some(&mut self.depth), self.thresholds.as_mut()].into_iter().flatten()
    }

    /// Adds those of the next part, and writes what is known then.
    pub(crate) fn put(&mut self, part: PartOfRegions, regions: &RegionsSpec<'_>, sums: &mut Mosdepth) {
        for (number, runs) in part.pieces {
            let (region, places) = (regions.table.region(number), regions.table.places(number));
            let depth = self.pieces.entry(number).or_default();
            depth.add(&runs, region.positions.len() as u32, regions.spec);
            if depth.places as usize == places.len() {
                let depth = self.pieces.remove(&number).unwrap_or_default();
                self.late.insert(number, regions.tell(number, &depth, sums));
            }
        }
        for (number, lines) in part.lines {
            self.write_late(regions, sums);
            match self.next == Some(number) {
                true => self.write(number, &lines, regions.table),
                false => drop(self.late.insert(number, lines)),
            }
        }
        self.write_late(regions, sums);
    }

    /// Writes what is known of the regions from the next one on.
    fn write_late(&mut self, regions: &RegionsSpec<'_>, sums: &mut Mosdepth) {
        while let Some(number) = self.next {
            let lines = match self.late.remove(&number) {
                Some(lines) => lines,
                None if regions.table.places(number).is_empty() => regions.tell(number, &RegionDepth::default(), sums),
                None => break,
            };
            self.write(number, &lines, regions.table);
        }
    }

    fn write(&mut self, number: RegionNumber, lines: &RegionLines, table: &RegionTable) {
        let positions = table.region(number).positions;
        if let Some(file) = &mut self.thresholds {
            file.put(number.0, positions.clone(), lines.thresholds.as_bytes());
        }
        self.depth.put(number.0, positions, lines.depth.as_bytes());
        self.next = table.at_or_behind((number.0, number.1 + 1));
    }
}
