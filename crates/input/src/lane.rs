//! The files of one lane, which are opened together, and how their reads are dealt.

use crate::LaneSpec;
use crate::bam::{self, BamParser, SeenMates, SingleReads};
use crate::barcodes::{BarcodeParser, Barcodes};
use crate::content::Content;
use crate::count;
use crate::cutter::Cutting;
use crate::granted::{GrantedClaim, GrantedEmit, Shared};
use crate::header;
use crate::open::{OpenedFile, WhenRead, bam_without_end, look, no_end_marker};
use crate::parse::{FragmentLayout, Parser, TextFormat};
use crate::regular::{FileCoding, Regular};
use crate::seen::ClosedFile;
use crate::stream::{StreamEmitter, StreamSpec};
use crate::table::Table;
use crate::text::open_raw;
use crate::trimmed::{Inputs, RAW_CUT, TrimmedClaim, TrimmedEmit};
use crate::trimming::{Trimmed, Trimming};
use crate::turn::LateSurvey;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_model::directed::Directed;
use zerohop_model::engine::Cut;
use zerohop_model::error::{InputError, shown, shown_path};
use zerohop_model::source::{Deal, Lane, Parse};

/// What of the input goes on to the records, besides names, bases and qualities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The comments of header lines.
    pub comments: bool,
    /// The read groups of BAM.
    pub read_groups: bool,
    /// Only pairs: an interleaved read without a mate is a fault.
    pub pairs_alone: bool,
    /// Other IDs for programs of BAM, by those that records have in PG.
    pub programs: HashMap<String, String>,
    /// Which fields of BAM go with the direction of a read: those of records on the reverse strand are turned back.
    pub directed: Directed,
}

/// The files of one lane, opened.
pub struct OpenLane {
    pub(crate) files: Vec<OpenedFile>,
    layout: FragmentLayout,
    /// Fragments after which it counts as ended.
    first: Option<u64>,
    /// What of the input goes on to the records.
    carried: Carried,
    pub(crate) barcodes: Barcodes,
    /// What trims its reads, if they are trimmed.
    pub(crate) trimmed: Option<Arc<Trimmed>>,
    /// Pairs and single reads of BAM, as they are parsed.
    seen: Option<Arc<SeenMates>>,
    /// What the user should know of the input, a sentence each.
    pub notes: Vec<String>,
}

/// What looks as if something else was meant, of two files of mates, by their first reads.
fn note_on_mates(files: &mut [OpenedFile]) -> Result<Option<String>, InputError> {
    let [first, second] = files else { return Ok(None) };
    let [one, two] = [&first.path, &second.path].map(|path| shown_path(path).to_string());
    let (Some(record), Some(other)) = (first.first_record()?, second.first_record()?) else { return Ok(None) };
    let [Some(of_first), Some(of_second)] = [&record, &other].map(|lines| lines[0].strip_prefix(b"@")) else {
        return Ok(None);
    };
    let [of_first, of_second] = [of_first, of_second].map(header::split);
    let (name, mate) = (header::without_mate_number(of_first.0), header::without_mate_number(of_second.0));
    Ok(if header::mate_number(of_first) == Some(2) {
        Some(format!("{one} begins with a second mate, '{}': are it and {two} in this order?", shown(of_first.0)))
    } else if header::mate_number(of_second) == Some(1) {
        Some(format!("{two} begins with a first mate, '{}': is it the file of the second mates?", shown(of_second.0)))
    } else if !of_first.0.is_empty() && record == other {
        Some(format!("{one} and {two} begin with the same read, '{}': is one a copy of the other?", shown(of_first.0)))
    } else if name != mate && header::are_mates(name, mate) {
        Some(format!(
            "the mates of {one} and {two} have different names, '{}' and '{}'. Their records keep them, and samtools \
             fixmate and other programs will not take them for mates. Names that are the same, or end in /1 and /2, \
             are right: fastq-dump gives such without -I",
            shown(name),
            shown(mate)
        ))
    } else {
        None
    })
}

