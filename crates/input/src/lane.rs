//! The files of one lane, which are opened together, and how their reads are dealt.

use crate::LaneSpec;
use crate::bam::SeenMates;
use crate::barcodes::Barcodes;
use crate::bisulfite::BisulfiteLibrary;
use crate::content::Content;
use crate::header;
use crate::open::{OpenedFile, WhenRead, bam_without_end, look, no_end_marker};
use crate::parse::{FragmentLayout, PairsAlone, TextFormat};
use crate::regular::FileCoding;
use crate::saved::SavedReads;
use crate::text::open_raw;
use crate::trimming::{Trimmed, Trimming};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_model::directed::Directed;
use zerohop_model::error::{InputError, shown, shown_path};

/// What of the input goes on to the records, besides names, bases and qualities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The comments of header lines.
    pub comments: bool,
    /// The read groups of BAM.
    pub read_groups: bool,
    /// Only pairs: an interleaved read without a mate is a fault, for this reason.
    pub pairs_alone: Option<PairsAlone>,
    /// Other IDs for programs of BAM, by those that records have in PG.
    pub programs: HashMap<String, String>,
    /// Which fields of BAM go with the direction of a read: those of records on the reverse strand are turned back.
    pub directed: Directed,
}

/// The files of one lane, opened.
pub struct OpenLane {
    pub(crate) files: Vec<OpenedFile>,
    pub(crate) layout: FragmentLayout,
    /// Fragments after which it counts as ended.
    pub(crate) first: Option<u64>,
    /// What of the input goes on to the records.
    pub(crate) carried: Carried,
    pub(crate) barcodes: Barcodes,
    /// Of which kind its reads are, if they are bisulfite reads.
    pub(crate) library: BisulfiteLibrary,
    /// What trims its reads, if they are trimmed.
    pub(crate) trimmed: Option<Arc<Trimmed>>,
    /// Where reads that stay, and those that are dropped, are written, if they are.
    pub(crate) saved: Option<Arc<SavedReads>>,
    /// Pairs and single reads of BAM, as they are parsed.
    pub(crate) seen: Option<Arc<SeenMates>>,
    /// What the user should know of the input, a sentence each.
    pub notes: Vec<String>,
}

/// What looks as if something else was meant, of two files of mates, by their first reads.
fn note_on_mates(files: &mut [OpenedFile]) -> Result<Option<String>, InputError> {
    let [first, second] = files else { return Ok(None) };
    let [one, two] = [&first.path, &second.path].map(|path| shown_path(path).to_string());
    let (Some(record), Some(other)) = (first.first_record()?, second.first_record()?) else { return Ok(None) };
    let [Some(of_first), Some(of_second)] = [&record, &other].map(|lines| lines[0].strip_prefix(b"@")) else {
        return Ok(None);
    };
    let [of_first, of_second] = [of_first, of_second].map(header::split);
    let (name, mate) = (header::without_mate_number(of_first.0), header::without_mate_number(of_second.0));
    Ok(if header::mate_number(of_first) == Some(2) {
        Some(format!("{one} begins with a second mate, '{}': are it and {two} in this order?", shown(of_first.0)))
    } else if header::mate_number(of_second) == Some(1) {
        Some(format!("{two} begins with a first mate, '{}': is it the file of the second mates?", shown(of_second.0)))
    } else if !of_first.0.is_empty() && record == other {
        Some(format!("{one} and {two} begin with the same read, '{}': is one a copy of the other?", shown(of_first.0)))
    } else if name != mate && header::are_mates(name, mate) {
        Some(format!(
            "the mates of {one} and {two} have different names, '{}' and '{}'. Their records keep them, and samtools \
             fixmate and other programs will not take them for mates. Names that are the same, or end in /1 and /2, \
             are right: fastq-dump gives such without -I",
            shown(name),
            shown(mate)
        ))
    } else {
        None
    })
}

impl OpenLane {
    /// Opens the files of a lane and looks at their first bytes. Regular files are closed then, and opened again when
    /// their turn comes; one that has changed meanwhile is a fault.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is not FASTQ, FASTA, BAM, SAM or CRAM.
    pub fn open(spec: &LaneSpec) -> Result<Self, InputError> {
        Self::open_with(spec, None)
    }

