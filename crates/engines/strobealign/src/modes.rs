//! What is made of the chains of a fragment: alignments, lines of PAF (`-x`), or weights of contigs (`--aemb`).

use crate::Strobealign;
use crate::chains::{Chain, Chains};
use crate::extension::Extender;
use crate::pairs::{self, Pair};
use crate::query::ReadQuery;
use crate::records::{Recorder, Style};
use crate::single;
use fastrand::Rng;
use std::io::Write;
use strobealign::aligner::Aligner;
use strobealign::insertsize::InsertSizeDistribution;
use strobealign::io::paf::PafRecord;
use strobealign::io::record::SequenceRecord;
use strobealign::modes::abundance::{abundances_paired_end_read, abundances_single_end_read};
use strobealign::modes::map::{map_paired_end_read, map_single_end_read};
use zerohop_model::alignment::{Alignment, Alignments, Weight};
use zerohop_model::chunk::Fragment;
use zerohop_model::error::{Error, shown};
use zerohop_model::index::Product;
use zerohop_model::record::UNMAPPED;

/// What the reads of a fragment share with those before them in the chunk.
pub(crate) struct ChunkState {
    rng: Rng,
    insert_sizes: InsertSizeDistribution,
}

impl ChunkState {
    /// The program starts each chunk with the same random numbers and with nothing known of insert sizes.
    pub(crate) fn of_chunk() -> Self {
        ChunkState { rng: Rng::with_seed(0), insert_sizes: InsertSizeDistribution::new() }
    }

    pub(crate) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }
}

/// A fragment with the chains of its one or two reads.
pub(crate) struct Chained<'c> {
    pub(crate) fragment: &'c Fragment<'c>,
    pub(crate) chains: [&'c mut Chains; 2],
}

/// What one worker makes of chains.
pub(crate) enum WorkerMode<'e> {
    Align(Box<Align<'e>>),
    Paf,
    /// A number for each contig, 0 between two fragments.
    Abundances(Vec<f64>),
}

impl<'e> WorkerMode<'e> {
    pub(crate) fn new(engine: &'e Strobealign) -> Self {
        match engine.options.product {
            Product::Records => WorkerMode::Align(Box::new(Align::new(engine))),
            Product::Paf => WorkerMode::Paf,
            Product::Abundances => WorkerMode::Abundances(vec![0.0; engine.reference.contigs.len()]),
        }
    }

    /// Adds what is made of a fragment.
    ///
    /// # Errors
    /// An impossible record, such as a line of PAF that names an unknown contig.
    pub(crate) fn add(
        &mut self,
        engine: &Strobealign,
        chained: Chained<'_>,
        state: &mut ChunkState,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        match self {
            WorkerMode::Align(align) => {
                align.add(engine, chained, state, out);
                Ok(())
            }
            WorkerMode::Paf => add_paf(engine, chained, state, out),
            WorkerMode::Abundances(sums) => {
                add_weights(engine, chained, state, sums, out);
                Ok(())
            }
        }
    }
}

/// What base-level alignment takes.
pub(crate) struct Align<'e> {
    queries: [ReadQuery; 2],
    extender: Extender<'e>,
    recorder: Recorder,
}

impl<'e> Align<'e> {
    fn new(engine: &'e Strobealign) -> Self {
        let (options, k) = (&engine.options, engine.tables.k());
        let aligner = match options.use_ssw {
            true => Aligner::new_ssw_only(options.scores),
            false => Aligner::new(options.scores, k, options.bandwidth),
        };
        let style = Style { eqx: options.eqx, details: options.details, only_mapped: options.only_mapped };
        Align {
            queries: Default::default(),
            extender: Extender::new(&engine.reference, aligner, options.use_ssw, k),
            recorder: Recorder::new(style),
        }
    }

    fn add(&mut self, engine: &Strobealign, chained: Chained<'_>, state: &mut ChunkState, out: &mut Alignments) {
        let (Align { queries, extender, recorder }, Chained { fragment, chains }) = (self, chained);
        let ChunkState { rng, insert_sizes } = state;
        queries[0].set(fragment.first.seq);
        match fragment.mate {
            None => single::align(&mut queries[0], chains[0], extender, &engine.mapping, rng, recorder, out),
            Some(mate) => {
                queries[1].set(mate.seq);
                pairs::align(Pair { queries, chains }, extender, &engine.mapping, insert_sizes, rng, recorder, out);
            }
        }
        out.end_fragment();
    }
}

