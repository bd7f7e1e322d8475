//! What an engine writes itself, in place of records: lines of PAF, or weights of contigs, which become one table.

use std::io::Write;
use zerohop_model::alignment::{Alignments, Weight};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_model::sink::{Encoder, OfRead};

/// Hands on what the engine has written.
#[derive(Debug, Default)]
pub(crate) struct TextEncoder {
    out: Vec<u8>,
}

impl Encoder for TextEncoder {
    fn begin(&mut self, _lane: u32, buffer: Vec<u8>) {
        self.out = buffer;
    }

    fn encode(&mut self, _chunk: &Chunk, alignments: &Alignments) -> Result<(), Error> {
        self.out.extend_from_slice(alignments.text());
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        Ok(std::mem::take(&mut self.out))
    }

    fn line(&mut self, _line: &[u8], _of_read: OfRead<'_>, _is_first: bool) -> Result<(), Error> {
        Err(Error::Internal("a line of SAM has no place in this output".to_owned()))
    }
}

/// How many bases of reads each contig has.
#[derive(Debug)]
pub(crate) struct Abundances {
    sums: Vec<f64>,
}

impl Abundances {
    pub(crate) fn new(contigs: &[Contig]) -> Self {
        Abundances { sums: vec![0.0; contigs.len()] }
    }

    /// Adds the weights of a chunk. Sums depend on the order of chunks, as those of any floating point numbers.
    ///
    /// # Errors
    /// [`Error::Internal`]: a contig that does not exist.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Weight::all_in(bytes).try_for_each(|Weight { contig, bases }| {
            let unknown = || Error::Internal("the engine found a contig that does not exist".to_owned());
            *self.sums.get_mut(contig as usize).ok_or_else(unknown)? += bases;
            Ok(())
        })
    }

    /// A line for each contig: its name, and how often its bases are covered, as strobealign writes it.
    ///
    /// # Errors
    /// [`Error::Internal`], which cannot be.
    pub(crate) fn table(&self, contigs: &[Contig]) -> Result<Vec<u8>, Error> {
        let mut table = Vec::new();
        for (contig, sum) in contigs.iter().zip(&self.sums) {
            let written = writeln!(table, "{}\t{:.6}", contig.name, sum / contig.length as f64);
            written.map_err(|error| Error::Internal(error.to_string()))?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_line_for_each_contig() {
        let contigs = [Contig::new("a", 1000), Contig::new("b", 3), Contig::new("c", 10)];
        let (mut abundances, mut bytes) = (Abundances::new(&contigs), Vec::new());
        for (contig, bases) in [(1, 1.0), (0, 150.0), (1, 1.0)] {
            Weight { contig, bases }.push_to(&mut bytes);
        }
        abundances.add(&bytes).unwrap();
        let table = String::from_utf8(abundances.table(&contigs).unwrap()).unwrap();
        assert_eq!(table, "a\t0.150000\nb\t0.666667\nc\t0.000000\n");
        bytes.clear();
        Weight { contig: 3, bases: 1.0 }.push_to(&mut bytes);
        assert!(abundances.add(&bytes).is_err());
    }

    #[test]
    fn text_is_handed_on_as_it_is() {
        let (mut encoder, mut alignments) = (TextEncoder::default(), Alignments::default());
        alignments.text_mut().extend_from_slice(b"x\ty\n");
        encoder.begin(0, Vec::with_capacity(5));
        encoder.encode(&Chunk::default(), &alignments).unwrap();
        assert_eq!(encoder.finish().unwrap(), b"x\ty\n");
        assert!(encoder.line(b"", OfRead::default(), true).is_err());
        alignments.clear();
        assert!(alignments.text().is_empty());
    }
}
