//! What every rank has, brought together.

use crate::job::AlignError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use zerohop_output::Marks;
use zerohop_ranks::values::read;
use zerohop_ranks::{Transport, TransportError, receive};

/// A message may not be longer.
const PIECE: usize = 1 << 28;
/// The tags of messages.
const AT_FIRST: u32 = 0x636e;
const MARKS: u32 = 0x6d6b;

fn failed(error: TransportError) -> AlignError {
    AlignError::Failed(error.to_string())
}

/// What every rank gives, by rank, on the first rank; the others get nothing. It may be of any length.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn at_first(transport: &dyn Transport, own: Vec<u8>) -> Result<Vec<Vec<u8>>, AlignError> {
    let sizes = transport.all_gather(&(own.len() as u64).to_le_bytes()).map_err(failed)?;
    if transport.rank() > 0 {
        for piece in own.chunks(PIECE) {
            transport.send(0, AT_FIRST, piece.to_vec()).map_err(failed)?;
        }
        transport.barrier().map_err(failed)?;
        return Ok(Vec::new());
    }
    let mut all = vec![own];
    for (rank, size) in sizes.iter().enumerate().skip(1) {
        let size = size[..].try_into().map_or(0, u64::from_le_bytes);
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size {
            bytes.extend(receive(transport, rank, AT_FIRST).map_err(failed)?);
        }
        all.push(bytes);
    }
    transport.barrier().map_err(failed)?;
    Ok(all)
}

/// The same of what can be written as JSON.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn values_at_first<T: Serialize + DeserializeOwned>(
    transport: &dyn Transport,
    own: &T,
) -> Result<Vec<T>, AlignError> {
    let own = serde_json::to_vec(own).map_err(|error| AlignError::Failed(error.to_string()))?;
    let all = at_first(transport, own)?;
    all.iter().map(|bytes| Ok(read(bytes)?)).collect()
}

/// The part of so many things that is for one of so many ranks.
pub fn share(count: usize, rank: usize, ranks: usize) -> Range<usize> {
    let begin = |rank: usize| (count as u128 * rank as u128 / ranks as u128) as usize;
    begin(rank)..begin(rank + 1)
}

/// Has every rank mark what any has marked. Each brings one part of the marks together, and tells all others: a rank
/// sends and gets about twice what its own marks take.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn marks(transport: &dyn Transport, marks: &Marks) -> Result<(), AlignError> {
    let (own, ranks) = (transport.rank(), transport.size());
    let words = marks.words();
    let of_rank = |rank| share(words.len(), rank, ranks);
    let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let add = |first: usize, bytes: &[u8]| {
        marks.add_words(first, bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
    };
    let others = || (0..ranks).filter(|&rank| rank != own);
    for rank in others() {
        for piece in bytes(&words[of_rank(rank)]).chunks(PIECE) {
            transport.send(rank, MARKS, piece.to_vec()).map_err(failed)?;
        }
    }
    for rank in others() {
        let Range { start, end } = of_rank(own);
        let mut got = start;
        while got < end {
            let piece = receive(transport, rank, MARKS).map_err(failed)?;
            add(got, &piece);
            got += piece.len() / 8;
        }
    }
    let all = transport.all_gather(&bytes(&marks.words()[of_rank(own)])).map_err(failed)?;
    all.iter().enumerate().for_each(|(rank, words)| add(of_rank(rank).start, words));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_all_that_there_is() {
        for (count, ranks) in [(0, 3), (1, 4), (10, 3), (7, 7)] {
            let all: Vec<usize> = (0..ranks).flat_map(|rank| share(count, rank, ranks)).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
