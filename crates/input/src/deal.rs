//! How the reads of a lane are dealt, by this process alone or by several.

use crate::bam::{self, BamParser, SeenMates, SingleReads};
use crate::barcodes::{BarcodeParser, Barcodes};
use crate::bisulfite::{BisulfiteLibrary, PbatParser};
use crate::content::Content;
use crate::count;
use crate::cutter::Cutting;
use crate::granted::{GrantedClaim, GrantedEmit, Shared};
use crate::kept_count;
use crate::lane::OpenLane;
use crate::open::OpenedFile;
use crate::parse::{FragmentLayout, PairsAlone, Parser, TextFormat};
use crate::regular::Regular;
use crate::seen::ClosedFile;
use crate::stream::{AllChunks, CutEmit, StreamEmitter, StreamSpec};
use crate::table::Table;
use crate::trimmed::{Inputs, RAW_CUT, Reducer, TrimmedClaim, TrimmedEmit};
use crate::turn::LateSurvey;
use std::sync::Arc;
use zerohop_model::chunk::Chunk;
use zerohop_model::directed::Directed;
use zerohop_model::engine::Cut;
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Deal, Lane, Parse};
use zerohop_trim::Outcome;

impl OpenLane {
    /// What finds the reads of chunks of both files, which are FASTQ or FASTA.
    fn parser(&self, max_read_bases: usize) -> Parser {
        let format = |file: &OpenedFile| match file.content {
            Some(Content::Text(format)) => format,
            Some(Content::Bam { .. }) | None => TextFormat::Fastq,
        };
        let files = self.files.iter().map(|file| (file.path.clone(), format(file))).collect();
        let (comments, pairs_alone) = (self.carried.comments, self.pairs_alone());
        Parser { files, layout: self.layout, max_read_bases, comments, marked: false, pairs_alone }
    }

    /// Of BAM, which fields have one value per base, besides those that are known.
    fn cut_fields(&self) -> Option<Directed> {
        self.is_bam().then(|| self.carried.directed.clone())
    }

    /// Why no single reads may be among interleaved ones, or those of BAM, if so.
    fn pairs_alone(&self) -> Option<PairsAlone> {
        let (has_two, by_mate) =
            (self.barcodes.structures.len() > 1, self.saved.as_ref().is_some_and(|saved| saved.is_by_mate()));
        let of_saved = || by_mate.then_some(PairsAlone::SavedByMate);
        self.carried.pairs_alone.or(has_two.then_some(PairsAlone::ReadStructures)).or_else(of_saved)
    }

    /// What finds the reads of chunks, with their barcodes; `seen` is for a process that parses all of them.
    pub(crate) fn any_parser(&self, max_read_bases: usize, seen: Option<&Arc<SeenMates>>) -> Box<dyn Parse> {
        let parser = self.parser_of_content(max_read_bases, seen);
        self.parser_of_library(match self.barcodes == Barcodes::default() {
            true => parser,
            false => Box::new(BarcodeParser { parser, barcodes: self.barcodes.clone(), directed: self.cut_fields() }),
        })
    }

    fn parser_of_library(&self, parser: Box<dyn Parse>) -> Box<dyn Parse> {
        match self.library {
            BisulfiteLibrary::Directional => parser,
            BisulfiteLibrary::Pbat => Box::new(PbatParser(parser)),
        }
    }

    /// What finds the reads of what is dealt again.
    fn parser_of_kept(&self, max_read_bases: usize) -> Box<dyn Parse> {
        let has_fields = self.is_bam() || self.barcodes != Barcodes::default();
        let (marked, parser) = (has_fields, self.parser(max_read_bases));
        let layout = if self.is_bam() { FragmentLayout::Interleaved } else { self.layout };
        let comments = parser.comments || marked;
        self.parser_of_library(Box::new(Parser { layout, marked, comments, pairs_alone: None, ..parser }))
    }

