//! Where the index comes from: files beside the reference (`source`), and who writes them (`save`).

use crate::files::{ENDINGS, path};
use crate::fm;
use crate::from_bwa;
use crate::options::BwaMemOptions;
use crate::source::{BwaMemIndexSource, IndexFrom};
use crate::{NAME, VERSION, save};
use std::fs::metadata;
use std::path::{Path, PathBuf};
use zerohop_input::reference::estimated_bases;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, Product, SavedIndex, Told, Wanted};

/// Finds, makes and loads the index of bwa mem.
#[derive(Debug, Clone, Copy)]
pub struct Provider;

impl IndexProvider for Provider {
    fn engine(&self) -> (&str, &str) {
        (NAME, VERSION)
    }

    fn prepare(&self) {
        crate::silence::forget_variables();
    }

    fn takes_arguments(&self) -> bool {
        true
    }

    fn product(&self, arguments: &str) -> Result<Product, IndexError> {
        BwaMemOptions::parse(arguments).map(|_| Product::Records).map_err(IndexError::usage)
    }

    fn chunk_bases(&self) -> u64 {
        crate::PIECE_BASES
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        check_processor()?;
        let options = BwaMemOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        let reference = wanted.reference.to_owned();
        let from = if wanted.anew { IndexFrom::Reference } else { IndexFrom::find(&reference)? };
        let size = |ending| metadata(path(&reference, ending)).map_or(0, |file| file.len());
        let own = path(&reference, ENDINGS[0]);
        let (file, bytes) = match &from {
            IndexFrom::Reference => (own, written_bytes(&reference)),
            IndexFrom::Files => (own, size(ENDINGS[0]) + size(ENDINGS[1])),
            IndexFrom::Bwa { index, .. } => (path(index.prefix(), from_bwa::ENDINGS[0]), index.bytes()),
        };
        Ok(Box::new(BwaMemIndexSource { reference, file, options, bytes, from }))
    }

    fn path(&self, wanted: &Wanted<'_>) -> Result<Option<PathBuf>, IndexError> {
        Ok(Some(path(wanted.reference, ENDINGS[0])))
    }

    fn save(&self, wanted: &Wanted<'_>, threads: usize, told: Told<'_>) -> Result<SavedIndex, IndexError> {
        save::save(wanted.reference, threads, told)
    }
}

/// Bytes of an index that is to be made.
fn written_bytes(reference: &Path) -> u64 {
    let bases = estimated_bases(reference);
    fm::index_bytes(bases) + bases / 4
}

/// The library rescues mates with AVX2 or AVX-512, and has nothing for lesser processors.
fn check_processor() -> Result<(), IndexError> {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err(IndexError::failed(format!("{NAME} needs a processor with AVX2, which this one lacks")));
    }
    Ok(())
}
