//! What a worker calls: an engine maps a chunk at once, or, where alignments need statistics over a whole cohort, in
//! two phases with the statistics between them.
//!
//! The author of an engine implements [`Phases`]; [`Phased`] makes a [`Mapper`] of it. The runtime sees the same
//! without its types ([`PhasedMapper`]).

use crate::alignment::Alignments;
use crate::chunk::Chunk;
use crate::error::Error;
use std::any::Any;
use std::sync::Arc;

/// One worker of an engine.
pub trait Mapper {
    /// Maps all fragments of `chunk`, in order, and puts their alignments into `out`, which is empty: of each read one
    /// that is neither secondary nor supplementary, or it says how many are [left out](Alignments::leave_out). Nothing
    /// may be carried over to the next chunk.
    ///
    /// # Errors
    /// [`Error::Engine`], [`Error::Record`].
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error>;

    /// If it maps in two phases: how. Then the runtime calls that and not [`Mapper::map`]. Not to be written by hand:
    /// [`Phased`] does it.
    fn phases(&mut self) -> Option<&mut dyn PhasedMapper> {
        None
    }
}

/// One worker of an engine that maps in two phases, as the bwa family does: alignments of a read depend on the insert
/// sizes of its cohort ([`Cut`](crate::engine::Cut), `-K`), and those on the candidates of all its reads.
///
/// What is called when, for the pieces of one cohort:
///
/// 1. [`first`](Phases::first) on each piece, on any workers, in any order and at the same time;
/// 2. [`combine`](Phases::combine) once, on the worker that was the last to finish a first phase, when all are
///    finished;
/// 3. [`second`](Phases::second) on each piece, on the worker that did its first phase.
///
/// Pieces of other cohorts come between these calls, and several cohorts are open at a time: what belongs to a cohort
/// lies in partials, summaries and statistics, and nowhere else. A worker takes up its second phases in the order of
/// the input, and before it takes another piece. All of it runs on the workers' own threads; an engine starts none, and
/// waits for no other worker.
pub trait Phases {
    /// What the first phase leaves for the second: candidates. It stays on its worker's thread, in memory of its node.
    /// If the worker goes over to another copy of the index meanwhile, the second phase is done with that copy: so it
    /// holds no reference into one.
    type Partial: 'static;
    /// What the statistics need of a piece, moved to the worker that combines: small.
    type Summary: Send + 'static;
    /// Statistics of a cohort, read by all workers.
    type Statistics: Send + Sync + 'static;

    /// The first phase of a piece. `chunk.ticket` says which piece of which cohort it is, and the number of its first
    /// read over the whole input.
    ///
    /// # Errors
    /// As for [`Mapper::map`].
    fn first(&mut self, chunk: &Chunk) -> Result<(Self::Partial, Self::Summary), Error>;

    /// Statistics of a cohort, from the summaries of all its pieces in the order of the input. They must not depend on
    /// how the cohort was cut into pieces, or the records will.
    ///
    /// # Errors
    /// [`Error::Engine`].
    fn combine(&mut self, summaries: Vec<Self::Summary>) -> Result<Self::Statistics, Error>;

    /// The second phase of a piece: puts the alignments of all its fragments, in order, into `out`, which is empty, as
    /// [`Mapper::map`] does.
    ///
    /// # Errors
    /// As for [`Mapper::map`].
    fn second(
        &mut self,
        chunk: &Chunk,
        partial: Self::Partial,
        statistics: &Self::Statistics,
        out: &mut Alignments,
    ) -> Result<(), Error>;
}

/// A [`Phases::Partial`] of any engine.
pub struct AnyPartial(Box<dyn Any>);

/// A [`Phases::Summary`] of any engine.
pub struct AnySummary(Box<dyn Any + Send>);

/// [`Phases::Statistics`] of any engine, shared by the pieces of a cohort.
#[derive(Clone)]
pub struct AnyStatistics(Arc<dyn Any + Send + Sync>);

/// [`Phases`] without its types: what the runtime calls.
pub trait PhasedMapper {
    /// [`Phases::first`].
    ///
    /// # Errors
    /// Its errors.
    fn first(&mut self, chunk: &Chunk) -> Result<(AnyPartial, AnySummary), Error>;

    /// [`Phases::combine`].
    ///
    /// # Errors
    /// Its errors; [`Error::Internal`] if a summary is another engine's.
    fn combine(&mut self, summaries: Vec<AnySummary>) -> Result<AnyStatistics, Error>;

    /// [`Phases::second`].
    ///
    /// # Errors
    /// Its errors; [`Error::Internal`] if the partial or the statistics are another engine's.
    fn second(
        &mut self,
        chunk: &Chunk,
        partial: AnyPartial,
        statistics: &AnyStatistics,
        out: &mut Alignments,
    ) -> Result<(), Error>;
}

