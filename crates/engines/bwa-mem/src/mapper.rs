//! One worker: both phases of a piece of a cohort.

use crate::BwaMem;
use crate::bisulfite::{self, MAPQ_OF_CHIMERIC};
use crate::crashes;
use crate::library::{CohortSegment, FirstRead, InsertSizeStatistics, LibraryCohort, LibraryRecord, Scratch};
use crate::library_error::LibraryError;
use std::sync::Arc;
use zerohop_model::alignment::{Alignment, Alignments, Letters, Names};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, shown};
use zerohop_model::mapper::Phases;
use zerohop_model::record::{CigarOp, Locus, PROPER_PAIR, QC_FAIL, SECONDARY, SUPPLEMENTARY, Tag, TagValue};

pub(crate) struct BwaMemMapper<'e> {
    engine: &'e BwaMem,
    scratch: Result<Scratch, LibraryError>,
    /// Records of single reads and of pairs, where a piece has both.
    singles: Alignments,
    pairs: Alignments,
    /// Records of one pair whose mates the library has in the other order.
    exchanged: Alignments,
}

impl<'e> BwaMemMapper<'e> {
    pub(crate) fn new(engine: &'e BwaMem) -> Self {
        let [singles, pairs, exchanged] = [(); 3].map(|()| Alignments::default());
        BwaMemMapper { engine, scratch: Scratch::new(), singles, pairs, exchanged }
    }
}

/// The reads of a piece, with what the first phase found.
pub(crate) struct Partial {
    singles: Option<CohortSegment>,
    pairs: Option<CohortSegment>,
}

/// How many reads a piece has, and where its cohort lies.
pub(crate) struct PieceSummary {
    cohort: Arc<LibraryCohort>,
    first_read: u64,
    singles: u64,
    pairs: u64,
}

/// What the second phases need.
pub(crate) struct OfCohort {
    insert_sizes: InsertSizeStatistics,
    /// Of each piece.
    first: Vec<FirstRead>,
}

impl Phases for BwaMemMapper<'_> {
    type Partial = Partial;
    type Summary = PieceSummary;
    type Statistics = OfCohort;

    fn first(&mut self, chunk: &Chunk) -> Result<(Partial, PieceSummary), Error> {
        crashes::from_read(first_name(chunk), || self.extend(chunk))
    }

    fn combine(&mut self, summaries: Vec<PieceSummary>) -> Result<OfCohort, Error> {
        let Some(first) = summaries.first() else {
            return Ok(OfCohort { insert_sizes: InsertSizeStatistics::default(), first: Vec::new() });
        };
        let insert_sizes = match &self.engine.options.insert_sizes {
            Some(given) => InsertSizeStatistics::given(given),
            None => {
                let found = first.cohort.insert_sizes(&self.engine.index, &self.engine.settings);
                found.map_err(|error| Error::Internal(error.to_string()))?
            }
        };
        // bwa takes the single reads of a cohort first, then its pairs.
        let singles: u64 = summaries.iter().map(|summary| summary.singles).sum();
        let begin = FirstRead { single: first.first_read, pair: (first.first_read + singles) / 2 };
        let next = |at: &mut FirstRead, summary: &PieceSummary| {
            let first = *at;
            *at = FirstRead { single: at.single + summary.singles, pair: at.pair + summary.pairs };
            Some(first)
        };
        Ok(OfCohort { insert_sizes, first: summaries.iter().scan(begin, next).collect() })
    }

    fn second(
        &mut self,
        chunk: &Chunk,
        partial: Partial,
        statistics: &OfCohort,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        crashes::from_read(first_name(chunk), || self.emit(chunk, partial, statistics, out))
    }
}

