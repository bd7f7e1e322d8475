//! The files that records go to: files of this run alone, which are there when they are complete, or files that several
//! processes write together.

use crate::doubts::Doubts;
use crate::encoder::{Beside, ChunkPacking, Form, RecordEncoder};
use crate::engine_text::{Abundances, TextEncoder};
use crate::file_index::{FileIndex, MadePart};
use crate::format::Format;
use crate::header::Header;
use crate::index::IndexFormat;
use crate::keys::KeyMaker;
use crate::libraries::{Libraries, MOST_READ_GROUPS};
use crate::marking::{self, BothCollector, Marking, Signer};
use crate::mate_tags::MateTags;
use crate::merged::MergedParts;
use crate::order::SortOrder;
use crate::parts::{SortedParts, Visitors};
use crate::sam_line::{ContigNumbers, LineParser};
use crate::spec::{OutputSpec, Sorting, end_markers};
use crate::tags::RecordContext;
use crate::unaligned::{ReadsFormat, Unaligned, UnalignedEncoder};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use zerohop_bgzf::BlockCompressor;
use zerohop_cram::{Cram, RecordOrder};
use zerohop_duplicates::{ChunkCounts, Decision, Marks};
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_model::sink::{Collect, Encoder, OutputAccess, Sink};
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{NewFile, WriteError, complete_all, complete_instead_of, tell};
use zerohop_sort::RunStore;

/// The part of the memory that is for signatures, where duplicates are looked for: they take about a third of what
/// records take.
const PART_OF_SIGNATURES: f64 = 0.25;
/// About how many bytes of signatures are decided together.
const SIGNATURES_TOGETHER: usize = 1 << 20;

/// One open output file.
#[derive(Debug)]
enum OpenFile {
    /// Of this run alone.
    New(NewFile),
    /// Written by several processes, under the name that it has until it is complete.
    Shared { path: PathBuf, file: File },
}

impl OpenFile {
    fn file(&self) -> &File {
        match self {
            OpenFile::New(new) => new.file(),
            OpenFile::Shared { file, .. } => file,
        }
    }

    fn path(&self) -> &Path {
        match self {
            OpenFile::New(new) => new.path(),
            OpenFile::Shared { path, .. } => path,
        }
    }

    /// Whether it can be written from any place on.
    fn is_positioned(&self) -> bool {
        match self {
            OpenFile::New(new) => new.temporary_path().is_some(),
            OpenFile::Shared { .. } => true,
        }
    }
}

/// The files of reads that were not aligned, and what goes before them in each.
#[derive(Debug, Default)]
struct OfReads {
    files: Vec<OpenFile>,
    header: Vec<u8>,
}

/// The output of a run. Dropped before [`FileSink::finish`], it removes what it has written.
#[derive(Debug)]
pub struct FileSink {
    spec: OutputSpec,
    contig_numbers: ContigNumbers,
    files: Vec<OpenFile>,
    unaligned: OfReads,
    access: OutputAccess,
    /// What goes before the records.
    header: Vec<u8>,
    /// What CRAM is encoded with.
    cram: Option<Cram>,
    /// Where records are until they are sorted.
    store: Option<RunStore>,
    /// The signatures of records, if duplicates are looked for, and how many records each chunk has.
    signatures: Option<(RunStore, ChunkCounts)>,
    libraries: Libraries,
    /// What samtools cannot read of the records.
    doubts: Doubts,
    /// What becomes a table at the end, if one is written.
    abundances: Option<Mutex<Abundances>>,
    /// What the index says, if one is written.
    index: Option<FileIndex>,
    /// Its file, if it is of this run alone.
    index_file: Option<NewFile>,
}

