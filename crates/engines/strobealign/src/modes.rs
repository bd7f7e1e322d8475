//! What is made of the chains of a fragment: alignments, lines of PAF (`-x`), or weights of contigs (`--aemb`).

use crate::Strobealign;
use crate::records::AlignmentMaker;
use fastrand::Rng;
use std::io::Write;
use strobealign::aligner::Aligner;
use strobealign::chain::Chain;
use strobealign::details::ChainDetails;
use strobealign::hit::HitsDetails;
use strobealign::insertsize::InsertSizeDistribution;
use strobealign::io::paf::PafRecord;
use strobealign::io::record::SequenceRecord;
use strobealign::io::sam::SamRecord;
use strobealign::modes::abundance::{abundances_paired_end_read, abundances_single_end_read};
use strobealign::modes::align::{SamOutput, align_paired_end_read, align_single_end_read};
use strobealign::modes::map::{map_paired_end_read, map_single_end_read};
use zerohop_model::alignment::{Alignment, Alignments, Weight};
use zerohop_model::chunk::Fragment;
use zerohop_model::error::{Error, shown};
use zerohop_model::index::Product;
use zerohop_model::record::UNMAPPED;

/// Chains of a read, and how they were found.
pub(crate) type Chains = (Vec<Chain>, ChainDetails, HitsDetails);

/// What the reads of a fragment share with those before them in the chunk.
pub(crate) struct State {
    rng: Rng,
    insert_sizes: InsertSizeDistribution,
}

impl State {
    /// The program starts each chunk with the same random numbers and with nothing known of insert sizes.
    pub(crate) fn of_chunk() -> Self {
        State { rng: Rng::with_seed(0), insert_sizes: InsertSizeDistribution::new() }
    }

    pub(crate) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }
}

/// A fragment with what was found of it: its reads in strobealign's form, and the chains of the first one and, if it is
/// a pair, of the second one.
pub(crate) struct Chained<'c> {
    pub(crate) fragment: &'c Fragment<'c>,
    pub(crate) reads: &'c [SequenceRecord; 2],
    pub(crate) first: Chains,
    pub(crate) mate: Option<Chains>,
}

/// What one worker makes of chains.
pub(crate) enum Mode {
    Align(Box<Align>),
    Paf,
    /// A number for each contig, 0 between two fragments.
    Abundances(Vec<f64>),
}

impl Mode {
    pub(crate) fn new(engine: &Strobealign) -> Self {
        match engine.options.product {
            Product::Records => Mode::Align(Box::new(Align::new(engine))),
            Product::Paf => Mode::Paf,
            Product::Abundances => Mode::Abundances(vec![0.0; engine.reference.contigs.len()]),
        }
    }

    /// Adds what is made of a fragment.
    ///
    /// # Errors
    /// A record that makes no sense.
    pub(crate) fn add(
        &mut self,
        engine: &Strobealign,
        chained: Chained<'_>,
        state: &mut State,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        match self {
            Mode::Align(align) => align.add(engine, chained, state, out),
            Mode::Paf => add_paf(engine, chained, state, out),
            Mode::Abundances(sums) => {
                add_weights(engine, chained, state, sums, out);
                Ok(())
            }
        }
    }
}

/// What base-level alignment takes.
pub(crate) struct Align {
    aligner: Aligner,
    sam_output: SamOutput,
    maker: AlignmentMaker,
}

impl Align {
    fn new(engine: &Strobealign) -> Self {
        let options = &engine.options;
        let aligner = match options.use_ssw {
            true => Aligner::new_ssw_only(options.scores),
            false => Aligner::new(options.scores, engine.index.index().k(), options.bandwidth),
        };
        Align { aligner, sam_output: options.sam_output(), maker: AlignmentMaker::default() }
    }

    fn add(
        &mut self,
        engine: &Strobealign,
        chained: Chained<'_>,
        state: &mut State,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        let fragment = chained.fragment;
        let records = self.records(engine, chained, state);
        // Of a pair the first two records are those of the mates.
        let reads = fragment.reads().count();
        if engine.options.only_mapped && !records.iter().take(reads).any(SamRecord::is_mapped) {
            out.leave_out(reads as u64);
            out.end_fragment();
            return Ok(());
        }
        self.maker.add(fragment, &records, out)
    }

