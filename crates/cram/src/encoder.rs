//! What all workers share of a file, and what each makes of its records.

use crate::END_MARKER;
use crate::fasta;
use crate::hts::{Header, MemoryFile, Record, Refused, Settings};
use std::ffi::CStr;
use std::path::Path;
use zerohop_model::error::{Error, shown};
use zerohop_model::record::{Contig, mate};

/// A version of CRAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// What every program reads.
    V3_0,
    /// Smaller, for programs of 2023 and later.
    V3_1,
}

impl Version {
    fn name(self) -> &'static CStr {
        match self {
            Version::V3_0 => c"3.0",
            Version::V3_1 => c"3.1",
        }
    }
}

/// In which order records come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Of coordinates: no two contigs share a slice, so that the headers of slices say all that an index says.
    Coordinate,
    /// Any other.
    Other,
}

/// A file that is being written: its reference, and its header.
#[derive(Debug)]
pub struct Cram {
    /// It holds the reference.
    with_reference: MemoryFile,
    header: Header,
    beginning: Vec<u8>,
    settings: Settings,
}

impl Cram {
    /// A file with this header, whose `contigs` are those of the FASTA file `fasta`, which has an index; `level` is
    /// from 0 to 9.
    ///
    /// # Errors
    /// [`Error::Input`] if the FASTA is not that of the contigs; [`Error::Internal`] if htslib does not take the
    /// header.
    pub fn new(
        (header, contigs): (&str, &[Contig]),
        fasta: &Path,
        (version, level, order): (Version, u8, Order),
    ) -> Result<Self, Error> {
        let settings = Settings { version: version.name(), level, mixes_contigs: order == Order::Other };
        fasta::check(fasta, contigs)?;
        let mut with_reference = MemoryFile::with_reference(settings, fasta).map_err(refused)?;
        let header = Header::parse(header).map_err(refused)?;
        let beginning = with_reference.write_header(&header).map_err(refused)?;
        Ok(Cram { with_reference, header, beginning, settings })
    }

    /// What the file begins with: its definition, and the header.
    pub fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// What one worker encodes its records with.
    pub fn encoder(&self) -> Encoder<'_> {
        Encoder { cram: self, file: None, record: Record::new() }
    }
}

/// Makes containers of records.
#[derive(Debug)]
pub struct Encoder<'c> {
    cram: &'c Cram,
    /// What is written since the last [`Encoder::finish`].
    file: Option<MemoryFile>,
    record: Record,
}

impl Encoder<'_> {
    /// Adds a record as BAM has it, with its length.
    ///
    /// # Errors
    /// [`Error::Record`] if CRAM cannot hold it; [`Error::Internal`].
    pub fn add(&mut self, bam: &[u8]) -> Result<(), Error> {
        let cut_off = || Error::Internal("a record for CRAM is cut off".to_owned());
        self.record.set(bam).ok_or_else(cut_off)?;
        let Cram { with_reference, header, settings, .. } = self.cram;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(with_reference.sharing(*settings, header).map_err(refused)?),
        };
        file.write(&self.record, header).map_err(|Refused(what)| {
            let (name, flags) = self.record.name_and_flags();
            Error::Record { read: shown(name), mate: mate(flags), what: format!("htslib did not {what} for CRAM") }
        })
    }

    /// Appends the containers of all records since the last call to `out`.
    ///
    /// # Errors
    /// [`Error::Internal`] if htslib fails.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let all = file.finish().map_err(refused)?;
        // The end is for the whole file.
        let containers = all.strip_suffix(&END_MARKER);
        let containers = containers.ok_or_else(|| Error::Internal("CRAM does not end as it should".to_owned()))?;
        out.extend_from_slice(containers);
        Ok(())
    }
}

fn refused(Refused(what): Refused) -> Error {
    Error::Internal(format!("htslib did not {what} for CRAM"))
}