impl FileSink {
    /// Opens the output and writes the header.
    ///
    /// # Errors
    /// [`Error::Output`], or [`Error::BrokenPipe`].
    pub fn create(spec: OutputSpec) -> Result<Self, Error> {
        let paths = paths(spec.path.as_deref(), spec.shards);
        let paths = if paths.is_empty() { vec![None] } else { paths.into_iter().map(Some).collect() };
        // The sink owns each file from the start, so that it removes them all if one cannot be opened.
        let mut sink = FileSink::without_files(spec)?;
        for path in paths {
            sink.files.push(OpenFile::New(open(path.as_deref())?));
        }
        // Weights are added up in order.
        if sink.files.iter().all(OpenFile::is_positioned) && sink.abundances.is_none() {
            sink.access = OutputAccess::Positioned;
            sink.index = sink.new_index()?;
            // Now, so that a failure is known now.
            sink.index_file = sink.index_path().map(|path| open(Some(&path))).transpose()?;
        }
        sink.write_header()?;
        for path in sink.spec.unaligned.iter().flat_map(|unaligned| &unaligned.paths) {
            let file = OpenFile::New(open(Some(path))?);
            if !file.is_positioned() {
                let source = std::io::Error::other("it is not a regular file");
                return Err(Error::Output { path: path.clone(), source });
            }
            sink.unaligned.files.push(file);
        }
        sink.unaligned.header = sink.unaligned_header()?;
        sink.write_header_beside()?;
        Ok(sink)
    }

    /// What goes before reads that were not aligned.
    fn unaligned_header(&self) -> Result<Vec<u8>, Error> {
        let mut header = Vec::new();
        if let Some(Unaligned { format: ReadsFormat::Bam { level }, .. }) = self.spec.unaligned {
            let Header { read_groups, history, programs, .. } = self.spec.header.clone();
            let own = Header { read_groups, history, programs, ..Header::default() };
            BlockCompressor::new(level).compress(&own.bam(), &mut header)?;
        }
        Ok(header)
    }