    /// The same, with the FASTA of the reference, which CRAM of aligned reads needs.
    ///
    /// # Errors
    /// As [`OpenLane::open`].
    pub fn open_with(spec: &LaneSpec, reference: Option<&Path>) -> Result<Self, InputError> {
        // All are opened before one is read: a program may wait for the second of two pipes to be opened.
        let raw = spec.files.iter().map(|path| open_raw(path)).collect::<Result<Vec<_>, _>>()?;
        let mut files =
            spec.files.iter().zip(raw).map(|(path, raw)| look(path, raw, reference)).collect::<Result<Vec<_>, _>>()?;
        if let Some(bam) = files.iter().find(|file| file.is_bam())
            && (files.len() > 1 || spec.interleaved)
        {
            let what = "is BAM, SAM or CRAM, whose flags say which reads are mates: give each file as a lane of its \
                        own (--reads), without --interleaved";
            return Err(InputError::new(&bam.path, what));
        }
        let layout = match (files.len(), spec.interleaved) {
            (2, _) => FragmentLayout::Pairs,
            (_, true) => FragmentLayout::Interleaved,
            _ => FragmentLayout::Single,
        };
        let mut notes: Vec<String> = note_on_mates(&mut files)?.into_iter().collect();
        for file in &mut files {
            if layout == FragmentLayout::Single && file.seems_interleaved()? {
                let path = shown_path(&file.path);
                notes.push(format!("{path}: its first two reads have the same name: are they pairs (-p)?"));
            }
            if file.lacks_end_marker && !file.is_bam() {
                notes.push(no_end_marker(&file.path));
            }
        }
        let (programs, directed) = (HashMap::new(), Directed::default());
        let carried = Carried { comments: true, read_groups: true, pairs_alone: None, programs, directed };
        files.iter_mut().for_each(OpenedFile::close);
        let bam = files.iter().find(|file| file.is_bam());
        let seen = bam.map(|bam| Arc::new(SeenMates::of(bam.path.clone())));
        Ok(OpenLane {
            files,
            layout,
            first: None,
            carried,
            barcodes: Barcodes::default(),
            library: BisulfiteLibrary::default(),
            trimmed: None,
            saved: None,
            seen,
            notes,
        })
    }

    /// Closes the files that can be opened again.
    pub(crate) fn close(&mut self) {
        self.files.iter_mut().for_each(OpenedFile::close);
    }

    /// The lane with its first `fragments` reads or pairs only, if a number is given; what follows is not checked
    /// either.
    #[must_use]
    pub fn first(mut self, fragments: Option<u64>) -> Self {
        self.first = fragments;
        self
    }

    /// The same lane, whose reads have these barcodes.
    ///
    /// # Errors
    /// Read structures that are not for its files.
    pub fn with_barcodes(mut self, barcodes: &Barcodes) -> Result<Self, InputError> {
        let (structures, is_paired) = (barcodes.structures.len(), self.is_paired());
        let what = if structures == 0 {
            None
        } else if structures != if is_paired { 2 } else { 1 } {
            let wanted = match (is_paired, self.files.len()) {
                (false, _) => "its reads are single: give --read-structure once",
                (true, 1) => "its reads are pairs: give --read-structure twice",
                (true, _) => "its mates are in two files: give --read-structure twice",
            };
            Some(format!("{wanted}, not {structures} times"))
        } else if (self.is_bam() || self.layout == FragmentLayout::Interleaved) && self.is_fasta() == Some(true) {
            Some("its reads have no qualities: --read-structure is for such in files of one mate each".to_owned())
        } else {
            None
        };
        if let (Some(what), Some(file)) = (what, self.files.first()) {
            return Err(InputError::new(&file.path, what));
        }
        self.barcodes = barcodes.clone();
        Ok(self)
    }

    /// The same lane, whose reads are trimmed.
    ///
    /// # Errors
    /// Reads that cannot be trimmed; a file that cannot be read.
    pub fn with_trimming(mut self, trimming: &Trimming) -> Result<Self, InputError> {
        let lacks_qualities = |file: &&OpenedFile| match file.content {
            Some(Content::Text(format)) => format == TextFormat::Fasta,
            Some(Content::Bam { first, .. }) => first.is_some_and(|first| first.lacks_qualities),
            None => false,
        };
        if let Some(file) = self.files.iter().find(lacks_qualities) {
            let what = "its reads have no qualities, as those of FASTA: only reads with qualities are trimmed";
            return Err(InputError::new(&file.path, what));
        }
        let is_paired = self.is_paired();
        self.trimmed = Some(Arc::new(Trimmed::new(trimming, &mut self.files, is_paired)?));
        self.close();
        Ok(self)
    }

    /// The same lane, whose reads are saved, those that stay and those that are dropped, when they are dealt; of a lane
    /// that is counted, when that is done ([`OpenLane::count_kept`]).
    #[must_use]
    pub fn saving(mut self, saved: Option<Arc<SavedReads>>) -> Self {
        self.saved = saved;
        self
    }