/// A read as strobealign takes it where it needs no more than its length.
fn record_of(seq: &[u8]) -> SequenceRecord {
    SequenceRecord::new(String::new(), None, seq.to_vec(), None)
}

/// Chains as strobealign has them.
fn as_theirs(chains: &Chains) -> Vec<strobealign::chain::Chain> {
    let theirs = |chain: &Chain| strobealign::chain::Chain {
        id: chain.id,
        ref_contig_start: chain.contig_start,
        ref_start: chain.reference.start,
        ref_end: chain.reference.end,
        query_start: chain.query.start,
        query_end: chain.query.end,
        matching_bases: chain.matching_bases,
        score: chain.score,
        is_revcomp: chain.is_reverse,
        anchors: chains.anchors(chain).to_vec(),
    };
    chains.chains.iter().map(theirs).collect()
}

/// Lines of PAF; a read without a chain has no line.
fn add_paf(
    engine: &Strobealign,
    chained: Chained<'_>,
    state: &mut ChunkState,
    out: &mut Alignments,
) -> Result<(), Error> {
    note_mapped(&chained, out);
    let Chained { fragment, chains } = chained;
    let (first, outline) = (record_of(fragment.first.seq), &engine.reference.outline);
    match fragment.mate {
        Some(mate) => {
            let (second, mut chains) = (record_of(mate.seq), chains.each_ref().map(|chains| as_theirs(chains)));
            let lines = map_paired_end_read(&first, &second, outline, &mut state.insert_sizes, &mut chains);
            lines.into_iter().try_for_each(|line| {
                let name = if is_of_second(&line) { mate.name } else { fragment.first.name };
                push_paf(engine, name, line, out)
            })
        }
        None => {
            let lines = map_single_end_read(&first, outline, &as_theirs(chains[0]));
            lines.into_iter().try_for_each(|line| push_paf(engine, fragment.first.name, line, out))
        }
    }
}

fn is_of_second(line: &PafRecord) -> bool {
    matches!(line.end, strobealign::io::record::End::Two)
}

/// Writes a line as strobealign does, with names in place of the numbers that it knows.
fn push_paf(engine: &Strobealign, name: &[u8], mut line: PafRecord, out: &mut Alignments) -> Result<(), Error> {
    let unknown = || Error::Record {
        read: shown(name),
        mate: usize::from(is_of_second(&line)),
        what: "strobealign wrote a line of PAF for it that names an unknown contig".to_owned(),
    };
    let contig = line.target_name.parse::<usize>().ok().and_then(|number| engine.reference.contigs.get(number));
    let contig = contig.ok_or_else(unknown)?;
    line.target_name.clone_from(&contig.name);
    let text = out.text_mut();
    text.extend_from_slice(name);
    writeln!(text, "{line}").map_err(|error| Error::Internal(error.to_string()))
}

/// Adds what the reads of a fragment add to the contigs.
fn add_weights(
    engine: &Strobealign,
    chained: Chained<'_>,
    state: &mut ChunkState,
    sums: &mut [f64],
    out: &mut Alignments,
) {
    note_mapped(&chained, out);
    let Chained { fragment, chains } = chained;
    let (first, outline) = (record_of(fragment.first.seq), &engine.reference.outline);
    let mut chains = chains.each_ref().map(|chains| as_theirs(chains));
    match fragment.mate.map(|mate| record_of(mate.seq)) {
        Some(second) => {
            let insert_sizes = &mut state.insert_sizes;
            abundances_paired_end_read(&first, &second, outline, sums, insert_sizes, &mut chains);
        }
        None => {
            chains[1].clear();
            abundances_single_end_read(&first, outline, sums, &chains[0]);
        }
    }
    // Only where there are chains can something have been added.
    for chain in chains.iter().flatten() {
        let contig = outline.unflatten(chain.ref_start).0;
        let bases = std::mem::take(&mut sums[contig]);
        if bases != 0.0 {
            Weight { contig: contig as u32, bases }.push_to(out.text_mut());
        }
    }
}

/// Says which reads of a fragment have chains, for the summary.
fn note_mapped(chained: &Chained<'_>, out: &mut Alignments) {
    for (mate, (_, chains)) in chained.fragment.reads().zip(&chained.chains).enumerate() {
        let flags = if chains.chains.is_empty() { UNMAPPED } else { 0 };
        out.push(Alignment { mate: mate as u8, flags, ..Alignment::default() }, [], []);
    }
    out.end_fragment();
}