/// Makes a [`Mapper`] of an engine that maps in two phases.
#[derive(Debug)]
pub struct Phased<P>(pub P);

impl<P: Phases> PhasedMapper for Phased<P> {
    fn first(&mut self, chunk: &Chunk) -> Result<(AnyPartial, AnySummary), Error> {
        let (partial, summary) = self.0.first(chunk)?;
        Ok((AnyPartial(Box::new(partial)), AnySummary(Box::new(summary))))
    }

    fn combine(&mut self, summaries: Vec<AnySummary>) -> Result<AnyStatistics, Error> {
        let own = |summary: AnySummary| Ok(*summary.0.downcast::<P::Summary>().map_err(|_| foreign())?);
        let statistics = self.0.combine(summaries.into_iter().map(own).collect::<Result<_, Error>>()?)?;
        Ok(AnyStatistics(Arc::new(statistics)))
    }

    fn second(
        &mut self,
        chunk: &Chunk,
        partial: AnyPartial,
        statistics: &AnyStatistics,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        let partial = *partial.0.downcast::<P::Partial>().map_err(|_| foreign())?;
        let statistics = statistics.0.downcast_ref::<P::Statistics>().ok_or_else(foreign)?;
        self.0.second(chunk, partial, statistics, out)
    }
}

impl<P: Phases> Mapper for Phased<P> {
    /// Both phases of a cohort that is one chunk.
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        if !chunk.ticket.is_whole_cohort() {
            return Err(Error::Internal("a piece of a cohort cannot be mapped by itself".to_owned()));
        }
        let (partial, summary) = self.0.first(chunk)?;
        let statistics = self.0.combine(vec![summary])?;
        self.0.second(chunk, partial, &statistics, out)
    }

    fn phases(&mut self) -> Option<&mut dyn PhasedMapper> {
        Some(self)
    }
}

fn foreign() -> Error {
    Error::Internal("the copies of an index are of different engines".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::Alignment;
    use crate::chunk::{ReadSpans, Ticket};

    /// Writes the fragments of the cohort as template length.
    struct Counts;

    impl Phases for Counts {
        type Partial = usize;
        type Summary = usize;
        type Statistics = usize;

        fn first(&mut self, chunk: &Chunk) -> Result<(usize, usize), Error> {
            Ok((chunk.len(), chunk.len()))
        }

        fn combine(&mut self, summaries: Vec<usize>) -> Result<usize, Error> {
            Ok(summaries.into_iter().sum())
        }

        fn second(
            &mut self,
            _chunk: &Chunk,
            partial: usize,
            statistics: &usize,
            out: &mut Alignments,
        ) -> Result<(), Error> {
            for _ in 0..partial {
                out.push(Alignment { template_length: *statistics as i32, ..Alignment::default() }, [], []);
                out.end_fragment();
            }
            Ok(())
        }
    }

    fn chunk(fragments: usize, ticket: Ticket) -> Chunk {
        let mut chunk = Chunk::default();
        chunk.ticket = ticket;
        (0..fragments).for_each(|_| chunk.push(ReadSpans::default(), None));
        chunk
    }

    #[test]
    fn a_whole_cohort_can_be_mapped_at_once_and_a_piece_cannot() {
        let (mut mapper, mut out) = (Phased(Counts), Alignments::default());
        mapper.map(&chunk(3, Ticket::first_of(0)), &mut out).unwrap();
        assert_eq!(out.fragment(2).next().unwrap().alignment.template_length, 3);
        assert!(mapper.map(&chunk(3, Ticket::default()), &mut out).is_err());
    }

    #[test]
    fn without_types_it_is_the_same_and_foreign_parts_are_refused() {
        let (mut mapper, mut out) = (Phased(Counts), Alignments::default());
        let pieces = [chunk(1, Ticket::default()), chunk(2, Ticket::default())];
        let (mut partials, mut summaries) = (vec![], vec![]);
        for piece in &pieces {
            let (partial, summary) = PhasedMapper::first(&mut mapper, piece).unwrap();
            partials.push(partial);
            summaries.push(summary);
        }
        let statistics = PhasedMapper::combine(&mut mapper, summaries).unwrap();
        let partial = partials.pop().unwrap();
        PhasedMapper::second(&mut mapper, &pieces[1], partial, &statistics, &mut out).unwrap();
        assert_eq!(out.fragment(1).next().unwrap().alignment.template_length, 3);
        assert!(PhasedMapper::combine(&mut mapper, vec![AnySummary(Box::new("other"))]).is_err());
        let foreign = AnyPartial(Box::new("other"));
        assert!(PhasedMapper::second(&mut mapper, &pieces[1], foreign, &statistics, &mut out).is_err());
    }
}
