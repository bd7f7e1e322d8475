//! Opens read files: finds out what they are by their content, and chooses how they are dealt.

use crate::LaneSpec;
use crate::bam::{self, BamParser, Beginning};
use crate::blocked::BlockInput;
use crate::content::Content;
use crate::count;
use crate::cutter::Cutting;
use crate::fault::{DAMAGED_RECORD, TRUNCATED_RECORD, not_reads, read_fault};
use crate::granted::{GrantedClaim, GrantedEmit, Shared};
use crate::gzip::GzipMembers;
use crate::header;
use crate::parse::{Format, Layout, Parser};
use crate::regular::{Coding, Regular};
use crate::sam;
use crate::serial::SerialText;
use crate::sizes::COMPRESSED_READ;
use crate::stream::{StreamEmitter, StreamSpec};
use crate::survey::{Part, Survey, has_end_marker};
use crate::table::Table;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_model::directed::Directed;
use zerohop_model::engine::Cut;
use zerohop_model::error::InputError;
use zerohop_model::source::{Deal, Lane, Parse};

/// Bytes of BAM that are read at first.
const BEGIN: usize = 1 << 16;
/// Bytes after which a header of BAM is taken for damaged.
const MOST_HEADER: usize = 1 << 30;
/// Bytes of records within which the first read must come.
const MOST_BEFORE_FIRST: usize = 1 << 26;

/// What a file's first bytes say of its compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Bgzf,
}

/// One opened file: its inflated text from the start, and what was learned of it.
pub(crate) struct Opened {
    path: PathBuf,
    /// The file, if it is a regular one, for reading at any offset.
    pub(crate) regular: Option<File>,
    compression: Compression,
    /// `None` for a file without any text.
    pub(crate) content: Option<Content>,
    /// What is before the records, if it is BAM.
    header: bam::Header,
    /// Inflated text that was read for looking at it, and the rest.
    pub(crate) prefix: Vec<u8>,
    rest: Counting<Box<dyn Read + Send>>,
    /// Bytes of text that were read so far.
    pub(crate) text_read: Arc<AtomicU64>,
    progress: Option<(Arc<AtomicU64>, u64)>,
    /// Whether htslib made BAM of it: places in that are none of the file.
    is_converted: bool,
    /// Whether it is a file of BGZF that does not end as its writers end it.
    lacks_end_marker: bool,
}

/// Counts the bytes that pass.
struct Counting<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A file's bytes, and the file itself if it is a regular one.
type Raw = (Box<dyn Read + Send>, Option<File>);

/// Opens a file, or standard input for `-`.
fn open_raw(path: &Path) -> Result<Raw, InputError> {
    if path == Path::new("-") {
        return Ok((Box::new(std::io::stdin()), None));
    }
    let fault = |e| InputError::new(path, format!("cannot open: {e}"));
    let file = File::open(path).map_err(fault)?;
    let kind = file.metadata().map_err(fault)?;
    if kind.is_dir() {
        return Err(InputError::new(path, "is a directory, not a file of reads"));
    }
    let regular = if kind.is_file() { Some(file.try_clone().map_err(fault)?) } else { None };
    Ok((Box::new(file), regular))
}

/// Bytes of text within which two reads are looked for: of a file, and of a pipe, whose writer may wait for another one
/// to be opened.
const FIRST_TWO: usize = 1 << 12;
const FIRST_TWO_OF_PIPE: usize = 1 << 9;

