//! Where the index comes from: files beside the reference (`source`), and who writes them (`save`).

use crate::files::path;
use crate::from_bwa;
use crate::options::BwaMemOptions;
use crate::source::{BwaMemIndexSource, IndexFrom};
use crate::{NAME, VERSION, save};
use std::path::PathBuf;
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

    fn has_resident(&self) -> bool {
        true
    }

    fn takes_arguments(&self) -> bool {
        true
    }

    fn product(&self, arguments: &str) -> Result<Product, IndexError> {
        BwaMemOptions::parse(arguments).map(|_| Product::Records).map_err(IndexError::usage)
    }

    fn is_for_bisulfite(&self, arguments: &str) -> bool {
        BwaMemOptions::parse(arguments).is_ok_and(|options| options.bisulfite)
    }

    fn chunk_bases(&self) -> u64 {
        crate::PIECE_BASES
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        check_processor()?;
        let options = BwaMemOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        let reference = wanted.reference.to_owned();
        let kind = options.index();
        let from = if wanted.anew { IndexFrom::Reference } else { IndexFrom::find(&reference, kind)? };
        let own = kind.fm(&reference);
        let (file, bytes) = match &from {
            IndexFrom::Reference => (own, kind.estimated_bytes(estimated_bases(&reference))),
            IndexFrom::Files => (own, kind.bytes(&reference)),
            IndexFrom::Bwa { index, .. } => (path(index.prefix(), from_bwa::ENDINGS[0]), index.bytes()),
        };
        Ok(Box::new(BwaMemIndexSource { reference, file, options, bytes, from }))
    }

    fn path(&self, wanted: &Wanted<'_>) -> Result<Option<PathBuf>, IndexError> {
        let options = BwaMemOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        Ok(Some(options.index().fm(wanted.reference)))
    }

    fn save(&self, wanted: &Wanted<'_>, threads: usize, told: Told<'_>) -> Result<SavedIndex, IndexError> {
        let options = BwaMemOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        save::save(wanted.reference, options.index(), threads, told)
    }
}

/// The library rescues mates with AVX2 or AVX-512, and has nothing for lesser processors.
fn check_processor() -> Result<(), IndexError> {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err(IndexError::failed(format!("{NAME} needs a processor with AVX2, which this one lacks")));
    }
    Ok(())
}
