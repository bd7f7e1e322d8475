//! What is asked for, with fastp's defaults.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The words with which fastp is asked to trim, as values. [`Options::parse`] reads them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Adapters; none are trimmed where this is not given.
    pub adapters: Option<AdapterOptions>,
    /// Both ends, of the first read and of the second.
    pub ends: [EndOptions; 2],
    /// Cuts by the mean quality of a window.
    pub windows: WindowOptions,
    /// Tails of G.
    pub poly_g: PolyGOptions,
    /// Tails of one letter, of at least so many bases.
    pub poly_x: Option<u32>,
    /// The filter of qualities and N.
    pub quality: Option<QualityFilter>,
    /// The filter of lengths.
    pub length: Option<LengthFilter>,
    /// The filter of reads with little change from base to base: at least so many of 100 must differ from the next one.
    pub complexity: Option<u8>,
    /// When two mates overlap.
    pub overlap: OverlapOptions,
}

/// How adapters are found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterOptions {
    /// That of the first read, and that of the second.
    pub sequences: [AdapterSequence; 2],
    /// A FASTA file of others.
    pub fasta: Option<PathBuf>,
    /// Whether adapters of pairs are looked for in the first reads.
    pub detect_for_pairs: bool,
    /// Reads that are at most so long when their adapters are off are dimers of adapters.
    pub dimer_length: Option<u32>,
}

/// The adapter of one of two mates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdapterSequence {
    /// What the first reads say, where they are looked at.
    Auto,
    /// None.
    None,
    /// This one, in the letters A, C, G and T.
    Given(String),
}

/// What is cut off whatever stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EndOptions {
    /// Bases at the front.
    pub front: u32,
    /// Bases at the tail.
    pub tail: u32,
    /// Bases that a read has at most; 0 is without a limit.
    pub longest: u32,
}

/// Windows that move over a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WindowOptions {
    /// From the front; what is before the first good one is cut off.
    pub front: Option<Window>,
    /// From the tail; what is behind the first good one is cut off.
    pub tail: Option<Window>,
    /// From the front; what is behind the first bad one is cut off, and the tail's window is not looked at.
    pub right: Option<Window>,
}

/// A window, and when it is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its bases.
    pub size: u32,
    /// The mean quality that it has at least.
    pub quality: u32,
}

/// How tails of G are cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolyGOptions {
    /// Whether they are.
    pub when: PolyG,
    /// Bases that such a tail has at least.
    pub least: u32,
}

/// Whether tails of G are cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PolyG {
    /// If the name of the first read says that an instrument with two colours made it, for which no signal is a G.
    ByInstrument,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Which reads are too bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QualityFilter {
    /// The quality from which on a base is good.
    pub qualified: u8,
    /// How many of 100 bases may be worse.
    pub unqualified_percent: u8,
    /// The mean quality that a read has at least.
    pub mean: u8,
    /// How many N a read may have.
    pub n_bases: u8,
}

/// Which reads are too short or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LengthFilter {
    /// Bases that a read has at least.
    pub required: u32,
    /// Bases that it has at most; 0 is without a limit.
    pub limit: u32,
}

/// When two mates overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlapOptions {
    /// Bases in which they do, at least. (One more has to follow where the second one begins within the first.)
    pub required: u32,
    /// Bases of these that may differ.
    pub differences: u32,
    /// How many of 100 may.
    pub differences_percent: u8,
}

impl Options {
    /// Whether the adapter of this mate, 0 or 1, is to be looked for in the first reads (Options::shallDetectAdapter).
    pub fn detects_adapter(&self, mate: usize, is_paired: bool) -> bool {
        let Some(adapters) = &self.adapters else { return false };
        let is_looked_at = if is_paired { adapters.detect_for_pairs } else { mate == 0 };
        is_looked_at && adapters.sequences.get(mate) == Some(&AdapterSequence::Auto)
    }
}

impl Default for Options {
    /// What fastp does without any option (options.cpp and main.cpp of fastp).
    fn default() -> Self {
        Options {
            adapters: Some(AdapterOptions::default()),
            ends: Default::default(),
            windows: WindowOptions::default(),
            poly_g: PolyGOptions::default(),
            poly_x: None,
            quality: Some(QualityFilter::default()),
            length: Some(LengthFilter::default()),
            complexity: None,
            overlap: OverlapOptions::default(),
        }
    }
}

impl Default for AdapterOptions {
    fn default() -> Self {
        AdapterOptions {
            sequences: [AdapterSequence::Auto, AdapterSequence::Auto],
            fasta: None,
            detect_for_pairs: false,
            dimer_length: Some(2),
        }
    }
}

impl Default for PolyGOptions {
    fn default() -> Self {
        PolyGOptions { when: PolyG::ByInstrument, least: 10 }
    }
}

impl Default for QualityFilter {
    fn default() -> Self {
        QualityFilter { qualified: 15, unqualified_percent: 40, mean: 0, n_bases: 5 }
    }
}

impl Default for LengthFilter {
    fn default() -> Self {
        LengthFilter { required: 15, limit: 0 }
    }
}

impl Default for OverlapOptions {
    fn default() -> Self {
        OverlapOptions { required: 30, differences: 5, differences_percent: 20 }
    }
}
