//! The order in which a pair, or a read alone, is trimmed and judged (PairEndProcessor::processPairEnd and
//! SingleEndProcessor::processSingleEnd of fastp).

use crate::adapter::{self, Adapter, Place, Searched};
use crate::counts::{Amount, Counts, INSERT_UNKNOWN};
use crate::filter::{self, Reason};
use crate::first_reads::FirstReads;
use crate::options::{AdapterSequence, Options, PolyG};
use crate::outcome::{Failed, Outcome};
use crate::overlap::{self, Overlap};
use crate::read::{Read, Span};
use crate::{ends, poly};

/// Trims reads as [`Options`] and the first reads say.
#[derive(Debug)]
pub struct Trimmer {
    options: Options,
    is_paired: bool,
    poly_g: Option<usize>,
    /// The adapter of each mate.
    adapters: [Option<Adapter>; 2],
    /// Those of a FASTA file, and how many letters must be in common with one.
    listed: Vec<Adapter>,
    least_of_listed: usize,
}

impl Trimmer {
    /// A trimmer of pairs or of single reads. `listed` are the adapters of a FASTA file ([`crate::fasta_adapters`]).
    pub fn new(options: Options, is_paired: bool, first_reads: &FirstReads, listed: &[String]) -> Self {
        let is_poly_g = match options.poly_g.when {
            PolyG::Always => true,
            PolyG::Never => false,
            PolyG::ByInstrument => first_reads.two_colours,
        };
        let adapter = |mate: usize| {
            let sequence = match options.adapters.as_ref()?.sequences.get(mate)? {
                AdapterSequence::Given(sequence) => Some(sequence),
                AdapterSequence::Auto if options.detects_adapter(mate, is_paired) => {
                    first_reads.adapters[mate].as_ref()
                }
                AdapterSequence::Auto | AdapterSequence::None => None,
            };
            sequence.map(|sequence| Adapter::new(sequence.as_bytes()))
        };
        // Where there are many, chance hits are more likely.
        let more = match listed.len() {
            ..=16 => 0,
            17..=256 => 1,
            _ => 2,
        };
        Trimmer {
            is_paired,
            poly_g: is_poly_g.then_some(options.poly_g.least as usize),
            adapters: [adapter(0), adapter(1)],
            listed: listed.iter().map(|sequence| Adapter::new(sequence.as_bytes())).collect(),
            least_of_listed: adapter::LEAST + more,
            options,
        }
    }

    /// What was asked for.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether it trims pairs.
    pub fn is_paired(&self) -> bool {
        self.is_paired
    }

    /// The adapter that is looked for in a mate, 0 or 1, given or found.
    pub fn adapter(&self, mate: usize) -> Option<&str> {
        let adapter = self.adapters.get(mate)?.as_ref()?;
        std::str::from_utf8(adapter.letters()).ok()
    }

