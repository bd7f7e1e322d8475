//! Which kind of bisulfite library the reads of a lane are of. In a directional one C of the first mates were read as
//! T; in one made by PBAT (post-bisulfite adaptor tagging; Miura et al. 2012) G were read as A, as in the second mates
//! of the other; in a non-directional one either, in half of the pairs.

use std::path::Path;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::Parse;

/// Reads that are looked at.
pub(crate) const READS: usize = 10_000;
/// Fewer tell nothing.
const LEAST: usize = 100;
/// Bytes of each file in which these are, or fewer; more than these are kept of no pipe.
pub(crate) const TEXT: usize = 4 << 20;
/// A read is converted if it has so many times more of the other letter.
const TIMES: usize = 4;
/// The share of converted reads that are of one kind, where the library is; and that of reads which are converted.
const OF_ONE_KIND: f64 = 0.9;
const CONVERTED: f64 = 0.5;

/// A kind of bisulfite library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BisulfiteLibrary {
    /// C of the first mates were read as T.
    #[default]
    Directional,
    /// G of the first mates were read as A.
    Pbat,
}

/// What the first reads of a lane look like, of pairs the first mates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConvertedReads {
    /// Reads that were looked at.
    pub reads: usize,
    /// Those with hardly a C.
    pub c_to_t: usize,
    /// Those with hardly a G.
    pub g_to_a: usize,
}

/// Why reads are of no kind of library that can be aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownLibrary {
    /// Few are converted.
    NotConverted,
    /// Both kinds are frequent.
    NonDirectional,
}

impl ConvertedReads {
    /// Looks at one more.
    pub(crate) fn add(&mut self, bases: &[u8]) {
        let count = |letter: u8| bases.iter().filter(|base| **base == letter).count();
        let (c, g) = (count(b'C'), count(b'G'));
        self.reads += 1;
        self.c_to_t += usize::from(TIMES * c < g);
        self.g_to_a += usize::from(TIMES * g < c);
    }

    /// The kind of library; the usual one if there are too few reads to tell.
    ///
    /// # Errors
    /// Reads that are of none.
    pub fn library(self) -> Result<BisulfiteLibrary, UnknownLibrary> {
        let (reads, converted) = (self.reads as f64, (self.c_to_t + self.g_to_a) as f64);
        match () {
            _ if self.reads < LEAST => Ok(BisulfiteLibrary::Directional),
            _ if converted < CONVERTED * reads => Err(UnknownLibrary::NotConverted),
            _ if self.c_to_t as f64 >= OF_ONE_KIND * converted => Ok(BisulfiteLibrary::Directional),
            _ if self.g_to_a as f64 >= OF_ONE_KIND * converted => Ok(BisulfiteLibrary::Pbat),
            _ => Err(UnknownLibrary::NonDirectional),
        }
    }
}

/// Finds reads of a library made by PBAT.
pub(crate) struct PbatParser(pub(crate) Box<dyn Parse>);

impl Parse for PbatParser {
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        self.0.parse(chunk)?;
        chunk.is_pbat = true;
        Ok(())
    }

    fn path(&self, text: usize) -> Option<&Path> {
        self.0.path(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_library_is_seen() {
        let of = |reads: &[(&str, usize)]| {
            let mut found = ConvertedReads::default();
            reads.iter().for_each(|(bases, times)| (0..*times).for_each(|_| found.add(bases.as_bytes())));
            found.library()
        };
        let (ct, ga, both) = ("TGTTAGTGATTGTAGTTTGG", "CATCAACCATTACAATCACC", "ACGTACGTACGTACGT");
        assert_eq!(of(&[(ct, 99), (ga, 1)]), Ok(BisulfiteLibrary::Directional));
        assert_eq!(of(&[(ct, 5), (ga, 95), (both, 50)]), Ok(BisulfiteLibrary::Pbat));
        assert_eq!(of(&[(ct, 50), (ga, 50)]), Err(UnknownLibrary::NonDirectional));
        assert_eq!(of(&[(both, 95), (ct, 20)]), Err(UnknownLibrary::NotConverted));
        assert_eq!(of(&[(ga, 99)]), Ok(BisulfiteLibrary::Directional), "too few");
    }
}
