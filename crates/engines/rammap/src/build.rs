//! Making an index: all threads look for the minimizers of contigs, and sort them.

use crate::parameters::IndexParameters;
use crate::payload::{MOST_POSITIONS, PayloadWriter, bucket_bits, receive};
use rammap::align::index::Index;
use rammap::align::sketch::sketch_sequence;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use zerohop_input::reference::Piece;
use zerohop_model::error::{Error, InputError};
use zerohop_model::index::{MakingNews, Told};
use zerohop_model::record::Contig;

/// Minimizers are dealt to so many parts (2^14, as by minimap2), by the last bits of their hashes: enough for threads
/// to sort them side by side.
const PART_BITS: u32 = 14;
/// Bases of a word.
const PER_WORD: usize = 8;
/// Contigs that may wait for a thread, of each thread.
const WAITING: usize = 1;

/// What an index is made of.
pub(crate) struct IndexParts {
    pub(crate) parameters: IndexParameters,
    pub(crate) contigs: Vec<Contig>,
    part_bits: u32,
    /// Hashes and positions, sorted.
    parts: Vec<Vec<(u64, u64)>>,
    /// Bases, four bits each, the first in the lowest; contigs follow one another.
    bases: Vec<u32>,
}

/// A contig with its number, and where it starts among all bases.
struct Dealt {
    number: usize,
    start: u64,
    bases: Vec<u8>,
}

/// What one thread makes of contigs.
struct Share {
    parts: Vec<Vec<(u64, u64)>>,
    /// Of each contig, where its words start and what they are; the first and the last may be shared with others.
    words: Vec<(usize, Vec<u32>)>,
}

impl IndexParts {
    /// Reads a reference and finds its minimizers, with so many threads, each of which calls `on_start` first.
    ///
    /// # Errors
    /// A reference that cannot be read, is wrong, or has more minimizers than rammap can hold.
    pub(crate) fn build(
        reference: &Path,
        parameters: IndexParameters,
        threads: usize,
        on_start: &(dyn Fn() + Send + Sync),
        told: Told<'_>,
    ) -> Result<Self, Error> {
        told(MakingNews::Step("minimizers of the reference"));
        let part_bits = PART_BITS.min(2 * parameters.k as u32);
        let (sender, receiver) = sync_channel(WAITING * threads);
        let receiver = Arc::new(Mutex::new(receiver));
        let (contigs, shares) = std::thread::scope(|scope| {
            let spawn = |_| {
                let receiver = Arc::clone(&receiver);
                std::thread::Builder::new().name("index".into()).spawn_scoped(scope, move || {
                    on_start();
                    find(&receiver, parameters, part_bits)
                })
            };
            let workers = (0..threads.max(1)).map(spawn).collect::<Result<Vec<_>, _>>().map_err(Error::Thread)?;
            // When all workers are dead, nobody waits for them.
            drop(receiver);
            let contigs = deal(reference, |dealt| {
                // A thread that died is told of below.
                let _ = sender.send(dealt);
            })?;
            drop(sender);
            let lost = |_| Error::Internal("a thread that made the index died".to_owned());
            let shares = workers.into_iter().map(|worker| worker.join().map_err(lost));
            Ok::<_, Error>((contigs, shares.collect::<Result<Vec<Share>, _>>()?))
        })?;
        told(MakingNews::Step("sorting them"));
        let all: u64 = contigs.iter().map(|contig| contig.length).sum();
        let mut bases = vec![0; (all as usize).div_ceil(PER_WORD)];
        let (mut of_threads, mut words) = (Vec::new(), Vec::new());
        for share in shares {
            of_threads.push(share.parts);
            words.extend(share.words);
        }
        for (start, words) in words {
            bases[start..start + words.len()].iter_mut().zip(words).for_each(|(all, word)| *all |= word);
        }
        let parts = sorted(of_threads, 1 << part_bits, threads)?;
        if parts.iter().map(|part| part.len() as u64).sum::<u64>() > MOST_POSITIONS {
            let what = "the reference has more than 2^32 minimizers, and rammap can hold no more: give it in parts, or \
                        give a larger -w";
            return Err(InputError::new(reference, what).into());
        }
        Ok(IndexParts { parameters, contigs, part_bits, parts, bases })
    }

    /// Minimizers, each counted once.
    fn keys(&self) -> u64 {
        self.parts.iter().map(|part| same_hash(part).count() as u64).sum()
    }

    /// The index, in memory of the calling thread's placement, and how many bytes it takes there.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn index(self) -> Result<(Index, u64), Error> {
        let mut memory = 0;
        let index = receive(|sender| {
            // Whoever takes the pieces says why it does not.
            memory = self.write(sender.writer()).unwrap_or(0);
            Ok::<_, Error>(())
        })?;
        Ok((index, memory))
    }

    /// Writes the index, and says how many bytes it takes in memory. What is written is given back to the system on the
    /// way.
    ///
    /// # Errors
    /// What `out` says.
    pub(crate) fn write(mut self, out: impl Write) -> io::Result<u64> {
        let bucket_bits = bucket_bits(self.keys()).min(self.part_bits);
        let mut writer = PayloadWriter::begin(out, self.parameters, &self.contigs, bucket_bits)?;
        let mut positions = Vec::with_capacity(1 << bucket_bits);
        for bucket in 0..1usize << bucket_bits {
            let (mut keys, mut of_bucket) = (Vec::new(), Vec::new());
            for number in (bucket..self.parts.len()).step_by(1 << bucket_bits) {
                let part = std::mem::take(&mut self.parts[number]);
                keys.extend(same_hash(&part).map(|same| (same[0].0 >> bucket_bits, same.len() as u32)));
                of_bucket.extend(part.iter().map(|(_, position)| *position));
            }
            writer.bucket(&keys)?;
            positions.push(of_bucket);
        }
        writer.begin_positions()?;
        positions.into_iter().try_for_each(|positions| writer.positions(&positions))?;
        writer.begin_bases(self.bases.len() as u64)?;
        writer.bases(&self.bases)?;
        writer.end()
    }
}