impl BwaMemMapper<'_> {
    /// Whether the library is given the mates of a chunk in the other order.
    fn exchanges(&self, chunk: &Chunk) -> bool {
        self.engine.options.bisulfite && chunk.is_pbat
    }

    /// The first phase.
    fn extend(&mut self, chunk: &Chunk) -> Result<(Partial, PieceSummary), Error> {
        let (mut singles, mut pairs) = (Vec::<&[u8]>::new(), Vec::<[&[u8]; 2]>::new());
        for fragment in chunk.fragments() {
            match fragment.mate {
                // The library takes the first mate for the one in which C were read as T.
                Some(mate) if self.exchanges(chunk) => pairs.push([mate.seq, fragment.first.seq]),
                Some(mate) => pairs.push([fragment.first.seq, mate.seq]),
                None if self.exchanges(chunk) => {
                    let what = "it has no mate, and of libraries made by PBAT pairs alone are aligned".to_owned();
                    return Err(Error::Record { read: shown(fragment.first.name), mate: 0, what });
                }
                None => singles.push(fragment.first.seq),
            }
        }
        let fault = |error| fault(chunk, &error);
        let (index, settings) = (&self.engine.index, &self.engine.settings);
        let scratch = self.scratch.as_mut().map_err(|error| fault(error.clone()))?;
        let cohort = self.engine.cohorts.of(&chunk.ticket, self.engine.options.bisulfite).map_err(fault)?;
        let summary = PieceSummary {
            cohort: Arc::clone(&cohort),
            first_read: chunk.ticket.first_read,
            singles: singles.len() as u64,
            pairs: pairs.len() as u64,
        };
        let mut extended = |segment: Result<CohortSegment, LibraryError>| {
            let mut segment = segment?;
            segment.extend(index, settings, scratch)?;
            Ok::<_, LibraryError>(segment)
        };
        let singles = (!singles.is_empty()).then(|| extended(CohortSegment::of_singles(&cohort, &singles)));
        let pairs = (!pairs.is_empty()).then(|| extended(CohortSegment::of_pairs(&cohort, &pairs)));
        let partial =
            Partial { singles: singles.transpose().map_err(fault)?, pairs: pairs.transpose().map_err(fault)? };
        Ok((partial, summary))
    }

    /// The second phase.
    fn emit(
        &mut self,
        chunk: &Chunk,
        partial: Partial,
        statistics: &OfCohort,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        let fault = |error| fault(chunk, &error);
        let exchanged = self.exchanges(chunk);
        let scratch = self.scratch.as_mut().map_err(|error| fault(error.clone()))?;
        let with = (&self.engine.index, &self.engine.settings);
        let first = statistics.first.get(chunk.ticket.piece as usize).copied().unwrap_or_default();
        let (sizes, comments) = (&statistics.insert_sizes, &self.engine.comments[..]);
        let of_pair = &mut self.exchanged;
        let mut emit = |segment: CohortSegment, out: &mut Alignments| {
            let (mut current, mut is_chimeric) = (0, false);
            let end = |is_chimeric: &mut bool, of_pair: &mut Alignments, out: &mut Alignments| match exchanged {
                false => end_fragment(is_chimeric, out),
                true => {
                    end_fragment(is_chimeric, of_pair);
                    bisulfite::exchange(of_pair, out);
                }
            };
            segment.emit(with, scratch, sizes, first, &mut |record| {
                // Every read has a record.
                if record.number > current {
                    end(&mut is_chimeric, of_pair, out);
                    current = record.number;
                }
                is_chimeric |= push(&record, comments, if exchanged { &mut *of_pair } else { &mut *out });
            })?;
            end(&mut is_chimeric, of_pair, out);
            Ok::<_, LibraryError>(())
        };
        match (partial.singles, partial.pairs) {
            (Some(segment), None) | (None, Some(segment)) => emit(segment, out).map_err(fault)?,
            (None, None) => {}
            (Some(singles), Some(pairs)) => {
                self.singles.clear();
                self.pairs.clear();
                emit(singles, &mut self.singles).map_err(fault)?;
                emit(pairs, &mut self.pairs).map_err(fault)?;
                let (mut single, mut pair) = (0.., 0..);
                for fragment in chunk.fragments() {
                    let (from, numbers) = match fragment.mate {
                        None => (&self.singles, &mut single),
                        Some(_) => (&self.pairs, &mut pair),
                    };
                    if let Some(number) = numbers.next() {
                        out.push_fragment(from, number);
                    }
                }
            }
        }
        out.show_letters(Letters::N);
        out.show_names(Names::WithoutNumber);
        if self.engine.options.bisulfite {
            out.show_methylation();
        }
        Ok(())
    }
}

