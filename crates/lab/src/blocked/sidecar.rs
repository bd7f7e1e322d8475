//! What is known of a blocked file, in a small file beside it.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zerohop_model::error::InputError;

/// The version that is written and read.
const VERSION: u32 = 1;
/// The largest block, in bytes and in reads.
const MAX_BLOCK_BYTES: usize = 1 << 30;
const MAX_READS: usize = 1 << 20;
const FORMAT: &str = "zerohop blocked FASTQ";

/// How the blocks lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// As text: block i starts at byte i times the size of a block.
    Plain,
    /// Each compressed into BGZF members of its own.
    Bgzf,
}

/// The description of a blocked file, `FILE.blocks.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    format: String,
    version: u32,
    /// How the blocks lie in the file.
    pub coding: Coding,
    /// Bytes of a block, inflated.
    pub block_bytes: usize,
    /// Reads of a block; the last one may have fewer.
    pub reads_per_block: usize,
    /// How many blocks there are.
    pub blocks: u64,
    /// Reads of all blocks.
    pub reads: u64,
    /// Bytes of the blocked file.
    pub file_bytes: u64,
    /// Bytes of the original, inflated.
    pub original_bytes: u64,
    /// Over all blocks: the sum of the xxh3 of each, with its number as the seed.
    pub digest: String,
    /// Blocks that had spaces where padding goes, and how many.
    pub own_spaces: Vec<(u64, usize)>,
    /// Line ends that the original's last read lacked: 1 if its last line had none; 2 if a read of no bases ended with
    /// its `+`.
    pub ends_added: usize,
    /// Blank lines behind the last read of the original.
    pub blank: String,
}

impl Sidecar {
    /// A description of a file of no blocks yet.
    pub(crate) fn new(coding: Coding, block_bytes: usize, reads_per_block: usize) -> Self {
        Sidecar {
            format: FORMAT.to_owned(),
            version: VERSION,
            coding,
            block_bytes,
            reads_per_block,
            blocks: 0,
            reads: 0,
            file_bytes: 0,
            original_bytes: 0,
            digest: String::new(),
            own_spaces: Vec::new(),
            ends_added: 0,
            blank: String::new(),
        }
    }

    /// Where the description of `file` lies.
    pub fn path(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(".blocks.json");
        name.into()
    }

    /// The description of `file`; none if there is none.
    ///
    /// # Errors
    /// A description that cannot be read, is of another version, or does not fit the file.
    pub fn of(file: &Path) -> Result<Option<Self>, InputError> {
        let path = Self::path(file);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(InputError::new(&path, format!("cannot read: {error}"))),
        };
        let fault = |what: String| InputError::new(&path, what);
        let sidecar: Self = serde_json::from_slice(&text).map_err(|error| {
            fault(format!("it does not describe a blocked file in a way that this version knows: {error}"))
        })?;
        if sidecar.format != FORMAT || sidecar.version != VERSION {
            let (format, version) = (&sidecar.format, sidecar.version);
            return Err(fault(format!(
                "it is version {version} of '{format}'; this program knows version {VERSION} of '{FORMAT}'"
            )));
        }
        if let Some(what) = sidecar.contradiction() {
            return Err(fault(format!("{what}: it is damaged")));
        }
        let length = std::fs::metadata(file).map_err(|e| InputError::new(file, format!("cannot open: {e}")))?.len();
        if length != sidecar.file_bytes {
            let what = format!(
                "it has {length} bytes, but {} was made for {}: it was changed, or is truncated",
                path.display(),
                sidecar.file_bytes
            );
            return Err(InputError::new(file, what));
        }
        Ok(Some(sidecar))
    }

    /// What in it cannot be.
    fn contradiction(&self) -> Option<&'static str> {
        let blocks = self.reads.div_ceil(self.reads_per_block.max(1) as u64);
        let in_range =
            (1..=MAX_BLOCK_BYTES).contains(&self.block_bytes) && (1..=MAX_READS).contains(&self.reads_per_block);
        let ascending = self.own_spaces.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let known = self.own_spaces.last().is_none_or(|(block, _)| *block < self.blocks);
        let plain_bytes = self.blocks.checked_mul(self.block_bytes as u64);
        match () {
            () if !in_range => Some("its blocks have no bytes, no reads, or more than there can be"),
            () if blocks != self.blocks => Some("its numbers of blocks and of reads do not fit"),
            () if self.coding == Coding::Plain && plain_bytes != Some(self.file_bytes) => {
                Some("its numbers of blocks and of bytes do not fit")
            }
            () if self.ends_added > 2 || !ascending || !known => Some("what was added to its blocks cannot have been"),
            () => None,
        }
    }

    /// The sidecar as JSON.
    pub fn json(&self) -> String {
        // A struct of numbers and strings can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// What the padding costs: bytes of the blocks, inflated, for each byte of the original.
    pub fn overhead(&self) -> f64 {
        match self.original_bytes {
            0 => 1.0,
            original => (self.blocks * self.block_bytes as u64) as f64 / original as f64,
        }
    }
}