    /// Opens files that several processes write together, under the names `partials`; they are there. Those of reads
    /// that were not aligned are the last, if there are such files. Nothing is written before one of the processes is
    /// asked to write [the header](Sink::write_header), and the files stay when this is dropped.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn share(spec: OutputSpec, partials: &[PathBuf]) -> Result<Self, Error> {
        let mut sink = FileSink::without_files(spec)?;
        for path in partials {
            let file =
                zerohop_process::open_shared(path).map_err(|source| Error::Output { path: path.clone(), source })?;
            sink.files.push(OpenFile::Shared { path: path.clone(), file });
        }
        let of_reads = sink.spec.unaligned.as_ref().map_or(0, |unaligned| unaligned.paths.len());
        let of_records = sink.files.len().saturating_sub(of_reads);
        sink.unaligned = OfReads { files: sink.files.split_off(of_records), header: sink.unaligned_header()? };
        sink.access = OutputAccess::Positioned;
        sink.index = sink.new_index()?;
        Ok(sink)
    }

    /// Ends a file that several processes have written, at `length`, with the marker of its format. One of them does
    /// it, when all have written. Returns the bytes of the file, which are on the disk then.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn end_shared(partial: &Path, end: &[u8], length: u64) -> Result<u64, Error> {
        let fault = |source| Error::Output { path: partial.to_owned(), source };
        let file = zerohop_process::open_shared(partial).map_err(fault)?;
        file.write_all_at(end, length).map_err(fault)?;
        let length = length + end.len() as u64;
        file.set_len(length).and_then(|()| file.sync_all()).map_err(fault)?;
        Ok(length)
    }

    /// An empty index, if one is wanted.
    fn new_index(&self) -> Result<Option<FileIndex>, Error> {
        let OutputSpec { path: Some(path), sorting: Some(sorting), format, header, .. } = &self.spec else {
            return Ok(None);
        };
        let Some(index) = sorting.index(*format, header) else { return Ok(None) };
        if index == IndexFormat::Bai && IndexFormat::for_contigs(&header.contigs) != index {
            let words =
                "a contig has more than 2^29 bases, which an index of this format cannot hold: leave --index out";
            let (path, source) = (index_path(path, index), std::io::Error::other(words));
            return Err(Error::Output { path, source });
        }
        Ok(Some(FileIndex::new(index, &header.contigs)))
    }

    /// The file of the index, if one is written.
    pub fn index_path(&self) -> Option<PathBuf> {
        Some(index_path(self.spec.path.as_ref()?, self.index.as_ref()?.format()))
    }

    /// The bytes of that file.
    ///
    /// # Errors
    /// [`Error::Internal`] if compression fails.
    pub fn index_bytes(&self) -> Result<Vec<u8>, Error> {
        self.index.as_ref().map_or_else(|| Ok(Vec::new()), |index| index.file(self.spec.header.contigs.len()))
    }

    fn without_files(mut spec: OutputSpec) -> Result<Self, Error> {
        spec.header.order = spec.sorting.as_ref().map(|sorting| sorting.order);
        let (mut header, cram) = (Vec::new(), cram(&spec)?);
        match (spec.format, &cram) {
            (Format::Bam { level }, _) => BlockCompressor::new(level).compress(&spec.header.bam(), &mut header)?,
            (Format::Cram { .. }, Some(cram)) => header.extend_from_slice(cram.beginning()),
            (Format::Paf | Format::Abundances, _) => {}
            _ => header.extend_from_slice(spec.header.text().as_bytes()),
        }
        let (contig_numbers, access) = (ContigNumbers::default(), OutputAccess::Sequential);
        let marking = spec.sorting.as_ref().filter(|sorting| sorting.marking.is_some());
        let of_signatures = |sorting: &Sorting| (sorting.memory as f64 * PART_OF_SIGNATURES) as u64;
        let signatures =
            marking.map(|sorting| (sorting.store("signatures", of_signatures(sorting)), ChunkCounts::default()));
        let of_records = |sorting: &Sorting| sorting.memory - marking.map_or(0, of_signatures);
        let store = spec.sorting.as_ref().map(|sorting| sorting.store("records", of_records(sorting)));
        let libraries = Libraries::new(&spec.header, &spec.lane_groups);
        if marking.is_some() && spec.header.read_groups.len() > MOST_READ_GROUPS {
            let words = format!("duplicates can be looked for in {MOST_READ_GROUPS} read groups at most");
            return Err(Error::Header(format!("{words}, and there are {}", spec.header.read_groups.len())));
        }
        let (files, index, index_file) = (Vec::new(), None, None);
        let abundances = (spec.format == Format::Abundances).then(|| Mutex::new(Abundances::new(&spec.header.contigs)));
        Ok(FileSink {
            spec,
            contig_numbers,
            files,
            unaligned: OfReads::default(),
            access,
            header,
            cram,
            store,
            signatures,
            libraries,
            doubts: Doubts::default(),
            abundances,
            index,
            index_file,
        })
    }

    /// Takes all that any process has kept, to be merged: the `wanted` chunks, in ascending order. Of attempts before
    /// this one those from `limits[attempt]` on were given up.
    ///
    /// # Errors
    /// [`Error::Kept`]: what cannot be read, or is not what was finished.
    pub fn take_up(&self, limits: &[u64], wanted: impl Iterator<Item = u64> + Clone) -> Result<(), Error> {
        if let Some(store) = &self.store {
            store.take_up(limits, wanted.clone())?;
        }
        if let Some((store, counts)) = &self.signatures {
            let noted = store.take_up(limits, wanted)?;
            noted.iter().try_for_each(|(number, note)| marking::take_up(*number, note, counts))?;
        }
        Ok(())
    }

    fn marking(&self) -> Option<&Marking> {
        self.spec.sorting.as_ref()?.marking.as_ref()
    }

    /// What the user should know of the records that were encoded here: what other programs do not read.
    pub fn notes(&self) -> Vec<String> {
        let contig = self.spec.header.odd_contig().map(|name| {
            format!(
                "The name of the contig '{name}' is not one that SAM allows: programs that use htsjdk, as Picard and \
                 GATK do, refuse it. Rename it in the reference."
            )
        });
        contig.into_iter().chain(self.doubts.notes()).collect()
    }

    /// The contigs of the header.
    pub fn contigs(&self) -> &[Contig] {
        &self.spec.header.contigs
    }

    /// The libraries of the reads, in the order of their numbers.
    pub fn libraries(&self) -> &[String] {
        self.libraries.names()
    }

    /// The number of that which only lanes without a read group are of; there are reads of it if records have none.
    pub fn library_of_lanes_alone(&self) -> Option<usize> {
        self.libraries.of_lanes_alone()
    }

    /// The choice of duplicates among the records that were collected, to be made in parts; none if it is not wanted.
    pub fn decision(&self) -> Option<Decision> {
        let (store, counts) = self.signatures.as_ref()?;
        Some(Decision::new(store.parts(SIGNATURES_TOGETHER), counts, self.marking()?.search))
    }

    /// The records that were collected, in parts to be made and written; none if they are not sorted. `marks` says
    /// which are duplicates; `visitors` look at all that are written.
    pub fn sorted<'s>(&'s self, marks: Option<Marks>, visitors: Option<&'s dyn Visitors>) -> Option<SortedParts<'s>> {
        let index = self.index.as_ref().map(FileIndex::like);
        let wanted = self.marking().map(|marking| (marking.duplicates, marking.search.rules));
        let duplicates = marks.zip(wanted).map(|(marks, (duplicates, rules))| (marks, duplicates, rules));
        let (format, cram) = (self.spec.format, self.cram.as_ref());
        let parts = self.store.as_ref()?.parts(format.part_bytes());
        let parts = match &self.spec.sorting {
            Some(Sorting { order: SortOrder::TemplateCoordinate, folder, .. }) => {
                MergedParts::of_places(parts, folder.clone())
            }
            _ => MergedParts::of_records(parts),
        };
        Some(SortedParts::new(parts, (format, cram), index, duplicates, visitors))
    }

    /// Bytes that were written to temporary files, compressed.
    pub fn spilled_bytes(&self) -> u64 {
        let stores = self.store.iter().chain(self.signatures.iter().map(|(store, _)| store));
        stores.map(RunStore::spilled_bytes).sum()
    }

    /// Has the index say what is in these parts, which are all that there are.
    pub fn set_index(&mut self, parts: Vec<MadePart>) {
        let start = self.start(0);
        if let Some(index) = &mut self.index {
            index.add_parts(parts, start);
        }
    }

    /// Ends the files, whose lengths are `lengths` (those of reads that were not aligned are the last), and gives them
    /// their names, together with those `beside` them, which are written. Returns the bytes of all files but these.
    ///
    /// # Errors
    /// [`Error::Output`], or [`Error::BrokenPipe`]; then nothing that looks complete is left.
    pub fn finish(mut self, lengths: &[u64], beside: Vec<NewFile>) -> Result<u64, Error> {
        if let Some(table) = self.table()? {
            // No file but this one; what came until now are no bytes of it.
            self.files[0].file().write_all(&table).map_err(|source| fault(&self.files[0], source))?;
            complete_all(self.take_own().into_iter().chain(beside).collect()).map_err(unwritten)?;
            return Ok(table.len() as u64);
        }
        let files = self.files.len() + self.unaligned.files.len();
        if lengths.len() != files {
            return Err(Error::Internal(format!("{} lengths are known of {files} output files", lengths.len())));
        }
        let ends = end_markers(self.spec.format, self.spec.shards, self.spec.unaligned.as_ref());
        let mut bytes = 0;
        for (file, (&length, end)) in lengths.iter().zip(ends).enumerate() {
            self.write_at(file, length, end)?;
            bytes += length + end.len() as u64;
        }
        let own = self.take_own();
        // After the records: an index that is older is not trusted.
        let index = self.index_file.take();
        if let Some(file) = &index {
            let written = file.file().write_all_at(&self.index_bytes()?, 0);
            written.map_err(|source| unwritten(WriteError { path: file.path().to_owned(), source }))?;
        }
        let paths = paths(self.spec.path.as_deref(), self.spec.shards);
        let index_path = index.as_ref().map(NewFile::path);
        let outdated: Vec<_> =
            paths.iter().flat_map(|path| other_indexes(path, self.spec.format, index_path)).collect();
        complete_instead_of(own.into_iter().chain(index).chain(beside).collect(), &outdated).map_err(unwritten)?;
        Ok(bytes)
    }

    /// The files of this run alone.
    fn take_own(&mut self) -> Vec<NewFile> {
        let unaligned = std::mem::take(&mut self.unaligned.files);
        let own = std::mem::take(&mut self.files).into_iter().chain(unaligned).filter_map(|open| match open {
            OpenFile::New(new) => Some(new),
            OpenFile::Shared { .. } => None,
        });
        own.collect()
    }

    /// The table that is written at the end, if one is.
    fn table(&self) -> Result<Option<Vec<u8>>, Error> {
        let Some(abundances) = &self.abundances else { return Ok(None) };
        let abundances = abundances.lock().unwrap_or_else(|p| p.into_inner());
        abundances.table(&self.spec.header.contigs).map(Some)
    }

    /// The names under which the files are written until they are complete.
    pub fn temporary_files(&self) -> Vec<PathBuf> {
        let temporary = |open: &OpenFile| match open {
            OpenFile::New(new) => new.temporary_path().map(Path::to_owned),
            OpenFile::Shared { .. } => None,
        };
        let index = self.index_file.iter().filter_map(|file| file.temporary_path().map(Path::to_owned));
        self.files.iter().chain(&self.unaligned.files).filter_map(temporary).chain(index).collect()
    }

    fn order(&self) -> Option<SortOrder> {
        self.spec.sorting.as_ref().map(|sorting| sorting.order)
    }

    fn context(&self) -> RecordContext<'_> {
        RecordContext {
            header: &self.spec.header,
            lane_groups: &self.spec.lane_groups,
            comments: self.spec.comments,
            directed: &self.spec.directed,
            mate_tags: match (self.order(), self.spec.mate_tags) {
                (Some(SortOrder::TemplateCoordinate), _) => MateTags::OfAll,
                (_, true) => MateTags::OfPrimary,
                (_, false) => MateTags::None,
            },
            doubts: &self.doubts,
            lane: 0,
        }
    }
}