/// Looks at the first bytes of a file. `reference` is for CRAM.
fn look(path: &Path, (raw, regular): Raw, reference: Option<&Path>) -> Result<Opened, InputError> {
    let length = regular.as_ref().map(File::metadata).transpose().map_err(|e| read_fault(path, &e))?.map(|m| m.len());
    let count = Arc::new(AtomicU64::new(0));
    let mut raw = Counting { inner: raw, count: Arc::clone(&count) };
    let mut first = Vec::new();
    raw.by_ref().take(512).read_to_end(&mut first).map_err(|e| read_fault(path, &e))?;
    let compression = match &first[..] {
        bytes if zerohop_bgzf::frame(bytes).is_some() => Compression::Bgzf,
        [0x1f, 0x8b, ..] => Compression::Gzip,
        _ => Compression::None,
    };
    let raw = Cursor::new(first).chain(raw);
    let rest: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(raw),
        _ => Box::new(GzipMembers::new(raw, COMPRESSED_READ)),
    };
    let lacks_end_marker = match (compression, &regular) {
        (Compression::Bgzf, Some(regular)) => !has_end_marker(regular, path)?,
        _ => false,
    };
    let progress = length.map(|length| (count, length));
    let text_read = Arc::new(AtomicU64::new(0));
    let rest = Counting { inner: rest, count: Arc::clone(&text_read) };
    let (path_owned, prefix) = (path.to_owned(), Vec::new());
    let (header, is_converted) = (bam::Header::default(), false);
    let mut opened = Opened {
        path: path_owned,
        regular,
        compression,
        content: None,
        header,
        prefix,
        rest,
        text_read,
        progress,
        is_converted,
        lacks_end_marker,
    };
    opened.read_more(bam::MAGIC.len())?;
    if !opened.prefix.starts_with(&bam::MAGIC) {
        opened.read_more(sam::wanted(opened.prefix.first()))?;
        if sam::is_cram(&opened.prefix) || sam::is_sam(&opened.prefix) {
            opened = opened.into_bam(reference)?;
        }
    }
    let blank = |b: &u8| matches!(b, b'\n' | b'\r');
    opened.content = match opened.prefix.first().copied() {
        None => None,
        Some(_) if opened.prefix.starts_with(&bam::MAGIC) => Some(opened.look_at_bam()?),
        // A file of a few empty lines is as good as empty.
        Some(first) if blank(&first) && !opened.read_more(512)? && opened.prefix.iter().all(blank) => None,
        Some(b'@') => Some(Content::Text(Format::Fastq)),
        Some(b'>') => Some(Content::Text(Format::Fasta)),
        Some(_) => return Err(not_reads(path, &opened.prefix)),
    };
    Ok(opened)
}

impl Opened {
    /// Reads until `prefix` holds `wanted` bytes; false when the text ends before.
    pub(crate) fn read_more(&mut self, wanted: usize) -> Result<bool, InputError> {
        let missing = wanted.saturating_sub(self.prefix.len()) as u64;
        let got = self.rest.by_ref().take(missing).read_to_end(&mut self.prefix);
        Ok(got.map_err(|e| read_fault(&self.path, &e))? as u64 == missing)
    }

    /// Whether the first two reads have the same name, of FASTQ; as far as that is seen soon.
    fn seems_interleaved(&mut self) -> Result<bool, InputError> {
        if self.content != Some(Content::Text(Format::Fastq)) {
            return Ok(false);
        }
        self.read_more(if self.regular.is_some() { FIRST_TWO } else { FIRST_TWO_OF_PIPE })?;
        let mut headers = self.prefix.split(|&b| b == b'\n').step_by(4).take(2);
        let mut name = || {
            let (name, _) = header::split(headers.next()?.strip_prefix(b"@")?);
            Some(header::without_mate_number(name))
        };
        Ok(name().is_some_and(|first| name() == Some(first)))
    }

    /// SAM or CRAM as BAM, which is read from front to back.
    fn into_bam(self, reference: Option<&Path>) -> Result<Self, InputError> {
        let text = Cursor::new(self.prefix).chain(self.rest);
        let reference = reference.filter(|path| sam::has_index(path)).map(Path::to_owned);
        let bam = zerohop_cram::as_bam(text, reference).map_err(|e| read_fault(&self.path, &e))?;
        let rest: Box<dyn Read + Send> = Box::new(GzipMembers::new(bam, COMPRESSED_READ));
        let rest = Counting { inner: rest, count: Arc::clone(&self.text_read) };
        let mut opened = Opened { regular: None, prefix: Vec::new(), rest, is_converted: true, ..self };
        opened.read_more(bam::MAGIC.len())?;
        Ok(opened)
    }

