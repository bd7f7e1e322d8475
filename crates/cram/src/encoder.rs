//! What all workers share of a file, and what each makes of its records.

use crate::END_MARKER;
use crate::hts::{HtsHeader, HtsRecord, HtsRefused, MemoryFile, WriteSettings};
use crate::reference::CramReference;
use crate::slices::clear_md5;
use std::ffi::CStr;
use zerohop_model::error::{Error, InputError, shown};
use zerohop_model::record::{Contig, mate};

/// A version of CRAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// CRAM 3.0, which every program reads.
    V3_0,
    /// CRAM 3.1, which is smaller; programs of 2023 and later read it.
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
pub enum RecordOrder {
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
    header: HtsHeader,
    beginning: Vec<u8>,
    settings: WriteSettings,
    contigs: Vec<Contig>,
    /// Which contigs hold `.`, `-` or `*`.
    have_gaps: Vec<bool>,
}

impl Cram {
    /// A file with this header, whose `contigs` are those of the reference; `level` is from 0 to 9.
    ///
    /// # Errors
    /// [`Error::Input`] if the reference is not that of the contigs; [`Error::Internal`] if htslib does not take the
    /// header.
    pub fn new(
        (header, contigs): (&str, &[Contig]),
        reference: &CramReference,
        (version, level, order): (Version, u8, RecordOrder),
    ) -> Result<Self, Error> {
        let settings = WriteSettings { version: version.name(), level, mixes_contigs: order == RecordOrder::Other };
        reference.check(contigs)?;
        let unusable = |HtsRefused(what): HtsRefused| {
            Error::from(InputError::new(
                reference.path(),
                format!("htslib could not {what} for CRAM: is this file complete?"),
            ))
        };
        let named = reference.named(|_, _| true).map_err(unusable)?;
        let with_reference = MemoryFile::with_reference(settings, &named.name).map_err(unusable)?;
        let header = HtsHeader::parse(&with_digests(header, reference)).map_err(refused)?;
        // Not by the one that has the name of the reference: htslib would put it into the header.
        let beginning = with_reference.sharing(settings, &header).and_then(|mut file| file.write_header(&header));
        let beginning = beginning.map_err(unusable)?;
        let (contigs, have_gaps) = (contigs.to_vec(), reference.have_gaps(contigs));
        Ok(Cram { with_reference, header, beginning, settings, contigs, have_gaps })
    }

    /// What the file begins with: its definition, and the header.
    pub fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// What one worker encodes its records with.
    pub fn encoder(&self) -> CramEncoder<'_> {
        CramEncoder { cram: self, file: None, record: HtsRecord::new() }
    }
}

/// A header that says of each contig what `reference` is (M5 and UR of @SQ), in place of what it said of it.
fn with_digests(header: &str, reference: &CramReference) -> String {
    let digests = reference.digests();
    let place = reference.uri().map(|uri| format!("\tUR:{uri}")).unwrap_or_default();
    let is_kept = |field: &&str| !field.starts_with("M5:") && !field.starts_with("UR:");
    let line = |line: &str| match line.starts_with("@SQ\t") {
        true => {
            let kept: Vec<&str> = line.split('\t').filter(is_kept).collect();
            let name = kept.iter().find_map(|field| field.strip_prefix("SN:")).unwrap_or_default();
            let digest = digests.get(name).copied().unwrap_or_default();
            format!("{}\tM5:{digest}{place}\n", kept.join("\t"))
        }
        false => format!("{line}\n"),
    };
    header.lines().map(line).collect()
}

/// Makes containers of records.
#[derive(Debug)]
pub struct CramEncoder<'c> {
    cram: &'c Cram,
    /// What is written since the last [`CramEncoder::finish`].
    file: Option<MemoryFile>,
    record: HtsRecord,
}

impl CramEncoder<'_> {
    /// Adds a record as BAM has it, with its length.
    ///
    /// # Errors
    /// [`Error::Record`] if CRAM cannot hold it; [`Error::Internal`].
    pub fn add(&mut self, bam: &[u8]) -> Result<(), Error> {
        let cut_off = || Error::Internal("a record for CRAM is cut off".to_owned());
        self.record.set(bam).ok_or_else(cut_off)?;
        let Cram { with_reference, header, settings, contigs, .. } = self.cram;
        if let Some(fault) = self.record.fault(contigs) {
            let (name, flags) = self.record.name_and_flags();
            let what = format!("{fault}, which CRAM cannot hold: write BAM");
            return Err(Error::Record { read: shown(name), mate: mate(flags), what });
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(with_reference.sharing(*settings, header).map_err(refused)?),
        };
        file.write(&self.record, header).map_err(|HtsRefused(what)| {
            // It encodes those before when it has enough of them.
            let read = shown(self.record.name_and_flags().0);
            Error::Internal(format!("htslib could not {what} for CRAM: read '{read}', or one of the 10,000 before it"))
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
        let start = out.len();
        out.extend_from_slice(containers);
        match self.cram.have_gaps.contains(&true) {
            true => clear_md5(&mut out[start..], &self.cram.have_gaps),
            false => Ok(()),
        }
    }
}

fn refused(HtsRefused(what): HtsRefused) -> Error {
    Error::Internal(format!("htslib could not {what} for CRAM"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CramReferenceBuilder, LinePlace};
    use std::path::Path;

    #[test]
    fn what_a_header_says_of_the_reference_is_said_anew() {
        let mut builder = CramReferenceBuilder::new(true, true).unwrap();
        builder.begin("a");
        builder.push(b"message digest", LinePlace { offset: 0, bytes: 15 }).unwrap();
        let reference = builder.finish(Path::new("/x/r.fa")).unwrap().unwrap();
        let header = "@HD\tVN:1.6\n@SQ\tSN:a\tLN:9\tM5:0123\tUR:/x\tAS:y\n@CO\tM5:0123\n";
        assert_eq!(
            with_digests(header, &reference),
            "@HD\tVN:1.6\n@SQ\tSN:a\tLN:9\tAS:y\tM5:f96b697d7cb7938d525a2f31aaf161d0\tUR:/x/r.fa\n@CO\tM5:0123\n"
        );
        let elsewhere = reference.found_at(Some("https://x.org/r.fa".to_owned()));
        assert!(with_digests(header, &elsewhere).contains("\tUR:https://x.org/r.fa\n"));
    }
}