impl Sink for FileSink {
    fn files(&self) -> usize {
        self.files.len()
    }

    fn access(&self) -> OutputAccess {
        self.access
    }

    fn beside(&self) -> usize {
        self.unaligned.files.len()
    }

    fn start(&self, file: usize) -> u64 {
        let header = if file < self.files.len() { &self.header } else { &self.unaligned.header };
        header.len() as u64
    }

    fn write_header(&self) -> Result<(), Error> {
        (0..self.files.len()).try_for_each(|file| self.write_at(file, 0, &self.header))
    }

    fn write_header_beside(&self) -> Result<(), Error> {
        let OfReads { files, header } = &self.unaligned;
        (0..files.len()).try_for_each(|file| self.write_at(self.files.len() + file, 0, header))
    }

    fn write_at(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some(abundances) = &self.abundances {
            return abundances.lock().unwrap_or_else(|p| p.into_inner()).add(bytes);
        }
        let of_records = self.files.iter().map(|open| (open, self.access));
        let beside = self.unaligned.files.iter().map(|open| (open, OutputAccess::Positioned));
        let Some((open, access)) = of_records.chain(beside).nth(file) else {
            return Err(Error::Internal(format!("there is no output file {file}")));
        };
        let written = match access {
            OutputAccess::Positioned => open.file().write_all_at(bytes, offset),
            OutputAccess::Sequential => open.file().write_all(bytes),
        };
        written.map_err(|source| fault(open, source))
    }