    /// Reads the header of a file of BAM, and its first read.
    fn look_at_bam(&mut self) -> Result<Content, InputError> {
        let mut wanted = BEGIN;
        let header = loop {
            let more = self.read_more(wanted)?;
            let fault = |what: &str| InputError::new(&self.path, what).at(1, 0);
            match bam::Header::of(&self.prefix).map_err(fault)? {
                Some(header) => break header,
                None if !more => {
                    let what = "the file ends in the middle of its header: it is truncated";
                    return Err(InputError::new(&self.path, what));
                }
                None if wanted >= MOST_HEADER => {
                    return Err(fault("its header would have more than a gibibyte: the file is damaged"));
                }
                None => wanted *= 2,
            }
        };
        let (start, contigs) = (header.bytes, header.contigs);
        self.header = header;
        loop {
            let more = self.read_more(wanted)?;
            // A fault before the first read may be in no chunk, so that nobody would find it later.
            let (what, left) = match bam::first_read(self.prefix.get(start..).unwrap_or_default()) {
                Beginning::Open { .. } if more && wanted < start + MOST_BEFORE_FIRST => {
                    wanted *= 2;
                    continue;
                }
                Beginning::Open { first: None, cut_off } if more => {
                    let what = match cut_off < MOST_BEFORE_FIRST {
                        true => {
                            "its first records are secondary and supplementary ones alone, for 64 MiB: are there reads?"
                        }
                        false => "its first record has more than 64 MiB: the file is damaged, or has very long fields",
                    };
                    return Err(InputError::new(&self.path, what).at(1, start as u64));
                }
                Beginning::Open { first: None, cut_off: cut_off @ 1.. } => (TRUNCATED_RECORD, cut_off),
                Beginning::Damaged { left } => (DAMAGED_RECORD, left),
                Beginning::Open { first, .. } => return Ok(Content::Bam { header: start as u64, contigs, first }),
                Beginning::Known(first) => {
                    return Ok(Content::Bam { header: start as u64, contigs, first: Some(first) });
                }
            };
            let mut fault = InputError::new(&self.path, what).at(1, (self.prefix.len() - left) as u64);
            fault.byte = fault.byte.filter(|_| !self.is_converted);
            return Err(fault);
        }
    }

    fn is_bam(&self) -> bool {
        matches!(self.content, Some(Content::Bam { .. }))
    }

    /// How its bytes can be read at any offset, and what they hold, if workers can deal it themselves.
    fn coding(&self) -> Option<(Coding, Content)> {
        const FASTQ: Content = Content::Text(Format::Fastq);
        match (self.regular.is_some(), self.content, self.compression) {
            (true, Some(FASTQ), Compression::None) => Some((Coding::Plain, FASTQ)),
            (true, Some(content @ (FASTQ | Content::Bam { .. })), Compression::Bgzf) => Some((Coding::Bgzf, content)),
            (true, Some(FASTQ), Compression::Gzip) => Some((Coding::Gzip, FASTQ)),
            // An empty file holds no stretch.
            (true, None, Compression::None) => Some((Coding::Plain, FASTQ)),
            _ => None,
        }
    }
}

/// What of the input goes on to the records, besides names, bases and qualities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The comments of header lines.
    pub comments: bool,
    /// The read groups of BAM.
    pub read_groups: bool,
    /// Other IDs for programs of BAM, by those that records have in PG.
    pub programs: HashMap<String, String>,
    /// Which fields of BAM go with the direction of a read: those of records on the reverse strand are turned back.
    pub directed: Directed,
}

/// The files of one lane, opened.
pub struct OpenLane {
    pub(crate) files: Vec<Opened>,
    layout: Layout,
    /// Fragments after which it counts as ended.
    first: Option<u64>,
    /// What of the input goes on to the records.
    carried: Carried,
    /// What the user should know of the input, a sentence each.
    pub notes: Vec<String>,
}

impl OpenLane {
    /// Opens the files of a lane and looks at their first bytes.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is none of FASTQ, FASTA, BAM, SAM and CRAM.
    pub fn open(spec: &LaneSpec) -> Result<Self, InputError> {
        Self::open_with(spec, None)
    }

    /// The same, with the FASTA of the reference, which CRAM of aligned reads needs.
    ///
    /// # Errors
    /// As [`OpenLane::open`].
    pub fn open_with(spec: &LaneSpec, reference: Option<&Path>) -> Result<Self, InputError> {
        // All are opened before one is read: a program may wait for the second of two pipes to be opened.
        let raw = spec.files.iter().map(|path| open_raw(path)).collect::<Result<Vec<_>, _>>()?;
        let mut files =
            spec.files.iter().zip(raw).map(|(path, raw)| look(path, raw, reference)).collect::<Result<Vec<_>, _>>()?;
        if let Some(bam) = files.iter().find(|file| file.is_bam())
            && (files.len() > 1 || spec.interleaved)
        {
            let what = "is BAM, SAM or CRAM, whose flags say which reads are mates: give each file as a lane of its \
                        own (--reads), without --interleaved";
            return Err(InputError::new(&bam.path, what));
        }
        let layout = match (files.len(), spec.interleaved) {
            (2, _) => Layout::Pairs,
            (_, true) => Layout::Interleaved,
            _ => Layout::Single,
        };
        let mut notes = Vec::new();
        for file in &mut files {
            if layout == Layout::Single && file.seems_interleaved()? {
                let path = file.path.display();
                notes.push(format!("{path}: its first two reads have the same name: are they pairs (-p)?"));
            }
            if file.lacks_end_marker {
                let path = file.path.display();
                notes.push(format!("{path} lacks the end marker of BGZF: it may be truncated between two blocks."));
            }
        }
        let (programs, directed) = (HashMap::new(), Directed::default());
        let carried = Carried { comments: true, read_groups: true, programs, directed };
        Ok(OpenLane { files, layout, first: None, carried, notes })
    }

