//! Where the index comes from: files beside the reference, as `zerohop index --engine bwa-mem` and bwa-mem2 write them.

use crate::cohorts::LibraryCohorts;
use crate::digests::{self, Digests};
use crate::files::{ALT, ENDINGS, check_line, path, unreadable};
use crate::library::LibraryOptions;
use crate::load::Files;
use crate::options::BwaMemOptions;
use crate::sequences::Sequences;
use crate::{BwaMem, VERSION, contigs, fm};
use std::fs::metadata;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_input::identity::{DigestWriter, FileId};
use zerohop_input::reference::estimated_bases;
use zerohop_model::engine::Engine;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, OnStart, Product, Wanted};
use zerohop_model::machine::Bytes;
use zerohop_model::record::Contig;
use zerohop_process::{NewFile, WriteError};

/// The name of the engine.
pub(crate) const NAME: &str = "bwa-mem";
/// Bytes of memory for each base that making an index takes at least: those of both strands, their places (of 4 bytes
/// while they fit), and the blocks.
fn building(bases: u64) -> u64 {
    bases * if bases < 1 << 30 { 13 } else { 21 }
}

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
        let (reference, file) = (wanted.reference.to_owned(), path(wanted.reference, ENDINGS[0]));
        let size = |path: &Path| metadata(path).map_or(0, |file| file.len());
        if wanted.anew {
            let bytes = building(estimated_bases(&reference));
            return Ok(Box::new(BwaMemIndexSource { reference, file, options, bytes, is_built: true }));
        }
        if let Some(missing) = ENDINGS.iter().map(|ending| path(&reference, ending)).find(|path| !path.exists()) {
            return Err(IndexError::Missing(format!(
                "{}: it does not exist: make the index with 'zerohop index --engine {NAME} {}'",
                missing.display(),
                reference.display()
            )));
        }
        let bytes = size(&file) + size(&path(&reference, ENDINGS[1]));
        Ok(Box::new(BwaMemIndexSource { reference, file, options, bytes, is_built: false }))
    }

    fn path(&self, wanted: &Wanted<'_>) -> Result<Option<PathBuf>, IndexError> {
        Ok(Some(path(wanted.reference, ENDINGS[0])))
    }

    fn save(&self, wanted: &Wanted<'_>, threads: usize) -> Result<Bytes, IndexError> {
        let reference = wanted.reference;
        // Before it is read: a change of it meanwhile is noticed later.
        let id = FileId::read(reference, threads).map_err(unreadable(reference)).map_err(IndexError::failed)?;
        let sequences = Sequences::read(reference).map_err(IndexError::failed)?;
        sequences
            .names()
            .try_for_each(|(name, comment)| check_line(reference, name, comment))
            .map_err(IndexError::failed)?;
        let (pac, pac_digest) = save(reference, ENDINGS[1], |out| sequences.write_pac(out))?;
        let (ann, ann_digest) = save(reference, ENDINGS[2], |out| sequences.write_ann(out))?;
        let (amb, amb_digest) = save(reference, ENDINGS[3], |out| sequences.write_amb(out))?;
        let (fm, fm_digest) = save(reference, ENDINGS[0], |out| fm::write(&sequences.bases, threads, out))?;
        let digests = Digests::new(id, [fm_digest, pac_digest, ann_digest, amb_digest]);
        let (digests, _) = save(reference, digests::ENDING, |out| digests.write(out))?;
        let files = vec![pac, ann, amb, fm, digests];
        zerohop_process::complete_all(files).map_err(IndexError::failed)?;
        Ok(Bytes(fm::index_bytes(sequences.bases.len() as u64) + sequences.bases.len() as u64 / 4))
    }
}

/// Writes a file of the index, under a temporary name; gives its digest, too.
fn save(
    reference: &Path,
    ending: &str,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<(NewFile, String), IndexError> {
    let path = path(reference, ending);
    let file = NewFile::create(&path).map_err(IndexError::failed)?;
    let mut out = DigestWriter::new(BufWriter::new(file.file()));
    let digest =
        write(&mut out).and_then(|()| out.finish()).map_err(WriteError::of(&path)).map_err(IndexError::failed)?;
    Ok((file, digest))
}

/// The library rescues mates with AVX2 or AVX-512, and has nothing for lesser processors.
fn check_processor() -> Result<(), IndexError> {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err(IndexError::failed(format!("{NAME} needs a processor with AVX2, which this one lacks")));
    }
    Ok(())
}

struct BwaMemIndexSource {
    reference: PathBuf,
    file: PathBuf,
    options: BwaMemOptions,
    bytes: u64,
    is_built: bool,
}

impl IndexSource for BwaMemIndexSource {
    fn file(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> Vec<PathBuf> {
        let all = ENDINGS.into_iter().chain([ALT, digests::ENDING]).map(|ending| path(&self.reference, ending));
        all.filter(|file| file.exists()).collect()
    }

    fn beside_reference(&self) -> Vec<PathBuf> {
        Some(path(&self.reference, ALT)).into_iter().filter(|file| file.exists()).collect()
    }

    fn is_built(&self) -> bool {
        self.is_built
    }

    fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    fn note(&self) -> Option<String> {
        if self.is_built || path(&self.reference, digests::ENDING).exists() {
            return None;
        }
        Some(format!(
            "{}: another program made this index: there are no digests beside it, so some damage to it would go \
             unseen. 'zerohop index --engine {NAME}' makes one with digests.",
            self.file.display()
        ))
    }

    fn make(&self, threads: usize, _on_start: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        if self.is_built {
            let words = format!("--no-index: {NAME} always reads its index from files");
            return Err(IndexError::Usage(words));
        }
        let files = Files::check(&self.reference, self.options.ignore_alt, threads).map_err(IndexError::failed)?;
        let index = files.load(threads).map_err(IndexError::failed)?;
        let alternates = files.alternates().map_err(IndexError::failed)?;
        let alternates = contigs::alternates(&alternates);
        let contig = |(name, length): (String, u64)| {
            let is_alternate = alternates.contains(name.as_bytes());
            Contig { name, length, is_alternate }
        };
        let contigs = index.contigs().into_iter().map(contig).collect();
        let comments = match self.options.contig_comments {
            true => contigs::comments(&files.contigs().map_err(IndexError::failed)?),
            false => Vec::new(),
        };
        let settings = LibraryOptions::new(&self.options).map_err(IndexError::failed)?;
        let (options, cohorts) = (self.options.clone(), Arc::new(LibraryCohorts::default()));
        let (files, comments) = (Arc::new(files), Arc::new(comments));
        Ok(Box::new(BwaMem { files, index, contigs, comments, options, settings, threads, cohorts }))
    }
}