    fn encoder(&self) -> Box<dyn Encoder + '_> {
        if !self.spec.format.is_of_records() {
            return Box::new(TextEncoder::default());
        }
        let parser = LineParser::new(&self.spec.header.contigs, &self.contig_numbers);
        let form = match self.spec.format {
            Format::Bam { .. } | Format::Cram { .. } => Form::Bam,
            Format::Sam | Format::Paf | Format::Abundances => Form::SAM,
        };
        let packing = match (&self.spec.sorting, self.spec.format, &self.cram) {
            (Some(sorting), ..) => {
                let signer = sorting.marking.as_ref().map(|marking| Signer::new(marking, &self.libraries));
                let finds_molecules = sorting.marking.is_some_and(|marking| marking.search.umis.is_some());
                ChunkPacking::frames(KeyMaker::new(sorting.order, &self.libraries, finds_molecules), signer)
            }
            (None, Format::Bam { level }, _) => ChunkPacking::Blocks(BlockCompressor::new(level)),
            (None, Format::Cram { .. }, Some(cram)) => ChunkPacking::Containers(Box::new(cram.encoder())),
            (None, ..) => ChunkPacking::Plain,
        };
        let beside = Beside {
            shows_unaligned: self.spec.shows_unaligned,
            unaligned: self.spec.unaligned.as_ref().map(UnalignedEncoder::new),
            bases_of_all: self.spec.secondary_bases,
        };
        Box::new(RecordEncoder::new(self.context(), parser, (form, packing), beside))
    }

    fn collector(&self) -> Option<Box<dyn Collect + '_>> {
        let records = self.store.as_ref()?.collector();
        Some(match &self.signatures {
            None => Box::new(records),
            Some((signatures, counts)) => {
                let keeps = signatures.keeps();
                Box::new(BothCollector { records, signatures: signatures.collector(), counts, keeps })
            }
        })
    }
}