    /// The lane with its first `fragments` reads or pairs only, if a number is given; what follows is not checked
    /// either.
    #[must_use]
    pub fn first(mut self, fragments: Option<u64>) -> Self {
        self.first = fragments;
        self
    }

    /// The same lane, of which only this goes on to the records.
    #[must_use]
    pub fn carrying(mut self, carried: Carried) -> Self {
        self.carried = carried;
        self
    }

    /// Whether workers take its chunks by themselves; an emitter deals them otherwise ([`OpenLane::deal`]).
    pub fn is_claimed(&self) -> bool {
        self.layout != Layout::Interleaved && self.files.iter().all(|file| file.coding().is_some())
    }

    /// Whether several processes can deal parts of it ([`OpenLane::count`]): workers do, and it can be read at any
    /// place.
    pub fn is_counted(&self) -> bool {
        let is_gzip = |file: &Opened| file.coding().is_some_and(|(coding, _)| coding == Coding::Gzip);
        self.is_claimed() && !self.files.iter().any(is_gzip)
    }

    /// Whether its reads are pairs.
    pub fn is_paired(&self) -> bool {
        self.layout != Layout::Single || self.files.iter().filter_map(|file| file.content).any(Content::is_paired)
    }

    /// Whether its reads are in FASTA, or have no qualities as those in FASTA; unknown if it has none.
    pub fn is_fasta(&self) -> Option<bool> {
        self.files.iter().filter_map(|file| file.content).find_map(|content| match content {
            Content::Text(format) => Some(format == Format::Fasta),
            Content::Bam { first, .. } => first.map(|first| first.lacks_qualities),
        })
    }

    /// Whether its reads are in BAM.
    pub fn is_bam(&self) -> bool {
        self.files.iter().any(Opened::is_bam)
    }

