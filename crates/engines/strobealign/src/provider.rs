//! Where strobealign's index comes from: a file beside the reference, or the reference itself.

use crate::file::{identify, index_arguments, index_path, is_index, shown_options};
use crate::loader::made_for;
use crate::options::StrobealignOptions;
use crate::resident;
use crate::{
    CANONICAL_READ_LENGTHS, CHUNK_BASES, IndexParameters, Reference, Strobealign, VERSION, canonical_read_length,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use zerohop_input::reference::{check_file, estimated_bases};
use zerohop_model::engine::Engine;
use zerohop_model::index::{
    FilePages, IndexError, IndexProvider, IndexSource, MakingNews, OnStart, Product, Resident, SavedIndex, Told, Wanted,
};
use zerohop_model::machine::Bytes;
use zerohop_process::quoted;

/// Bytes of the index per base, with some to spare (measured: 2.9 of random bases, 3.75 of human ones).
const INDEX_BYTES_PER_BASE: f64 = 3.8;
/// What an index takes in memory of what its file has: the coarse hashes are made when it is loaded.
const MEMORY_PER_FILE: f64 = 1.03;
/// The part of an estimate that an index has at least: lines end, and some FASTA shrinks less.
const SURE_OF_ESTIMATE: f64 = 0.6;

/// Finds, makes and loads the index of strobealign.
#[derive(Debug, Clone, Copy)]
pub struct Provider;

impl IndexProvider for Provider {
    fn engine(&self) -> (&str, &str) {
        ("strobealign", VERSION)
    }

    fn has_read_length(&self) -> bool {
        true
    }

    fn has_resident(&self) -> bool {
        true
    }

    fn canonical_read_length(&self, mean_bases: usize) -> usize {
        canonical_read_length(mean_bases)
    }

    fn takes_arguments(&self) -> bool {
        true
    }

    fn product(&self, arguments: &str) -> Result<Product, IndexError> {
        Ok(StrobealignOptions::parse(arguments).map_err(IndexError::usage)?.product)
    }

    fn chunk_bases(&self) -> u64 {
        CHUNK_BASES
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        Ok(Box::new(StrobealignIndexSource::find(wanted)?))
    }

    fn path(&self, wanted: &Wanted<'_>) -> Result<Option<PathBuf>, IndexError> {
        let (_, parameters) = parse(wanted)?;
        Ok(Some(index_path(wanted.reference, &parameters)))
    }

    fn save(&self, wanted: &Wanted<'_>, threads: usize, told: Told<'_>) -> Result<SavedIndex, IndexError> {
        let (reference, (_, parameters)) = (wanted.reference, parse(wanted)?);
        let id = identify(reference, threads).map_err(IndexError::failed)?;
        let engine = build(reference, &parameters, threads, Box::new(|| ()), told)?;
        told(MakingNews::Step("writing it"));
        engine.save(&index_path(reference, &parameters), &id, threads).map_err(IndexError::failed)?;
        Ok(SavedIndex::built(engine.index_bytes()))
    }
}

/// The options that were given, and the index that they want. A reference that can be read only once is refused.
fn parse(wanted: &Wanted<'_>) -> Result<(StrobealignOptions, IndexParameters), IndexError> {
    let options = StrobealignOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
    let reference = wanted.reference;
    check_file(reference).map_err(IndexError::failed)?;
    let mean = match wanted.mean_read_length {
        0 if !wanted.anew => length_of_any(reference, &options)?,
        mean => mean,
    };
    let parameters = IndexParameters::new(&options, mean).map_err(IndexError::usage)?;
    Ok((options, parameters))
}

/// A length of reads for which there is an index: without reads, any length will do. 0 if there is none.
fn length_of_any(reference: &Path, options: &StrobealignOptions) -> Result<usize, IndexError> {
    if is_index(reference) {
        return Ok(made_for(reference).map_err(IndexError::failed)?.0.unwrap_or(0));
    }
    Ok(index_files(reference, options).next().map_or(0, |(length, _)| length))
}

/// An index file, or the reference that the index is built from.
struct StrobealignIndexSource {
    reference: PathBuf,
    options: StrobealignOptions,
    parameters: IndexParameters,
    file: Option<PathBuf>,
    /// An index file for reads of another length, or with other options, where there is none for these; and which of
    /// both differs.
    passed_over: Option<(PathBuf, &'static str)>,
    /// Whether the FASTA is there.
    has_fasta: bool,
    bytes: u64,
}

impl StrobealignIndexSource {
    fn find(wanted: &Wanted<'_>) -> Result<Self, IndexError> {
        let Wanted { reference, anew, .. } = *wanted;
        let (options, parameters) = parse(wanted)?;
        let length = |path: &Path| std::fs::metadata(path).map(|m| m.len());
        let is_index = is_index(reference);
        if is_index {
            check_given(wanted, &parameters)?;
        }
        let beside = index_path(reference, &parameters);
        let file = match is_index {
            true => Some(reference.to_owned()),
            false => Some(beside).filter(|path| !anew && path.exists()),
        };
        let has_fasta = !is_index && reference.exists();
        let passed_over = match file {
            None if !anew => passed_over(reference, &options),
            _ => None,
        };
        let bytes = match &file {
            Some(path) => length(path).unwrap_or(0),
            None => {
                let bases = estimated_bases(reference) as f64;
                let buckets = parameters.bits.map_or(0, |bits| (size_of::<u32>() as u64) << bits);
                (bases * INDEX_BYTES_PER_BASE * parameters.density()) as u64 + buckets
            }
        };
        Ok(StrobealignIndexSource {
            reference: reference.to_owned(),
            options,
            parameters,
            file,
            passed_over,
            has_fasta,
            bytes,
        })
    }

    /// The FASTA, if it is there.
    fn fasta(&self) -> Option<&Path> {
        Some(&*self.reference).filter(|_| self.has_fasta)
    }
}

impl IndexSource for StrobealignIndexSource {
    fn file(&self) -> &Path {
        self.file.as_deref().unwrap_or(&self.reference)
    }

    fn is_built(&self) -> bool {
        self.file.is_none()
    }

    fn bytes(&self) -> Bytes {
        let per_file = if self.file.is_some() { MEMORY_PER_FILE } else { 1.0 };
        Bytes((self.bytes as f64 * per_file) as u64)
    }

    fn least_bytes(&self) -> Bytes {
        let least = if self.file.is_some() { 1.0 } else { SURE_OF_ESTIMATE };
        Bytes((self.bytes as f64 * least) as u64)
    }

    fn note(&self) -> Option<String> {
        if let Some((other, why)) = &self.passed_over {
            let arguments = index_arguments(self.parameters.read_length().unwrap_or(0), &self.parameters.words());
            let (other, reference) = (other.display(), quoted(&self.reference.to_string_lossy()));
            return Some(format!(
                "{other} was not used, for it was made for other {why}: 'zerohop index{arguments} {reference}' makes \
                 an index for these."
            ));
        }
        let file = self.file.as_deref().filter(|file| !self.has_fasta && *file != self.reference)?;
        Some(format!(
            "{} is not there: {} holds the reference, too, and was used without it.",
            self.reference.display(),
            file.display()
        ))
    }

    fn resident(&self) -> Option<&dyn Resident> {
        self.file.as_ref().map(|_| self as &dyn Resident)
    }

    fn make(&self, threads: usize, on_start: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let engine = match &self.file {
            Some(path) => {
                Strobealign::load(path, self.fasta(), &self.parameters, threads).map_err(IndexError::failed)?
            }
            None => build(&self.reference, &self.parameters, threads, on_start, &|_| ())?,
        };
        Ok(Box::new(engine.with_options(self.options.clone())))
    }

    fn map(&self, threads: usize, pages: FilePages) -> Result<Option<Box<dyn Engine>>, IndexError> {
        let Some(path) = &self.file else { return Ok(None) };
        let engine = Strobealign::map(path, self.fasta(), &self.parameters, threads, pages);
        let engine = engine.map_err(IndexError::failed)?;
        Ok(engine.map(|engine| Box::new(engine.with_options(self.options.clone())) as Box<dyn Engine>))
    }
}

/// Only of a file: [`IndexSource::resident`].
impl Resident for StrobealignIndexSource {
    fn engine(&self) -> &str {
        "strobealign"
    }

    fn file(&self) -> &Path {
        IndexSource::file(self)
    }

    fn bytes(&self, _threads: usize) -> Result<u64, IndexError> {
        IndexSource::file(self).metadata().map(|file| file.len()).map_err(IndexError::failed)
    }

    fn check(&self, threads: usize) -> Result<(), IndexError> {
        resident::check(IndexSource::file(self), self.fasta(), threads).map_err(IndexError::failed)
    }

    fn cost_of_small_pages(&self) -> &'static str {
        // bench/runs/2026-11-24-start/kept
        "about a tenth more time"
    }

    fn fill(&self, copy: &File, threads: usize) -> Result<(), IndexError> {
        resident::fill(IndexSource::file(self), copy, threads).map_err(IndexError::failed)
    }

    fn is_copy(&self, copy: &Path) -> bool {
        resident::same_description(IndexSource::file(self), copy)
    }

    fn attach(&self, copy: &Path, threads: usize) -> Result<Box<dyn Engine>, IndexError> {
        let engine = Strobealign::attach(copy, self.fasta(), &self.parameters, threads).map_err(IndexError::failed)?;
        Ok(Box::new(engine.with_options(self.options.clone())))
    }
}

/// The index files of a reference that were made with these options, and the lengths of reads that they are for.
fn index_files(reference: &Path, options: &StrobealignOptions) -> impl Iterator<Item = (usize, PathBuf)> {
    let of = |length: usize| Some((length, index_path(reference, &IndexParameters::new(options, length).ok()?)));
    CANONICAL_READ_LENGTHS.into_iter().filter_map(of).filter(|(_, path)| path.is_file())
}

/// An index file for other reads, or for strobealign's own options.
fn passed_over(reference: &Path, options: &StrobealignOptions) -> Option<(PathBuf, &'static str)> {
    let first = |options: &StrobealignOptions| index_files(reference, options).next().map(|(_, path)| path);
    let for_others = first(options).map(|path| (path, "reads"));
    for_others.or_else(|| Some((first(&StrobealignOptions::default())?, "options")))
}

/// Looks whether an index that was given in place of the reference has the parameters that are wanted.
fn check_given(wanted: &Wanted<'_>, parameters: &IndexParameters) -> Result<(), IndexError> {
    let (index, mean) = (wanted.reference.display(), wanted.mean_read_length);
    if wanted.anew {
        return Err(IndexError::Usage(format!("{index} is an index: give the reference in FASTA")));
    }
    let (read_length, options) = made_for(wanted.reference).map_err(IndexError::failed)?;
    if options != parameters.words() {
        let (there, wanted) = (shown_options(&options), shown_options(&parameters.words()));
        return Err(IndexError::failed(format!(
            "{index}: it is an index that was made with {there}, not with {wanted}: give the same --engine-args, or \
             the reference in FASTA"
        )));
    }
    match read_length {
        Some(made_for) if parameters.read_length() != Some(made_for) => Err(IndexError::failed(format!(
            "{index}: it is an index for reads of about {made_for} bases, and these have {mean}: give the reference in \
             FASTA, or use the index all the same with -r {made_for}"
        ))),
        _ => Ok(()),
    }
}

fn build(
    path: &Path,
    parameters: &IndexParameters,
    threads: usize,
    on_start: OnStart,
    told: Told<'_>,
) -> Result<Strobealign, IndexError> {
    told(MakingNews::Step("reading the reference"));
    let reference = Reference::read(path, threads).map_err(IndexError::failed)?;
    let on_start = move |_| on_start();
    Strobealign::build_telling(reference, parameters, threads, on_start, told).map_err(IndexError::failed)
}