    /// Trims a pair, and counts what was done. If one mate is bad, both are dropped.
    pub fn pair(&self, reads: [Read<'_>; 2], counts: &mut Counts) -> Outcome<[Span; 2]> {
        let [first, second] = reads;
        let mut spans = match (self.cut(&first, 0), self.cut(&second, 1)) {
            (Some(one), Some(other)) => [one, other],
            // What is left of the other mate may be bad, too: the worse reason counts.
            (one, other) => {
                let failure = |(read, span): (&Read<'_>, Option<Span>)| span.and_then(|span| self.failure(read, span));
                let failures = [(&first, one), (&second, other)].map(failure);
                let are_empty = [one, other].map(|span| span.is_none());
                return counts.judge(&reads, Outcome::Dropped(Failed::empty(failures, are_empty)));
            }
        };
        let fronts = spans.map(|span| span.start as usize);
        for (read, span) in reads.iter().zip(&mut spans) {
            self.trim_poly_g(read, span, counts);
        }
        let parts = [first.within(spans[0]), second.within(spans[1])];
        let overlap = overlap::find(parts[0].bases(), parts[1].bases(), &self.options.overlap);
        counts.add_insert(insert_size(overlap, &parts, fronts));
        let is_dimer = self.trim_adapters_of_pair(&reads, &mut spans, overlap.map(|overlap| (overlap, fronts)), counts);
        for (mate, (read, span)) in reads.iter().zip(&mut spans).enumerate() {
            self.trim_poly_x(read, span, counts);
            self.limit(mate, span);
        }
        let failures = match is_dimer {
            true => [Some(Reason::AdapterDimer); 2],
            false => [self.failure(&first, spans[0]), self.failure(&second, spans[1])],
        };
        counts.judge(&reads, Failed::of(failures).map_or(Outcome::Kept(spans), Outcome::Dropped))
    }

    /// Trims a read without a mate, and counts what was done.
    pub fn single(&self, read: Read<'_>, counts: &mut Counts) -> Outcome<Span> {
        let outcome = self.judge_single(&read, counts);
        let as_array = match outcome {
            Outcome::Kept(span) => Outcome::Kept([span]),
            Outcome::Dropped(failed) => Outcome::Dropped(failed),
        };
        counts.judge(&[read], as_array);
        outcome
    }

    fn judge_single(&self, read: &Read<'_>, counts: &mut Counts) -> Outcome<Span> {
        let Some(mut span) = self.cut(read, 0) else { return Outcome::Dropped(Failed::single(Reason::TooShort)) };
        self.trim_poly_g(read, &mut span, counts);
        let mut is_dimer = false;
        if let Some(options) = &self.options.adapters {
            let is_trimmed = self.trim_adapters(read, 0, &mut span, true, counts);
            counts.adapter_reads += u64::from(is_trimmed);
            is_dimer = is_trimmed && options.dimer_length.is_some_and(|most| span.len() <= most as usize);
        }
        self.trim_poly_x(read, &mut span, counts);
        self.limit(0, &mut span);
        let failure = if is_dimer { Some(Reason::AdapterDimer) } else { self.failure(read, span) };
        failure.map_or(Outcome::Kept(span), |reason| Outcome::Dropped(Failed::single(reason)))
    }

    fn cut(&self, read: &Read<'_>, mate: usize) -> Option<Span> {
        ends::cut(read, &self.options.ends[mate], &self.options.windows)
    }

    fn trim_poly_g(&self, read: &Read<'_>, span: &mut Span, counts: &mut Counts) {
        let Some(least) = self.poly_g else { return };
        let bases = read.within(*span).bases();
        let kept = poly::without_poly_g(bases, least);
        if kept < bases.len() {
            counts.poly_g += Amount { reads: 1, bases: (bases.len() - kept) as u64 };
            span.keep(kept);
        }
    }

    fn trim_poly_x(&self, read: &Read<'_>, span: &mut Span, counts: &mut Counts) {
        let Some(least) = self.options.poly_x else { return };
        let bases = read.within(*span).bases();
        if let Some(tail) = poly::poly_x(bases, least as usize) {
            counts.poly_x[tail.letter] += Amount { reads: 1, bases: tail.length as u64 };
            span.keep(bases.len() - tail.length);
        }
    }

    /// Cuts off what is beyond the longest length.
    fn limit(&self, mate: usize, span: &mut Span) {
        let longest = self.options.ends[mate].longest;
        if longest > 0 {
            span.keep(longest as usize);
        }
    }

    fn failure(&self, read: &Read<'_>, span: Span) -> Option<Reason> {
        filter::failure(&read.within(span), &self.options)
    }

    /// Trims the adapters of a pair: by the overlap where there is one, else by their letters. Says whether only
    /// adapters were there. With the overlap come the bases that were cut off at the fronts.
    fn trim_adapters_of_pair(
        &self,
        reads: &[Read<'_>; 2],
        spans: &mut [Span; 2],
        overlap: Option<(Overlap, [usize; 2])>,
        counts: &mut Counts,
    ) -> bool {
        let Some(options) = &self.options.adapters else { return false };
        let by_overlap = overlap.filter(|(overlap, _)| overlap.has_adapters);
        if let Some((overlap, fronts)) = by_overlap {
            let mut cut = [&[][..]; 2];
            for mate in 0..2 {
                // The insert goes on under what was cut off at the front of the other mate.
                let kept = overlap.length + fronts[1 - mate];
                let bases = reads[mate].within(spans[mate]).bases();
                cut[mate] = bases.get(kept..).unwrap_or_default();
                spans[mate].keep(kept);
            }
            counts.add_adapters_of_pair(cut);
        }
        let mut any = false;
        for mate in 0..2 {
            let found = self.trim_adapters(&reads[mate], mate, &mut spans[mate], by_overlap.is_none(), counts);
            let is_trimmed = found || by_overlap.is_some();
            counts.adapter_reads += u64::from(is_trimmed);
            any |= is_trimmed;
        }
        let is_short = |most: u32| spans.iter().all(|span| span.len() <= most as usize);
        any && options.dimer_length.is_some_and(is_short)
    }

    /// Trims the adapter of a mate by its letters, if `own` says so, then those of the FASTA file.
    fn trim_adapters(&self, read: &Read<'_>, mate: usize, span: &mut Span, own: bool, counts: &mut Counts) -> bool {
        let own = self.adapters[mate].as_ref().filter(|_| own);
        if own.is_none() && self.listed.is_empty() {
            return false;
        }
        let mut searched = Searched::new(read.within(*span).bases());
        let mut is_trimmed = false;
        let own = own.into_iter().map(|adapter| (adapter, adapter::LEAST));
        let listed = self.listed.iter().map(|adapter| (adapter, self.least_of_listed));
        for (adapter, least) in own.chain(listed) {
            let Some(place) = adapter.find(&searched, least) else { continue };
            let kept = match place {
                Place::Base(base) => {
                    counts.add_adapter(mate, read.within(*span).bases().get(base..).unwrap_or_default());
                    base
                }
                // fastp counts the adapter itself, short of as many letters.
                Place::Before(missing) => {
                    let letters = adapter.letters();
                    counts.add_adapter(mate, &letters[..letters.len().saturating_sub(missing)]);
                    0
                }
            };
            span.keep(kept);
            searched.truncate(kept);
            is_trimmed = true;
        }
        is_trimmed
    }
}

/// The size of an insert, by the overlap of its reads and what was cut off at their fronts
/// (PairEndProcessor::statInsertSize).
fn insert_size(overlap: Option<Overlap>, parts: &[Read<'_>; 2], fronts: [usize; 2]) -> usize {
    let Some(overlap) = overlap else { return INSERT_UNKNOWN };
    let insert = match overlap.begins {
        0 => overlap.length,
        _ => parts[0].len() + parts[1].len() - overlap.length,
    };
    (insert + fronts[0] + fronts[1]).min(INSERT_UNKNOWN)
}