/// The name of the index of `path`.
pub fn index_path(path: &Path, index: IndexFormat) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(index.suffix());
    name.into()
}

/// Indexes of `path` that are there, but for the one that is written: they are of records that are replaced. What has
/// the name of one, and holds something else, does not count.
fn other_indexes(path: &Path, format: Format, written: Option<&Path>) -> Vec<PathBuf> {
    if zerohop_process::is_written_in_place(path) {
        return Vec::new();
    }
    let formats = IndexFormat::of(format);
    // GATK and Picard write out.bai, and take it before out.bam.bai.
    let has_suffix = path.extension().is_some_and(|suffix| suffix == "bam" || suffix == "cram");
    let of_others = formats.iter().filter(|_| has_suffix);
    let of_others = of_others.map(|index| path.with_extension(index.suffix().trim_start_matches('.')));
    let all = formats.iter().map(|index| index_path(path, *index)).chain(of_others);
    let is_index = |other: &Path| other.is_file() && overwrite::replaceable(other, Kind::Index).is_ok();
    all.filter(|other| Some(&**other) != written && is_index(other)).collect()
}

/// Removes them. If one cannot be removed, a note says so: the records are complete.
pub fn remove_other_indexes(path: &Path, format: Format, written: Option<&Path>) {
    for other in other_indexes(path, format, written) {
        if let Err(error) = std::fs::remove_file(&other) {
            let (other, path) = (other.display(), path.display());
            tell::note(&format!("{other} is an index of what {path} held before, and cannot be removed: {error}."));
        }
    }
}

/// The files of records of an output at `path` in so many shards; none for standard output.
pub fn paths(path: Option<&Path>, shards: usize) -> Vec<PathBuf> {
    match path {
        None => Vec::new(),
        Some(path) if shards <= 1 => vec![path.to_owned()],
        Some(path) => (1..=shards).map(|shard| shard_path(path, shard)).collect(),
    }
}

/// `out.bam` becomes `out.3.bam` for shard 3.
pub fn shard_path(path: &Path, shard: usize) -> PathBuf {
    let suffix = path.extension().map_or_else(|| shard.to_string(), |e| format!("{shard}.{}", e.to_string_lossy()));
    path.with_extension(suffix)
}

/// What CRAM is encoded with, if it is the format.
fn cram(spec: &OutputSpec) -> Result<Option<Cram>, Error> {
    let Format::Cram { version, level } = spec.format else { return Ok(None) };
    let reference = spec.reference.as_ref();
    let reference = reference.ok_or_else(|| Error::Internal("CRAM was given no reference".to_owned()))?;
    let order = match &spec.sorting {
        Some(Sorting { order: SortOrder::Coordinate, .. }) => RecordOrder::Coordinate,
        _ => RecordOrder::Other,
    };
    Cram::new((&spec.header.text(), &spec.header.contigs), reference, (version, level, order)).map(Some)
}