/// The name of the first read.
fn first_name(chunk: &Chunk) -> &[u8] {
    chunk.fragments().next().map(|fragment| fragment.first.name).unwrap_or_default()
}

/// An error of the library, with the read that a user can look for.
fn fault(chunk: &Chunk, error: &LibraryError) -> Error {
    Error::Engine { read: shown(first_name(chunk)), fragment: chunk.ticket.first_fragment + 1, what: error.to_string() }
}

fn text<'t>(key: [u8; 2], value: Option<&'t [u8]>) -> Option<Tag<'t>> {
    value.map(|value| Tag { key, value: TagValue::Text(value) })
}

/// Ends a fragment. If one of its reads is chimeric, none of its records is taken for a good one, as by bwameth.py.
fn end_fragment(is_chimeric: &mut bool, out: &mut Alignments) {
    if std::mem::take(is_chimeric) {
        out.open_fragment().for_each(|alignment| alignment.flags = alignment.flags & !PROPER_PAIR | QC_FAIL);
    }
    out.end_fragment();
}

/// Adds a record of the library. Tags are in the order of bwa 0.7.17; what later versions add is left out. Says whether
/// the record is of a bisulfite read and chimeric.
fn push(record: &LibraryRecord<'_>, comments: &[Vec<u8>], out: &mut Alignments) -> bool {
    let fields = record.fields();
    let locus = |contig: i32, position: i32| {
        let (contig, position) = (u32::try_from(contig).ok()?, u32::try_from(position).ok()?);
        Some(Locus { contig, position })
    };
    let has_no_bases = fields.query_end <= fields.query_start;
    // With `-a`, the binding marks secondary alignments of pairs as supplementary too, and gives them XS; bwa does not.
    let is_secondary = has_no_bases && fields.flag & SECONDARY != 0;
    let [xr, xg, xm] = record.methylation();
    // XG is that of bisulfite reads that are mapped.
    let is_chimeric = xg.is_some() && bisulfite::is_chimeric(record.cigar().iter().map(|op| CigarOp(*op)));
    let alignment = Alignment {
        mate: record.mate,
        flags: if is_secondary { fields.flag & !SUPPLEMENTARY } else { fields.flag },
        locus: locus(fields.tid, fields.pos),
        mapq: if is_chimeric { fields.mapq.min(MAPQ_OF_CHIMERIC) } else { fields.mapq },
        mate_locus: locus(fields.next_tid, fields.next_pos),
        template_length: fields.tlen,
        has_no_bases,
    };
    let [md, mc, sa, xa] = record.texts();
    let integer = |key, has: u8, value: i32| (has != 0).then(|| Tag { key, value: TagValue::Int(i64::from(value)) });
    // With `-V`: of the contig where it lies, behind the comment of the read.
    let comment = alignment.locus.and_then(|locus| comments.get(locus.contig as usize));
    let comment = comment.map(Vec::as_slice).filter(|comment| !comment.is_empty());
    let tags = [
        integer(*b"NM", fields.has_nm, fields.nm),
        text(*b"MD", md),
        text(*b"MC", mc),
        integer(*b"AS", fields.has_as, fields.score),
        integer(*b"XS", fields.has_xs, fields.sub).filter(|_| !is_secondary),
        Some(Tag { key: *b"RG", value: TagValue::ReadGroup }),
        text(*b"SA", sa),
        (fields.has_pa != 0).then_some(Tag { key: *b"pa", value: TagValue::Float(fields.pa) }),
        text(*b"XA", xa),
        comment.map(|_| Tag { key: *b"CO", value: TagValue::Comment }),
        text(*b"XR", comment.or(xr)),
        text(*b"XG", xg),
        text(*b"XM", xm),
    ];
    out.push(alignment, record.cigar().iter().map(|op| CigarOp(*op)), tags.into_iter().flatten());
    is_chimeric
}