/// Minimizers that are the same, together.
fn same_hash(part: &[(u64, u64)]) -> impl Iterator<Item = &[(u64, u64)]> {
    part.chunk_by(|(one, _), (other, _)| one == other)
}

/// Reads the reference, contig by contig, in capitals. U is T, as for minimap2.
fn deal(reference: &Path, mut take: impl FnMut(Dealt)) -> Result<Vec<Contig>, InputError> {
    let mut open: Option<Dealt> = None;
    let mut end = |contig: Option<Dealt>| -> (usize, u64) {
        let next = contig.as_ref().map_or((0, 0), |c| (c.number + 1, c.start + c.bases.len() as u64));
        contig.into_iter().for_each(&mut take);
        next
    };
    let contigs = zerohop_input::reference::read(reference, |piece| match (piece, &mut open) {
        (Piece::Contig { .. }, _) => {
            let (number, start) = end(open.take());
            open = Some(Dealt { number, start, bases: Vec::new() });
        }
        (Piece::Bases(line), Some(contig)) => contig.bases.extend(line.iter().map(|base| of_read(*base))),
        (Piece::Bases(_), None) => {}
    })?;
    end(open);
    Ok(contigs)
}

/// A base as minimap2 looks at it.
pub(crate) fn of_read(base: u8) -> u8 {
    match base.to_ascii_uppercase() {
        b'U' => b'T',
        capital => capital,
    }
}

/// What one thread does: it takes contigs until there is none left.
fn find(contigs: &Mutex<Receiver<Dealt>>, parameters: IndexParameters, part_bits: u32) -> Share {
    let IndexParameters { k, w, homopolymers } = parameters;
    let mut share = Share { parts: vec![Vec::new(); 1 << part_bits], words: Vec::new() };
    let mut found = Vec::new();
    loop {
        let next = contigs.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
        let Ok(Dealt { number, start, bases }) = next else { return share };
        sketch_sequence(&bases, bases.len(), w, k, number, homopolymers, &mut found);
        for minimizer in &found {
            let hash = minimizer.x >> 8;
            share.parts[(hash & ((1 << part_bits) - 1)) as usize].push((hash, minimizer.y));
        }
        share.words.push((start as usize / PER_WORD, packed(&bases, start as usize % PER_WORD)));
    }
}

/// Bases in words, behind so many that the first word has already.
fn packed(bases: &[u8], before: usize) -> Vec<u32> {
    let mut words = vec![0; (before + bases.len()).div_ceil(PER_WORD)];
    for (at, base) in (before..).zip(bases) {
        let code = match base {
            b'A' => 0,
            b'C' => 1,
            b'G' => 2,
            b'T' => 3,
            _ => 4,
        };
        words[at / PER_WORD] |= code << (at % PER_WORD * 4);
    }
    words
}

/// The parts of all threads, each sorted.
fn sorted(
    mut of_threads: Vec<Vec<Vec<(u64, u64)>>>,
    parts: usize,
    threads: usize,
) -> Result<Vec<Vec<(u64, u64)>>, Error> {
    let mut all = of_threads.pop().unwrap_or_else(|| vec![Vec::new(); parts]);
    let mut of_others: Vec<Vec<Vec<(u64, u64)>>> = vec![Vec::new(); parts];
    for of_thread in of_threads {
        of_others.iter_mut().zip(of_thread).for_each(|(of_part, part)| of_part.push(part));
    }
    let queue = Mutex::new(all.iter_mut().zip(of_others));
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let next = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
                let Some((part, others)) = next else { return };
                part.reserve_exact(others.iter().map(Vec::len).sum());
                others.into_iter().for_each(|other| part.extend(other));
                part.sort_unstable();
            }
        };
        // Where no more threads can be had, those that there are do it all.
        let spawn = |_| std::thread::Builder::new().name("index".into()).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        work();
        let lost = |_| Error::Internal("a thread that made the index died".to_owned());
        others.into_iter().try_for_each(|other| other.join().map_err(lost))
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_same, fasta, file, parts, twin};

    #[test]
    fn all_threads_make_the_index_that_one_makes() {
        let folder = tempfile::tempdir().unwrap();
        let lengths = [[3000, 0, 500, 2001, 7, 1000, 1], [1, 2, 3, 4, 5, 6, 9000]];
        for (seed, lengths) in lengths.iter().enumerate() {
            let text = fasta(lengths, seed as u64);
            let reference = file(folder.path(), "ref.fa", &text);
            for (k, w, homopolymers) in [(15, 10, false), (19, 19, true), (5, 1, false), (28, 255, false)] {
                let parameters = IndexParameters { k, w, homopolymers };
                for threads in [1, 2, 5] {
                    let (index, memory) = parts(&reference, parameters, threads).index().unwrap();
                    assert_same(&twin(&text, parameters), &index, &text);
                    assert!(memory >= index.packed_seqs.len() as u64 * 4, "{memory}");
                }
            }
        }
    }

    #[test]
    fn a_reference_that_is_wrong_ends_all_threads() {
        let folder = tempfile::tempdir().unwrap();
        let text = [&fasta(&[500; 20], 3)[..], b">last\nAC!GT\n"].concat();
        let reference = file(folder.path(), "ref.fa", &text);
        let built = IndexParts::build(&reference, IndexParameters::default(), 3, &|| (), &|_| ());
        let error = built.err().unwrap().to_string();
        assert!(error.contains("which is not a base"), "{error}");
    }
}
