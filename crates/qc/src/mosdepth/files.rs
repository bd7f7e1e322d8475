//! The files of lines, out of parts of the output that are known in any order.

use super::{
    Mosdepth, MosdepthSpec, PartOfRegions, PartOfRuns, RegionFiles, RegionMaker, RegionTable, RegionsSpec, RunFile,
    RunMaker, RunsOf,
};
use std::collections::BTreeMap;
use std::ops::Range;
use zerohop_model::record::Contig;
use zerohop_output::{BedBlock, BedFile};

/// The files of lines that mosdepth writes, as far as they are wanted.
#[derive(Default)]
pub struct BedFiles {
    /// `regions.bed.gz`.
    pub regions: Option<BedFile>,
    /// `thresholds.bed.gz`.
    pub thresholds: Option<BedFile>,
    /// `per-base.bed.gz`.
    pub per_base: Option<BedFile>,
    /// `quantized.bed.gz`.
    pub quantized: Option<BedFile>,
}

/// What lines are made of.
#[derive(Debug)]
pub(crate) struct LinesSpec {
    pub(crate) mosdepth: MosdepthSpec,
    pub(crate) contigs: Vec<Contig>,
    pub(crate) table: Option<RegionTable>,
}

impl LinesSpec {
    pub(crate) fn new(mosdepth: MosdepthSpec, contigs: Vec<Contig>) -> Self {
        let table = mosdepth.by.as_ref().map(|by| RegionTable::new(by, &contigs));
        LinesSpec { mosdepth, contigs, table }
    }

    fn regions(&self) -> Option<RegionsSpec<'_>> {
        let table = self.table.as_ref()?;
        Some(RegionsSpec { spec: &self.mosdepth, contigs: &self.contigs, table })
    }

    fn bins(&self) -> Option<RunsOf<'_>> {
        self.mosdepth.quantize.as_ref().map(RunsOf::Bins)
    }
}

/// The lines of one part.
#[derive(Debug, Default)]
pub(crate) struct PartOfLines {
    regions: PartOfRegions,
    per_base: PartOfRuns,
    quantized: PartOfRuns,
}

/// Makes the lines of a part out of its runs of depth: gives them to `each` sink of runs.
pub(crate) fn lines_of_part(
    spec: &LinesSpec,
    sums: &mut Mosdepth,
    runs: impl FnOnce(&mut dyn FnMut(u32, Range<u32>, u32)),
) -> PartOfLines {
    let regions = spec.regions();
    let mut regions = regions.as_ref().map(RegionMaker::new);
    let mut per_base = spec.mosdepth.has_per_base.then(|| RunMaker::new(RunsOf::Depth, &spec.contigs));
    let mut quantized = spec.bins().map(|bins| RunMaker::new(bins, &spec.contigs));
    runs(&mut |contig, positions, depth| {
        sums.add(contig, positions.len() as u32, depth);
        if let Some(regions) = &mut regions {
            regions.add(contig, positions.clone(), depth, sums);
        }
        for runs in [&mut per_base, &mut quantized].into_iter().flatten() {
            runs.add(contig, positions.clone(), depth);
        }
    });
    PartOfLines {
        regions: regions.map(RegionMaker::finish).unwrap_or_default(),
        per_base: per_base.map(RunMaker::finish).unwrap_or_default(),
        quantized: quantized.map(RunMaker::finish).unwrap_or_default(),
    }
}

/// Puts the lines of all parts together, in the order of the parts.
pub(crate) struct LineFiles {
    next: usize,
    waiting: BTreeMap<usize, PartOfLines>,
    regions: Option<RegionFiles>,
    per_base: Option<RunFile>,
    quantized: Option<RunFile>,
}

impl LineFiles {
    pub(crate) fn new(spec: &LinesSpec, files: BedFiles) -> Self {
        let BedFiles { regions, thresholds, per_base, quantized } = files;
        let regions = match (regions, spec.regions()) {
            (Some(file), Some(spec)) => Some(RegionFiles::new(&spec, file, thresholds)),
            _ => None,
        };
        let (per_base, quantized) = (per_base.map(RunFile::new), quantized.map(RunFile::new));
        LineFiles { next: 0, waiting: BTreeMap::new(), regions, per_base, quantized }
    }

    /// Adds those of part `number`; says which blocks of lines are full then, for the caller to write.
    pub(crate) fn put(
        &mut self,
        number: usize,
        part: PartOfLines,
        spec: &LinesSpec,
        sums: &mut Mosdepth,
    ) -> Vec<BedBlock> {
        self.waiting.insert(number, part);
        while let Some(PartOfLines { regions, per_base, quantized }) = self.waiting.remove(&self.next) {
            self.next += 1;
            if let (Some(file), Some(spec)) = (&mut self.regions, spec.regions()) {
                file.put(regions, &spec, sums);
            }
            if let Some(file) = &mut self.per_base {
                file.put(per_base, RunsOf::Depth, &spec.contigs);
            }
            if let (Some(file), Some(bins)) = (&mut self.quantized, spec.bins()) {
                file.put(quantized, bins, &spec.contigs);
            }
        }
        let of_regions = self.regions.iter_mut().flat_map(RegionFiles::files);
        let of_runs = [&mut self.per_base, &mut self.quantized].into_iter().flatten().map(|file| &mut file.file);
        of_regions.chain(of_runs).flat_map(BedFile::take_full).collect()
    }

    /// All files, when all parts are there.
    pub(crate) fn finish(self, spec: &LinesSpec) -> Vec<BedFile> {
        let LineFiles { regions, mut per_base, mut quantized, .. } = self;
        if let Some(file) = &mut per_base {
            file.end(RunsOf::Depth, &spec.contigs);
        }
        if let (Some(file), Some(bins)) = (&mut quantized, spec.bins()) {
            file.end(bins, &spec.contigs);
        }
        let of_regions = regions.into_iter().flat_map(|files| [Some(files.depth), files.thresholds]).flatten();
        of_regions.chain([per_base, quantized].into_iter().flatten().map(|file| file.file)).collect()
    }
}