    /// Where its reads are saved.
    pub fn saved(&self) -> Option<Arc<SavedReads>> {
        self.saved.clone()
    }

    /// What came of trimming its reads, when all were dealt.
    pub fn trimmed(&self) -> Option<Arc<Trimmed>> {
        self.trimmed.clone()
    }

    /// The same lane, of which only this goes on to the records.
    #[must_use]
    pub fn carrying(mut self, carried: Carried) -> Self {
        self.carried = carried;
        self
    }

    /// Says of which kind of bisulfite library its reads are.
    pub fn of_library(&mut self, library: BisulfiteLibrary) {
        self.library = library;
    }

    /// Whether what stays of its reads is dealt again (trimmed.rs): they are trimmed, or have barcodes where chunks are
    /// not cut by the bases of files of one mate each.
    pub fn is_dealt_again(&self) -> bool {
        let has_mates = self.is_bam() || self.layout == FragmentLayout::Interleaved;
        self.trimmed.is_some() || has_mates && !self.barcodes.structures.is_empty()
    }

    /// Whether workers take its chunks by themselves; an emitter deals them otherwise ([`OpenLane::deal`]).
    pub fn is_claimed(&self) -> bool {
        self.layout != FragmentLayout::Interleaved && self.files.iter().all(|file| file.coding().is_some())
    }

    /// Whether several processes can deal parts of it ([`OpenLane::count`]): workers do, and it can be read at any
    /// place.
    pub fn is_counted(&self) -> bool {
        let is_gzip = |file: &OpenedFile| file.coding().is_some_and(|(coding, _)| coding == FileCoding::Gzip);
        self.is_claimed() && !self.files.iter().any(is_gzip)
    }

    /// Whether its reads are pairs; of BAM and interleaved files, in which single reads may stand among them, whether
    /// the first one is of a pair, or may be.
    pub fn is_paired(&self) -> bool {
        self.layout != FragmentLayout::Single
            || self.files.iter().filter_map(|file| file.content).any(Content::is_paired)
    }

    /// About how many bases its reads have, rather too many, by the lengths of its files and the mean length of a read;
    /// unknown of pipes, SAM and CRAM.
    pub fn about_bases(&self, mean_read_bases: usize) -> Option<u64> {
        let of_files = self.files.iter().map(OpenedFile::about_bases).sum::<Option<u64>>()?;
        let wanted = |fragments: u64| fragments.saturating_mul(2 * mean_read_bases as u64);
        Some(self.first.map_or(of_files, |first| of_files.min(wanted(first))))
    }

    /// Whether its reads are in FASTA, or have no qualities as those in FASTA; unknown if it has none.
    pub fn is_fasta(&self) -> Option<bool> {
        self.files.iter().filter_map(|file| file.content).find_map(|content| match content {
            Content::Text(format) => Some(format == TextFormat::Fasta),
            Content::Bam { first, .. } => first.map(|first| first.lacks_qualities),
        })
    }

    /// Whether its files hold no reads at all.
    pub fn is_empty(&self) -> bool {
        self.is_fasta().is_none()
    }

    /// Whether its reads are in BAM.
    pub fn is_bam(&self) -> bool {
        self.files.iter().any(OpenedFile::is_bam)
    }

    /// The @RG lines of BAM, as they stand there.
    pub fn read_group_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.header.read_groups.iter().map(Vec::as_slice))
    }

    /// The @PG and @CO lines of BAM, as they stand there.
    pub fn history_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(|file| file.header.history.iter().map(Vec::as_slice))
    }

    /// Refuses files of BAM and SAM in BGZF that lack their end, if they are to be read to it.
    ///
    /// # Errors
    /// Such a file.
    pub fn check_ends(&self) -> Result<(), InputError> {
        match self.files.iter().find(|file| file.lacks_end_marker && file.is_bam()) {
            Some(file) if self.first.is_none() => Err(bam_without_end(&file.path)),
            _ => Ok(()),
        }
    }

    /// What will be known of it when all its reads were read by this process.
    pub fn when_read(&self) -> impl Iterator<Item = WhenRead> {
        let ends = self.files.iter().filter_map(OpenedFile::end_of_pipe).map(WhenRead::EndOfPipe);
        ends.chain(self.seen.iter().map(Arc::clone).map(WhenRead::Mates))
    }

    /// The text of each file, inflated, from the start.
    ///
    /// # Errors
    /// A file that cannot be opened again, or has changed.
    pub fn into_texts(self) -> Result<Vec<Box<dyn Read + Send>>, InputError> {
        self.files.into_iter().map(|file| Ok(file.into_text()?.into_reader())).collect()
    }

    /// Its files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().map(|file| &file.path)
    }
}
