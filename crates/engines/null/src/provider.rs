//! Nothing to find, load or build: the reference gives the names of the header.

use crate::Null;
use std::path::{Path, PathBuf};
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, OnStart, Wanted};
use zerohop_model::machine::Bytes;

/// Makes null engines for the contigs of a reference.
#[derive(Debug, Clone, Copy)]
pub struct Provider;

/// It wants its input cut as strobealign does.
const CUT: Cut = Cut::at(1_000_001);

impl IndexProvider for Provider {
    fn engine(&self) -> (&str, &str) {
        ("null", env!("CARGO_PKG_VERSION"))
    }

    fn has_index(&self) -> bool {
        false
    }

    fn chunk_bases(&self) -> u64 {
        CUT.closes_at_bases
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        Ok(Box::new(NullReference(wanted.reference.to_owned())))
    }
}

struct NullReference(PathBuf);

impl IndexSource for NullReference {
    fn file(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Bytes {
        Bytes(0)
    }

    fn make(&self, _: usize, _: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let contigs = zerohop_input::reference::read(&self.0, |_| {});
        Ok(Box::new(Null::new(CUT, contigs.map_err(IndexError::failed)?)))
    }
}
