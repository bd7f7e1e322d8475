//! The index of a file (CRAMv3, section 12): a line for each slice, from the headers of containers.

use crate::slices::{Container, SliceHeader};
use serde::{Deserialize, Serialize};
use zerohop_model::error::Error;

/// A slice, as a line of CRAI has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CraiLine {
    contig: i32,
    /// From 1.
    start: i32,
    span: i32,
    /// Where its container begins, in bytes.
    container: u64,
    /// Where it begins, behind the header of the container.
    slice: i32,
    bytes: i32,
}

/// The slices of a file, or of a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crai {
    lines: Vec<CraiLine>,
}

impl Crai {
    /// Those of whole containers, the first of which begins at 0.
    ///
    /// # Errors
    /// [`Error::Internal`] if they are not containers of CRAM.
    pub fn of(containers: &[u8]) -> Result<Self, Error> {
        let wrong = || Error::Internal("containers of CRAM cannot be read back".to_owned());
        let (mut crai, mut at) = (Crai::default(), 0);
        while at < containers.len() {
            at = crai.add(containers, at).ok_or_else(wrong)?;
        }
        Ok(crai)
    }

    /// Adds another part, which begins at `offset`.
    pub fn append(&mut self, other: Crai, offset: u64) {
        self.lines.extend(other.lines.into_iter().map(|line| CraiLine { container: line.container + offset, ..line }));
    }

    /// The text of the index, not compressed.
    pub fn text(&self) -> String {
        let line = |line: &CraiLine| {
            let CraiLine { contig, start, span, container, slice, bytes } = line;
            format!("{contig}\t{start}\t{span}\t{container}\t{slice}\t{bytes}\n")
        };
        self.lines.iter().map(line).collect()
    }

    /// Adds the slices of the container at `at`; gives where it ends.
    fn add(&mut self, all: &[u8], at: usize) -> Option<usize> {
        let container = Container::at(all, at)?;
        let ends = container.slices.iter().skip(1).copied().chain([container.body.len() as i32]);
        for (&slice, end) in container.slices.iter().zip(ends) {
            let SliceHeader { contig, start, span, .. } = SliceHeader::of(container.body.clone(), all, slice)?;
            self.lines.push(CraiLine { contig, start, span, container: at as u64, slice, bytes: end - slice });
        }
        Some(container.body.end)
    }
}