    fn records(&self, engine: &Strobealign, chained: Chained<'_>, state: &mut State) -> Vec<SamRecord> {
        let Chained { reads: [first, second], first: (mut chains, chain_details, hits_details), mate, .. } = chained;
        let State { rng, insert_sizes } = state;
        let Some((mate_chains, mate_chain_details, mate_hits_details)) = mate else {
            return align_single_end_read(
                first,
                engine.index.index(),
                &engine.reference.sequence,
                &engine.mapping,
                &self.sam_output,
                hits_details,
                chain_details,
                &mut chains,
                &self.aligner,
                rng,
            )
            .0;
        };
        align_paired_end_read(
            first,
            second,
            &engine.reference.sequence,
            &engine.mapping,
            &self.sam_output,
            &engine.index.index().parameters,
            insert_sizes,
            [hits_details, mate_hits_details],
            [chain_details, mate_chain_details],
            &mut [chains, mate_chains],
            &self.aligner,
            rng,
        )
        .0
    }
}

/// Lines of PAF: of a read that no chain is of there is none.
fn add_paf(engine: &Strobealign, chained: Chained<'_>, state: &mut State, out: &mut Alignments) -> Result<(), Error> {
    note_mapped(&chained, out);
    let Chained { fragment, reads: [first, second], first: (chains, ..), mate } = chained;
    let sequence = &engine.reference.sequence;
    match (mate, fragment.mate) {
        (Some((mate_chains, ..)), Some(mate)) => {
            let chains = &mut [chains, mate_chains];
            let lines = map_paired_end_read(first, second, sequence, &mut state.insert_sizes, chains);
            lines.into_iter().try_for_each(|line| {
                let name = if is_of_second(&line) { mate.name } else { fragment.first.name };
                push_paf(engine, name, line, out)
            })
        }
        _ => {
            let lines = map_single_end_read(first, sequence, &chains);
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
        what: "strobealign made a line of PAF of it that makes no sense: its contig is unknown".to_owned(),
    };
    let contig = line.target_name.parse::<usize>().ok().and_then(|number| engine.reference.contigs.get(number));
    let contig = contig.ok_or_else(unknown)?;
    line.target_name.clone_from(&contig.name);
    let text = out.text_mut();
    text.extend_from_slice(name);
    writeln!(text, "{line}").map_err(|error| Error::Internal(error.to_string()))
}

/// Adds what the reads of a fragment add to the contigs.
fn add_weights(engine: &Strobealign, chained: Chained<'_>, state: &mut State, sums: &mut [f64], out: &mut Alignments) {
    note_mapped(&chained, out);
    let Chained { reads: [first, second], first: (chains, ..), mate, .. } = chained;
    let sequence = &engine.reference.sequence;
    let (is_pair, mut chains) = (mate.is_some(), [chains, mate.map_or_else(Vec::new, |(chains, ..)| chains)]);
    match is_pair {
        true => abundances_paired_end_read(first, second, sequence, sums, &mut state.insert_sizes, &mut chains),
        false => abundances_single_end_read(first, sequence, sums, &chains[0]),
    }
    // Only where there are chains can something have been added.
    for chain in chains.iter().flatten() {
        let contig = sequence.unflatten(chain.ref_start).0;
        let bases = std::mem::take(&mut sums[contig]);
        if bases != 0.0 {
            Weight { contig: contig as u32, bases }.push_to(out.text_mut());
        }
    }
}

/// Says which reads of a fragment have chains, for the summary.
fn note_mapped(chained: &Chained<'_>, out: &mut Alignments) {
    for (mate, (chains, ..)) in std::iter::once(&chained.first).chain(&chained.mate).enumerate() {
        let flags = if chains.is_empty() { UNMAPPED } else { 0 };
        out.push(Alignment { mate: mate as u8, flags, ..Alignment::default() }, [], []);
    }
    out.end_fragment();
}