impl OpenLane {
    /// Opens the files of a lane and looks at their first bytes. Regular files are closed then, and opened again when
    /// their turn comes; one that has changed meanwhile is a fault.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is not FASTQ, FASTA, BAM, SAM or CRAM.
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
            (2, _) => FragmentLayout::Pairs,
            (_, true) => FragmentLayout::Interleaved,
            _ => FragmentLayout::Single,
        };
        let mut notes: Vec<String> = note_on_mates(&mut files)?.into_iter().collect();
        for file in &mut files {
            if layout == FragmentLayout::Single && file.seems_interleaved()? {
                let path = shown_path(&file.path);
                notes.push(format!("{path}: its first two reads have the same name: are they pairs (-p)?"));
            }
            if file.lacks_end_marker && !file.is_bam() {
                notes.push(no_end_marker(&file.path));
            }
        }
        let (programs, directed) = (HashMap::new(), Directed::default());
        let carried = Carried { comments: true, read_groups: true, pairs_alone: false, programs, directed };
        files.iter_mut().for_each(OpenedFile::close);
        let bam = files.iter().find(|file| file.is_bam());
        let seen = bam.map(|bam| Arc::new(SeenMates::of(bam.path.clone())));
        Ok(OpenLane { files, layout, first: None, carried, barcodes: Barcodes::default(), trimmed: None, seen, notes })
    }

    /// Closes the files that can be opened again.
    pub(crate) fn close(&mut self) {
        self.files.iter_mut().for_each(OpenedFile::close);
    }

    /// The lane with its first `fragments` reads or pairs only, if a number is given; what follows is not checked
    /// either.
    #[must_use]
    pub fn first(mut self, fragments: Option<u64>) -> Self {
        self.first = fragments;
        self
    }

    /// The same lane, whose reads have these barcodes.
    ///
    /// # Errors
    /// Read structures that are not for its files.
    pub fn with_barcodes(mut self, barcodes: &Barcodes) -> Result<Self, InputError> {
        let (structures, files) = (barcodes.structures.len(), self.files.len());
        let what = if structures == 0 {
            None
        } else if self.is_bam() {
            Some("its reads are BAM, SAM or CRAM, where a UMI is in the tag RX: leave out --read-structure".to_owned())
        } else if self.layout == FragmentLayout::Interleaved {
            Some("its mates are interleaved: --read-structure is for files of one mate each".to_owned())
        } else if structures != files {
            let wanted = if files == 1 { "its reads are single" } else { "its mates are in two files" };
            Some(format!("{wanted}: give --read-structure {}, not {structures} times", ["once", "twice"][files - 1]))
        } else {
            None
        };
        if let (Some(what), Some(file)) = (what, self.files.first()) {
            return Err(InputError::new(&file.path, what));
        }
        self.barcodes = barcodes.clone();
        Ok(self)
    }

    /// The same lane, whose reads are trimmed.
    ///
    /// # Errors
    /// Reads that cannot be trimmed; a file that cannot be read.
    pub fn with_trimming(mut self, trimming: &Trimming) -> Result<Self, InputError> {
        let what = if self.is_bam() {
            Some("its reads are BAM, SAM or CRAM, and only FASTQ is trimmed: 'samtools fastq' makes that of them")
        } else if self.is_fasta() == Some(true) {
            Some("its reads are FASTA, which has no qualities: only FASTQ is trimmed")
        } else {
            None
        };
        if let (Some(what), Some(file)) = (what, self.files.first()) {
            return Err(InputError::new(&file.path, what));
        }
        let is_paired = self.layout != FragmentLayout::Single;
        self.trimmed = Some(Arc::new(Trimmed::new(trimming, &mut self.files, is_paired)?));
        self.close();
        Ok(self)
    }

    /// What came of trimming its reads, when all were dealt.
    pub fn trimmed(&self) -> Option<Arc<Trimmed>> {
        self.trimmed.clone()
    }

    /// The same lane, of which only this goes on to the records.
    #[must_use]
    pub fn carrying(mut self, carried: Carried) -> Self {
        self.carried = carried;
        self
    }

    /// Whether workers take its chunks by themselves; an emitter deals them otherwise ([`OpenLane::deal`]).
    pub fn is_claimed(&self) -> bool {
        self.layout != FragmentLayout::Interleaved && self.files.iter().all(|file| file.coding().is_some())
    }

    /// Whether several processes can deal parts of it ([`OpenLane::count`]): workers do, and it can be read at any
    /// place.
    pub fn is_counted(&self) -> bool {
        let is_gzip = |file: &OpenedFile| file.coding().is_some_and(|(coding, _)| coding == FileCoding::Gzip);
        self.is_claimed() && !self.files.iter().any(is_gzip)
    }

    /// Whether its reads are pairs; of BAM and interleaved files, in which single reads may stand among them, whether
    /// the first one is of a pair, or may be.
    pub fn is_paired(&self) -> bool {
        self.layout != FragmentLayout::Single
            || self.files.iter().filter_map(|file| file.content).any(Content::is_paired)
    }

    /// Whether its reads are in FASTA, or have no qualities as those in FASTA; unknown if it has none.
    pub fn is_fasta(&self) -> Option<bool> {
        self.files.iter().filter_map(|file| file.content).find_map(|content| match content {
            Content::Text(format) => Some(format == TextFormat::Fasta),
            Content::Bam { first, .. } => first.map(|first| first.lacks_qualities),
        })
    }

    /// Whether its files hold no reads at all.
    pub fn is_empty(&self) -> bool {
        self.is_fasta().is_none()
    }

    /// Whether its reads are in BAM.
    pub fn is_bam(&self) -> bool {
        self.files.iter().any(OpenedFile::is_bam)
    }

    /// The @RG lines of BAM, as they stand there.
    pub fn read_group_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.header.read_groups.iter().map(Vec::as_slice))
    }

    /// The @PG and @CO lines of BAM, as they stand there.
    pub fn history_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.header.history.iter().map(Vec::as_slice))
    }

    /// Refuses files of BAM and SAM in BGZF that lack their end, if they are to be read to it.
    ///
    /// # Errors
    /// Such a file.
    pub fn check_ends(&self) -> Result<(), InputError> {
        match self.files.iter().find(|file| file.lacks_end_marker && file.is_bam()) {
            Some(file) if self.first.is_none() => Err(bam_without_end(&file.path)),
            _ => Ok(()),
        }
    }

    /// What will be known of it when all its reads were read by this process.
    pub fn when_read(&self) -> impl Iterator<Item = WhenRead> {
        let ends = self.files.iter().filter_map(OpenedFile::end_of_pipe).map(WhenRead::EndOfPipe);
        ends.chain(self.seen.iter().map(Arc::clone).map(WhenRead::Mates))
    }

    /// The text of each file, inflated, from the start.
    ///
    /// # Errors
    /// A file that cannot be opened again, or has changed.
    pub fn into_texts(self) -> Result<Vec<Box<dyn Read + Send>>, InputError> {
        self.files.into_iter().map(|file| Ok(file.into_text()?.into_reader())).collect()
    }

    /// Its files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|file| &file.path)
    }

    /// What finds the reads of chunks of both files, which are FASTQ or FASTA.
    fn parser(&self, max_read_bases: usize) -> Parser {
        let format = |file: &OpenedFile| match file.content {
            Some(Content::Text(format)) => format,
            Some(Content::Bam { .. }) | None => TextFormat::Fastq,
        };
        let files = self.files.iter().map(|file| (file.path.clone(), format(file))).collect();
        let Carried { comments, pairs_alone, .. } = self.carried;
        Parser { files, layout: self.layout, max_read_bases, comments, pairs_alone }
    }

    /// What finds the reads of chunks; `seen` is for a process that parses all of them.
    fn any_parser(&self, max_read_bases: usize, seen: Option<&Arc<SeenMates>>) -> Box<dyn Parse> {
        let parser = self.parser_of_content(max_read_bases, seen);
        match self.barcodes == Barcodes::default() {
            true => parser,
            false => Box::new(BarcodeParser { parser, barcodes: self.barcodes.clone() }),
        }
    }

    /// What finds the reads of its files, before they are trimmed.
    pub(crate) fn raw_parser(&self, max_read_bases: usize) -> Box<dyn Parse> {
        self.any_parser(max_read_bases, None)
    }

    /// What finds the reads of what was trimmed.
    fn parser_of_trimmed(&self, max_read_bases: usize) -> Box<dyn Parse> {
        let parser = self.parser(max_read_bases);
        match self.barcodes == Barcodes::default() {
            true => Box::new(parser),
            // Fields of barcodes are in the comments, and nothing is left to be taken.
            false => Box::new(BarcodeParser {
                parser: Box::new(Parser { comments: true, ..parser }),
                barcodes: Barcodes::default(),
            }),
        }
    }

    fn parser_of_content(&self, max_read_bases: usize, seen: Option<&Arc<SeenMates>>) -> Box<dyn Parse> {
        match &self.files[..] {
            [OpenedFile { path, header, is_converted, content: Some(Content::Bam { first, .. }), .. }] => {
                let bam::First { is_paired, lacks_qualities } = first.unwrap_or_default();
                let single_reads = match seen {
                    _ if self.carried.pairs_alone => SingleReads::Refused,
                    Some(seen) => SingleReads::Taken(Arc::clone(seen)),
                    None => SingleReads::AsTheFirst { is_paired },
                };
                Box::new(BamParser {
                    path: path.clone(),
                    single_reads,
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

    /// Makes it lane number `lane` of a run of `workers`: its chunks are cut by `cut`.
    ///
    /// Regular files of single or paired FASTQ reads, and of BAM in BGZF, are dealt by the workers; all else by an
    /// emitter. Either opens them when the first chunk is wanted.
    ///
    /// # Errors
    /// None that is to be expected.
    pub fn deal(self, lane: u32, cut: Cut, max_read_bases: usize, workers: usize) -> Result<Lane, InputError> {
        if let Some(trimmed) = self.trimmed() {
            return self.deal_trimmed(lane, cut, max_read_bases, workers, trimmed);
        }
        let parser = self.any_parser(max_read_bases, self.seen.as_ref());
        let cutting = self.cutting(lane, cut, max_read_bases);
        let deal = match self.is_claimed() {
            true => Deal::Claim(Box::new(LateSurvey::new(self.closed()?, cutting, workers))),
            false => Deal::Emit(Box::new(self.emitter(max_read_bases, cutting))),
        };
        Ok(Lane { deal, parser })
    }

    fn deal_trimmed(
        self,
        lane: u32,
        cut: Cut,
        max_read_bases: usize,
        workers: usize,
        trimmed: Arc<Trimmed>,
    ) -> Result<Lane, InputError> {
        let (raw, parser) = (self.raw_parser(max_read_bases), self.parser_of_trimmed(max_read_bases));
        let of_raw = self.cutting(lane, RAW_CUT, max_read_bases);
        let of_kept = Cutting { cut, end: None, barcodes: Barcodes::default(), ..of_raw.clone() };
        let inputs = match self.layout {
            FragmentLayout::Single => Inputs::One,
            FragmentLayout::Pairs => Inputs::Two,
            FragmentLayout::Interleaved => Inputs::Interleaved,
        };
        let cutter = (of_kept.cutter(false), inputs);
        let deal = match self.is_claimed() {
            true => {
                let survey = Box::new(LateSurvey::new(self.closed()?, of_raw, workers));
                Deal::Claim(Box::new(TrimmedClaim::new(survey, raw, trimmed, cutter)))
            }
            false => {
                let emitter = Box::new(self.emitter(max_read_bases, of_raw));
                Deal::Emit(Box::new(TrimmedEmit::new(emitter, raw, trimmed, cutter)))
            }
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
        count::add_up(&self.counted()?, counts, cut, self.first, &self.barcodes)
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
        let parser = self.any_parser(max_read_bases, None);
        let cutting = self.cutting(lane, cut, max_read_bases);
        let deal = match table {
            Some((table, first)) => {
                let (files, grant) = (self.closed()?, Arc::clone(&shared.grant));
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
        // Of BAM both mates are one record for the cutter, and any two reads may be mates.
        let reads_per_record = if self.is_bam() { 2 } else { 1 };
        let max_record_bases = max_read_bases as u64 * reads_per_record;
        let barcodes = self.barcodes.clone();
        Cutting { lane, paths, cut, is_text: !self.is_bam(), max_record_bases, reads_per_record, end, barcodes }
    }

    /// Its files, opened, of which several processes deal parts.
    fn counted(&self) -> Result<Vec<Regular>, InputError> {
        match self.files.iter().find(|_| !self.is_counted()) {
            Some(file) => Err(InputError::new(&file.path, "it cannot be read at any place: please report this")),
            None => self.closed()?.iter().map(ClosedFile::open).collect(),
        }
    }

    /// Its files, which workers deal.
    fn closed(&self) -> Result<Vec<ClosedFile>, InputError> {
        let no = |file: &OpenedFile| InputError::new(&file.path, "workers cannot deal it: please report this");
        self.files.iter().map(|file| file.closed().ok_or_else(|| no(file))).collect()
    }

    /// Its files, to be read from front to back.
    fn streams(self, max_read_bases: usize) -> Vec<StreamSpec> {
        let interleaved = self.layout == FragmentLayout::Interleaved;
        self.files.into_iter().map(|file| StreamSpec { file, interleaved, max_read_bases }).collect()
    }
}