    fn parser_of_content(&self, max_read_bases: usize, seen: Option<&Arc<SeenMates>>) -> Box<dyn Parse> {
        match &self.files[..] {
            [OpenedFile { path, header, is_converted, content: Some(Content::Bam { first, .. }), .. }] => {
                let bam::First { is_paired, lacks_qualities } = first.unwrap_or_default();
                let single_reads = match (self.pairs_alone(), seen) {
                    (Some(why), _) => SingleReads::Refused(why),
                    (None, Some(seen)) => SingleReads::Taken(Arc::clone(seen)),
                    (None, None) => SingleReads::AsTheFirst { is_paired },
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
        if self.is_dealt_again() {
            return self.deal_again(lane, cut, max_read_bases, workers);
        }
        let parser = self.any_parser(max_read_bases, self.seen.as_ref());
        let cutting = self.cutting(lane, cut, max_read_bases);
        let deal = match self.is_claimed() {
            true => Deal::Claim(Box::new(LateSurvey::new(self.closed()?, cutting, workers))),
            false => Deal::Emit(Box::new(AllChunks(self.emitter(max_read_bases, cutting)))),
        };
        Ok(Lane { deal, parser })
    }

    fn deal_again(self, lane: u32, cut: Cut, max_read_bases: usize, workers: usize) -> Result<Lane, InputError> {
        let parser = self.parser_of_kept(max_read_bases);
        let reducer = self.reducer(max_read_bases, self.seen.as_ref());
        let of_raw = self.raw_cutting(lane, max_read_bases);
        let cutter = self.kept_cutting(lane, cut, max_read_bases).cutter(false);
        let deal = match self.is_claimed() {
            true => {
                let survey = Box::new(LateSurvey::new(self.closed()?, of_raw, workers));
                Deal::Claim(Box::new(TrimmedClaim::new(survey, 0, Arc::new(reducer), cutter, workers)))
            }
            false => {
                let all = TrimmedEmit::new(self.emitter(max_read_bases, of_raw), reducer, cutter);
                Deal::Emit(Box::new(AllChunks(all)))
            }
        };
        Ok(Lane { deal, parser })
    }

    /// What says which reads stay.
    fn reducer(&self, max_read_bases: usize, seen: Option<&Arc<SeenMates>>) -> Reducer {
        let inputs = match self.layout {
            _ if self.is_bam() => Inputs::Interleaved,
            FragmentLayout::Single => Inputs::One,
            FragmentLayout::Pairs => Inputs::Two,
            FragmentLayout::Interleaved => Inputs::Interleaved,
        };
        Reducer {
            parser: self.any_parser(max_read_bases, seen),
            trimmed: self.trimmed(),
            inputs,
            directed: self.cut_fields(),
            counts: true,
            saved: self.saved.clone(),
        }
    }

    /// Finds the reads of a chunk that is made of the beginning of its files, those before a fault.
    pub(crate) fn parse_first(&self, chunk: &mut Chunk) {
        let seen = self.files.first().map(|file| Arc::new(SeenMates::of(file.path.clone())));
        let _ = self.any_parser(usize::MAX, seen.as_ref()).parse(chunk);
    }

    /// Gives `keep` the bases of the first reads that stay of a chunk of its text. What is wrong is told when the reads
    /// are dealt; those before count.
    pub(crate) fn look_at_kept(&self, chunk: &mut Chunk, mut keep: impl FnMut(usize)) {
        self.parse_first(chunk);
        match &self.trimmed {
            Some(trimmed) => {
                trimmed.trim_uncounted(chunk, |_, outcome| match outcome {
                    Outcome::Kept(spans) => spans.iter().take(1).for_each(|span| keep(span.len())),
                    Outcome::Dropped(_) => {}
                });
            }
            None => chunk.fragments().for_each(|fragment| keep(fragment.first.seq.len())),
        }
    }

    /// How its reads are cut into raw chunks, before it is known what stays of them.
    fn raw_cutting(&self, lane: u32, max_read_bases: usize) -> Cutting {
        Cutting { barcodes: Barcodes::default(), ..self.cutting(lane, RAW_CUT, max_read_bases) }
    }

    /// How what stays of them is cut.
    fn kept_cutting(&self, lane: u32, cut: Cut, max_read_bases: usize) -> Cutting {
        Cutting { is_text: true, end: None, barcodes: Barcodes::default(), ..self.cutting(lane, cut, max_read_bases) }
    }

    /// Counts this rank's share of it, with so many threads, for [`OpenLane::table`]. Only of lanes of which
    /// [`OpenLane::is_counted`] holds.
    ///
    /// # Errors
    /// When a file has become unreadable.
    pub fn count(&self, rank: usize, ranks: usize, threads: usize) -> Result<Vec<u8>, InputError> {
        Ok(count::count(&self.counted()?, rank, ranks, threads))
    }

    /// Finds its chunks, from what all ranks have counted; of a lane that is dealt again the raw ones, for
    /// [`OpenLane::count_kept`].
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn table(&self, counts: &[Vec<u8>], cut: Cut) -> Result<Table, InputError> {
        match self.is_dealt_again() {
            true => count::add_up(&self.counted()?, counts, RAW_CUT, self.first, &Barcodes::default()),
            false => count::add_up(&self.counted()?, counts, cut, self.first, &self.barcodes),
        }
    }

    /// Counts what stays of this rank's share of the raw chunks, with so many threads, for [`Table::with_kept`]. What
    /// is trimmed is counted now ([`Trimmed::to_bytes`](crate::Trimmed::to_bytes)), and not when it is dealt.
    ///
    /// # Errors
    /// A file that cannot be read; not what is wrong with a read, which is found when that is dealt.
    pub fn count_kept(&self, table: &Arc<Table>, rank: usize, ranks: usize, threads: usize) -> Result<Vec<u8>, Error> {
        let files: Vec<_> = self.counted()?.into_iter().map(Arc::new).collect();
        let cutting = self.raw_cutting(0, usize::MAX);
        kept_count::count((&files, &cutting), table, &self.reducer(usize::MAX, None), (rank, ranks), threads)
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
        let again = self.is_dealt_again().then(|| {
            // What was counted and saved before is not again.
            let mut reducer = self.reducer(max_read_bases, None);
            if table.is_some() {
                (reducer.counts, reducer.saved) = (false, None);
            }
            (reducer, self.raw_cutting(lane, max_read_bases))
        });
        let (parser, cutting): (Box<dyn Parse>, _) = match &again {
            Some(_) => (self.parser_of_kept(max_read_bases), self.kept_cutting(lane, cut, max_read_bases)),
            None => (self.any_parser(max_read_bases, None), self.cutting(lane, cut, max_read_bases)),
        };
        let deal = match table {
            Some(table) => {
                let (files, grant) = (self.closed()?, Arc::clone(&shared.grant));
                let again = again.map(|(reducer, of_raw)| (Arc::new(reducer), of_raw));
                Deal::Claim(Box::new(GrantedClaim::new(files, cutting, table, workers, again, grant)))
            }
            None => {
                let all: Box<dyn CutEmit> = match again {
                    Some((reducer, of_raw)) => {
                        let raw = self.emitter(max_read_bases, of_raw);
                        Box::new(TrimmedEmit::new(raw, reducer, cutting.cutter(false)))
                    }
                    None => Box::new(self.emitter(max_read_bases, cutting)),
                };
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
        let max_record_bases = (max_read_bases as u64).saturating_mul(reads_per_record);
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