/// None is standard output.
fn open(path: Option<&Path>) -> Result<NewFile, Error> {
    path.map_or_else(NewFile::standard_output, NewFile::create).map_err(unwritten)
}

fn fault(open: &OpenFile, source: std::io::Error) -> Error {
    unwritten(WriteError { path: open.path().to_owned(), source })
}

fn unwritten(WriteError { path, source }: WriteError) -> Error {
    match source.kind() {
        ErrorKind::BrokenPipe => Error::BrokenPipe,
        _ => Error::Output { path, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::alignment::Weight;

    fn spec(path: PathBuf, shards: usize) -> OutputSpec {
        OutputSpec { shards, ..OutputSpec::new(Some(path), Format::Sam, Header::default()) }
    }

    #[test]
    fn a_file_gets_its_name_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("o.sam");
        let sink = FileSink::create(spec(path.clone(), 1)).unwrap();
        sink.write_at(0, sink.start(0), b"x\n").unwrap();
        assert!(!path.exists());
        let length = sink.start(0) + 2;
        sink.finish(&[length], Vec::new()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"@HD\tVN:1.6\tSO:unsorted\tGO:query\nx\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_table_is_written_when_all_weights_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("o.tsv");
        let header = Header { contigs: vec![Contig::new("a", 4), Contig::new("b", 2)], ..Header::default() };
        let of_table = || OutputSpec { format: Format::Abundances, header: header.clone(), ..spec(path.clone(), 1) };
        drop(FileSink::create(of_table()).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let (sink, mut bytes) = (FileSink::create(of_table()).unwrap(), Vec::new());
        assert_eq!((sink.access(), sink.start(0)), (OutputAccess::Sequential, 0));
        Weight { contig: 1, bases: 3.0 }.push_to(&mut bytes);
        (0..2).for_each(|i| sink.write_at(0, i * bytes.len() as u64, &bytes).unwrap());
        assert!(!path.exists());
        assert_eq!(sink.finish(&[2 * bytes.len() as u64], Vec::new()).unwrap(), 22);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\t0.000000\nb\t3.000000\n");
    }

    #[test]
    fn a_failed_run_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(FileSink::create(spec(dir.path().join("o.sam"), 3)).unwrap());
        let sink = FileSink::create(spec(dir.path().join("o.sam"), 3)).unwrap();
        assert!(sink.finish(&[100, 100], Vec::new()).is_err(), "the third file has no end");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn shared_files_are_written_by_all_and_ended_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let (path, partials) = (dir.path().join("o.sam"), ["a", "b"].map(|name| dir.path().join(name)));
        assert!(FileSink::share(spec(path.clone(), 2), &partials).is_err(), "they must be there");
        let before = "left from before, and longer than what will be there in the end";
        partials.iter().for_each(|partial| std::fs::write(partial, before).unwrap());
        let sinks = [0, 1].map(|_| FileSink::share(spec(path.clone(), 2), &partials).unwrap());
        let start = sinks[0].start(0);
        sinks[1].write_at(1, start + 2, b"y\n").unwrap();
        sinks[0].write_header().unwrap();
        sinks[0].write_at(1, start, b"x\n").unwrap();
        drop(sinks);
        for (partial, length, text) in [(&partials[0], 0, ""), (&partials[1], 4, "x\ny\n")] {
            assert_eq!(FileSink::end_shared(partial, b"", start + length).unwrap(), start + length);
            assert_eq!(
                std::fs::read_to_string(partial).unwrap(),
                format!("@HD\tVN:1.6\tSO:unsorted\tGO:query\n{text}")
            );
        }
    }

    #[test]
    fn shards_are_numbered_before_the_suffix() {
        assert_eq!(shard_path(Path::new("d/o.x.bam"), 2), Path::new("d/o.x.2.bam"));
        assert_eq!(shard_path(Path::new("o"), 2), Path::new("o.2"));
    }
}