    /// The @RG lines of BAM, as they stand there.
    pub fn read_group_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.header.read_groups.iter().map(Vec::as_slice))
    }

    /// The @PG and @CO lines of BAM, as they stand there.
    pub fn history_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.header.history.iter().map(Vec::as_slice))
    }

    /// Whether its files can be opened again.
    pub fn is_regular(&self) -> bool {
        self.files.iter().all(|file| file.regular.is_some())
    }

    /// Whether all its files are BGZF.
    pub fn is_bgzf(&self) -> bool {
        self.files.iter().all(|file| file.compression == Compression::Bgzf)
    }

    /// The text of each file, inflated, from the start.
    pub fn into_texts(self) -> Vec<Box<dyn Read + Send>> {
        self.files.into_iter().map(|f| Box::new(Cursor::new(f.prefix).chain(f.rest)) as Box<dyn Read + Send>).collect()
    }

    /// Its files, to be blocked; each with what checks its reads.
    ///
    /// # Errors
    /// Files that hold something else than FASTQ, one read after the other.
    pub fn into_block_inputs(self, max_read_bases: usize) -> Result<Vec<BlockInput>, InputError> {
        self.refuse_all_but_fastq("can be blocked")?;
        let files = self.files.iter().map(|file| vec![(file.path.clone(), Format::Fastq)]).collect::<Vec<_>>();
        let comments = self.carried.comments;
        let parsers = files.into_iter().map(|files| Parser { files, layout: Layout::Single, max_read_bases, comments });
        Ok(self
            .serial_texts(max_read_bases)
            .into_iter()
            .zip(parsers)
            .map(|(text, parser)| BlockInput { text, parser })
            .collect())
    }

    pub(crate) fn refuse_all_but_fastq(&self, what: &str) -> Result<(), InputError> {
        if self.layout != Layout::Interleaved && self.is_fasta() != Some(true) && !self.is_bam() {
            return Ok(());
        }
        let first = self.files.first().map_or(Path::new("-"), |file| &file.path);
        Err(InputError::new(first, format!("only FASTQ, single or in two files, {what}")))
    }

    /// Its files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|file| &file.path)
    }

    /// What finds the reads of chunks of both files, which are FASTQ or FASTA.
    pub(crate) fn parser(&self, max_read_bases: usize) -> Parser {
        let format = |file: &Opened| match file.content {
            Some(Content::Text(format)) => format,
            Some(Content::Bam { .. }) | None => Format::Fastq,
        };
        let files = self.files.iter().map(|file| (file.path.clone(), format(file))).collect();
        Parser { files, layout: self.layout, max_read_bases, comments: self.carried.comments }
    }

    /// What finds the reads of chunks.
    fn any_parser(&self, max_read_bases: usize) -> Box<dyn Parse> {
        match &self.files[..] {
            [Opened { path, header, is_converted, content: Some(Content::Bam { first, .. }), .. }] => {
                let bam::First { is_paired, lacks_qualities } = first.unwrap_or_default();
                Box::new(BamParser {
                    path: path.clone(),
                    is_paired,
                    lacks_qualities,
                    max_read_bases,
                    read_groups: header.read_group_ids(),
                    keeps_read_groups: self.carried.read_groups,
                    programs: self.carried.programs.clone(),
                    directed: self.carried.directed.clone(),
                    has_places: !is_converted,
                })
            }
            _ => Box::new(self.parser(max_read_bases)),
        }
    }

    /// The text of each file, to be taken record by record.
    pub(crate) fn serial_texts(self, max_read_bases: usize) -> Vec<SerialText> {
        let text = |file: Opened| {
            let text = Box::new(Cursor::new(file.prefix).chain(file.rest));
            SerialText::new(file.path, text, max_read_bases)
        };
        self.files.into_iter().map(text).collect()
    }

    /// The bytes of each blocked file, as they lie in it.
    ///
    /// # Errors
    /// A file that cannot be read anew.
    pub(crate) fn block_texts(self) -> Result<Vec<SerialText>, InputError> {
        let bytes = |file: Opened| -> Result<SerialText, InputError> {
            let raw = File::open(&file.path).map_err(|e| InputError::new(&file.path, format!("cannot open: {e}")))?;
            Ok(SerialText::new(file.path, Box::new(raw), 0))
        };
        self.files.into_iter().map(bytes).collect()
    }

    /// Makes it lane number `lane` of a run of `workers`: its chunks are cut by `cut`.
    ///
    /// Regular files of single or paired FASTQ reads, and of BAM in BGZF, are dealt by the workers; all else by an
    /// emitter.
    ///
    /// # Errors
    /// When a file has become unreadable.
    pub fn deal(self, lane: u32, cut: Cut, max_read_bases: usize, workers: usize) -> Result<Lane, InputError> {
        let parser = self.any_parser(max_read_bases);
        let cutting = self.cutting(lane, cut, max_read_bases);
        let deal = match self.is_claimed() {
            true => {
                let parts = self.regular()?.into_iter().map(Part::all).collect();
                Deal::Claim(Box::new(Survey::new(parts, cutting.cutter(true), workers)))
            }
            false => Deal::Emit(Box::new(self.emitter(max_read_bases, cutting))),
        };
        Ok(Lane { deal, parser })
    }

    /// Counts this rank's share of it, with so many threads, for [`OpenLane::table`]. Only of lanes of which
    /// [`OpenLane::is_counted`] holds.
    ///
    /// # Errors
    /// When a file has become unreadable.
    pub fn count(&self, rank: usize, ranks: usize, threads: usize) -> Result<Vec<u8>, InputError> {
        Ok(count::count(&self.counted()?, rank, ranks, threads))
    }

    /// Finds its chunks, from what all ranks have counted.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn table(&self, counts: &[Vec<u8>], cut: Cut) -> Result<Table, InputError> {
        count::add_up(&self.counted()?, counts, cut, self.first)
    }

    /// Makes it a lane of a run of which this process deals only what it is granted. `table` is for a lane that is
    /// counted, with the number of its first chunk over all lanes. An engine that maps in two phases must be granted
    /// whole cohorts.
    ///
    /// # Errors
    /// When a file has become unreadable.
    pub fn deal_granted(
        self,
        (lane, lanes): (u32, u32),
        cut: Cut,
        max_read_bases: usize,
        workers: usize,
        table: Option<(Arc<Table>, u64)>,
        shared: &Shared,
    ) -> Result<Lane, InputError> {
        let parser = self.any_parser(max_read_bases);
        let cutting = self.cutting(lane, cut, max_read_bases);
        let deal = match table {
            Some((table, first)) => {
                let (files, grant) = (self.counted()?, Arc::clone(&shared.grant));
                Deal::Claim(Box::new(GrantedClaim::new(files, cutting, table, first, workers, grant)))
            }
            None => {
                let all = self.emitter(max_read_bases, cutting);
                Deal::Emit(Box::new(GrantedEmit::new(all, shared.clone(), lane + 1 == lanes)))
            }
        };
        Ok(Lane { deal, parser })
    }

    fn emitter(self, max_read_bases: usize, cutting: Cutting) -> StreamEmitter {
        // Segments of text end with a record, those of BAM anywhere.
        let cutter = cutting.cutter(self.is_bam());
        StreamEmitter::new(self.streams(max_read_bases), cutter)
    }

    fn cutting(&self, lane: u32, cut: Cut, max_read_bases: usize) -> Cutting {
        let (paths, end) = (self.paths().cloned().collect(), self.first);
        // Of BAM both mates are one record for the cutter.
        let reads = self.files.iter().filter_map(|file| file.content).map(Content::reads_per_fragment).max();
        let reads_per_record = reads.unwrap_or(1);
        let max_record_bases = max_read_bases as u64 * reads_per_record;
        Cutting { lane, paths, cut, is_text: !self.is_bam(), max_record_bases, reads_per_record, end }
    }

    /// Its files, of which several processes deal parts.
    fn counted(&self) -> Result<Vec<Regular>, InputError> {
        match self.files.iter().find(|_| !self.is_counted()) {
            Some(file) => Err(InputError::new(&file.path, "it cannot be read at any place: please report this")),
            None => self.regular(),
        }
    }

    /// Its files, which workers deal.
    fn regular(&self) -> Result<Vec<Regular>, InputError> {
        let regular = |file: &Opened| {
            let no = || InputError::new(&file.path, "workers cannot deal it: please report this");
            let (regular, coding) = file.regular.as_ref().zip(file.coding()).ok_or_else(no)?;
            let (_, length) = file.progress.as_ref().ok_or_else(no)?;
            let regular = regular.try_clone().map_err(|e| read_fault(&file.path, &e))?;
            Ok(Regular::new(file.path.clone(), regular, coding, *length))
        };
        self.files.iter().map(regular).collect()
    }

    /// Its files, to be read from front to back.
    fn streams(self, max_read_bases: usize) -> Vec<StreamSpec> {
        let interleaved = self.layout == Layout::Interleaved;
        let spec = |file: Opened| StreamSpec {
            path: file.path,
            is_converted: file.is_converted,
            content: file.content.unwrap_or(Content::Text(Format::Fastq)),
            interleaved,
            max_read_bases,
            text: Box::new(Cursor::new(file.prefix).chain(file.rest)),
            progress: file.progress,
        };
        self.files.into_iter().map(spec).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{TEXT, sample};
    use std::sync::atomic::Ordering;

    /// FASTA without end, of records of so many bytes in lines of 60 bases; it counts what is read.
    struct Endless {
        record: u64,
        at: u64,
        read: Arc<AtomicU64>,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for byte in buffer.iter_mut() {
                *byte = match self.at % self.record {
                    0 => b'>',
                    1 => b'r',
                    at if at % 61 == 2 || at + 1 == self.record => b'\n',
                    _ => b'A',
                };
                self.at += 1;
            }
            self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            Ok(buffer.len())
        }
    }

    #[test]
    fn of_long_reads_a_bounded_text_is_sampled() {
        let read = Arc::new(AtomicU64::new(0));
        let text = Endless { record: 610_000, at: 0, read: Arc::clone(&read) };
        let mut opened = look(Path::new("x.fa"), (Box::new(text), None), None).unwrap();
        // 500 reads would be 305 MB.
        let sample = sample(&mut opened, 500).unwrap();
        let mean = sample.bases / sample.reads as u64;
        assert!((590_000..610_000).contains(&mean), "{mean}");
        assert!(read.load(Ordering::Relaxed) <= TEXT as u64 + 1024);
    }
}
