//! `zerohop-lab block`: FASTQ in blocks of a fixed size, and back.

use crate::args::BlockArgs;
use crate::failure::Failure;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use zerohop_bgzf::BlockCompressor;
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_lab::blocked::{self, Blocking, Coding, Compress, Fit, Sidecar, block, restore};
use zerohop_model::error::{Error, InputError};
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{NewFile, WriteError, complete_all, tell};

/// The longest read that is taken for one, in bases.
const MAX_READ_BASES: usize = 1 << 27;
/// Longest header of a BGZF block that is looked for, in bytes.
const LONGEST_FRAME: u64 = 512;

/// Does the command.
///
/// # Errors
/// Whatever goes wrong; then none of the outputs is there.
pub fn run(args: &BlockArgs) -> Result<(), Failure> {
    let files: Vec<PathBuf> = std::iter::once(&args.reads_1).chain(&args.reads_2).cloned().collect();
    if args.check {
        return files.iter().try_for_each(|file| check(file));
    }
    if args.output.len() != files.len() {
        let words = format!("{} files of reads need as many outputs (-o), not {}", files.len(), args.output.len());
        return Err(Failure::Usage(words));
    }
    check_outputs(args, &files)?;
    if args.unblock { unblock_all(args, &files) } else { block_all(args, &files) }
}

/// All that will be written must be regular files of their own, and replace nothing but the like.
fn check_outputs(args: &BlockArgs, inputs: &[PathBuf]) -> Result<(), Failure> {
    let beside = |paths: &[PathBuf], wanted: bool| -> Vec<PathBuf> {
        paths.iter().filter(|_| wanted).map(|path| Sidecar::path(path)).collect()
    };
    let (read, written) = (beside(inputs, args.unblock), beside(&args.output, !args.unblock));
    for output in args.output.iter().chain(&written) {
        if output == Path::new("-") || output.exists() && !output.is_file() {
            return Err(Failure::Usage(format!("{}: the output must be a regular file", output.display())));
        }
    }
    overwrite::apart(inputs.iter().chain(&read), args.output.iter().chain(&written))?;
    args.output.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Fastq))?;
    Ok(written.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Json))?)
}

fn block_all(args: &BlockArgs, files: &[PathBuf]) -> Result<(), Failure> {
    let blockings = blockings(args, files)?;
    let mut done = Vec::new();
    let inputs = blocked::inputs(files, MAX_READ_BASES)?;
    for ((mut input, blocking), path) in inputs.into_iter().zip(blockings).zip(&args.output) {
        let mut output = BlockOutput::create(path, args)?;
        let sidecar =
            output.write(|out, compress| block(&mut input, blocking, out, compress, &|e| unwritten(path, e)))?;
        done.push((output, sidecar));
    }
    if let [(_, one), (_, two)] = &done[..]
        && one.reads != two.reads
    {
        let what = format!("it has {} reads, but {} has {}", two.reads, files[0].display(), one.reads);
        return Err(InputError::new(&files[1], what).into());
    }
    let (mut outputs, mut said) = (Vec::new(), Vec::new());
    for (output, sidecar) in done {
        said.push(format!("{}: {}\n", output.new.path().display(), words(&sidecar)));
        let beside = NewFile::create(&Sidecar::path(output.new.path()))?;
        beside.file().write_all(sidecar.json().as_bytes()).map_err(WriteError::of(beside.path()))?;
        // The description last: without it the file is FASTQ like any other.
        outputs.extend([output.new, beside]);
    }
    complete_all(outputs)?;
    tell::text(&said.concat());
    Ok(())
}

fn words(sidecar: &Sidecar) -> String {
    format!(
        "{} reads in {} blocks of {} bytes with {} reads each ({}); padding makes it {:.2} % larger",
        sidecar.reads,
        sidecar.blocks,
        sidecar.block_bytes,
        sidecar.reads_per_block,
        sidecar.coding.name(),
        100.0 * (sidecar.overhead() - 1.0)
    )
}

/// The size of the blocks of each file: what was asked for, else what needs the least padding.
fn blockings(args: &BlockArgs, files: &[PathBuf]) -> Result<Vec<Blocking>, Failure> {
    if let (Some(bytes), Some(reads)) = (args.block_bytes, args.reads_per_block) {
        return Ok(vec![Blocking { bytes, reads }; files.len()]);
    }
    let inputs = blocked::inputs(files, MAX_READ_BASES)?;
    if files.iter().any(|path| path == Path::new("-") || !path.is_file()) {
        let words = "of a pipe the best blocks cannot be found beforehand: give --block-bytes and --reads-per-block";
        return Err(Failure::Usage(words.to_owned()));
    }
    let limit = args.block_bytes.unwrap_or(args.max_block_bytes);
    let mut fit = Fit::new(files.len(), limit, args.reads_per_block);
    for (file, input) in inputs.into_iter().enumerate() {
        let mut has_reads = false;
        input.for_each_size(|bytes| {
            has_reads = true;
            fit.add(file, bytes);
        })?;
        if !has_reads {
            let what = "it has no reads, which tell the best blocks: give --block-bytes and --reads-per-block";
            return Err(InputError::new(&files[file], what).into());
        }
    }
    let mut best = match fit.best() {
        Some(best) => best,
        None if args.reads_per_block.is_some() => {
            let words =
                format!("so many reads do not fit a block of {limit} bytes: allow larger blocks (--max-block-bytes)");
            return Err(Failure::Other(words));
        }
        None => {
            let words = format!(
                "there is a read that does not fit a block of {limit} bytes: allow larger ones (--max-block-bytes)"
            );
            return Err(Failure::Other(words));
        }
    };
    if let Some(bytes) = args.block_bytes {
        best.iter_mut().for_each(|blocking| blocking.bytes = bytes);
    }
    Ok(best)
}

fn unblock_all(args: &BlockArgs, files: &[PathBuf]) -> Result<(), Failure> {
    let mut done = Vec::new();
    for (file, path) in files.iter().zip(&args.output) {
        let mut output = BlockOutput::create(path, args)?;
        output.write(|out, compress| match compress {
            None => restore_file(file, out, &|e| unwritten(path, e)),
            Some(compress) => {
                let mut packed = Packing { out, compress, data: Vec::new() };
                let sidecar = restore_file(file, &mut packed, &|e| unwritten(path, e))?;
                packed.end().map_err(|e| unwritten(path, e))?;
                Ok(sidecar)
            }
        })?;
        done.push(output.new);
    }
    Ok(complete_all(done)?)
}

fn check(file: &Path) -> Result<(), Failure> {
    let sidecar = restore_file(file, &mut std::io::sink(), &|e| Error::Internal(e.to_string()))?;
    tell::text(&format!("{}: {}. All is as it should be.\n", file.display(), words(&sidecar)));
    Ok(())
}

/// Writes what was blocked in `file` to `out`.
fn restore_file(file: &Path, out: &mut dyn Write, failed: &dyn Fn(std::io::Error) -> Error) -> Result<Sidecar, Error> {
    let Some(sidecar) = Sidecar::of(file)? else {
        let what = format!("it is not blocked, for there is no {}", Sidecar::path(file).display());
        return Err(InputError::new(file, what).into());
    };
    let lane = OpenLane::open(&LaneSpec { files: vec![file.to_owned()], interleaved: false })?;
    let is_bgzf = is_bgzf(file)?;
    if is_bgzf != (sidecar.coding == Coding::Bgzf) {
        let is = if is_bgzf { "BGZF" } else { "not BGZF" };
        let what = format!("it is {is}, but its description says otherwise: it was changed after it was blocked");
        return Err(InputError::new(file, what).into());
    }
    for text in lane.into_texts()? {
        restore(file, text, &sidecar, out, failed)?;
    }
    Ok(sidecar)
}

/// Whether a file is BGZF, by how it begins.
fn is_bgzf(file: &Path) -> Result<bool, InputError> {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_FRAME).read_to_end(&mut start));
    read.map_err(|error| InputError::new(file, format!("cannot read: {error}")))?;
    Ok(zerohop_bgzf::frame(&start).is_some())
}

fn unwritten(path: &Path, source: std::io::Error) -> Error {
    Error::Output { path: path.to_owned(), source }
}

/// A file, and what compresses it.
struct BlockOutput {
    new: NewFile,
    compressor: Option<BlockCompressor>,
}

impl BlockOutput {
    fn create(path: &Path, args: &BlockArgs) -> Result<Self, WriteError> {
        let compressed = args.bgzf || path.extension().is_some_and(|end| end == "gz" || end == "bgz");
        let compressor = compressed.then(|| BlockCompressor::new(args.level));
        Ok(BlockOutput { new: NewFile::create(path)?, compressor })
    }

    /// Lets `write` write to the file; it is given a compressor if the file shall be compressed.
    fn write<T>(
        &mut self,
        write: impl FnOnce(&mut dyn Write, Option<&mut Compress<'_>>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut out = BufWriter::with_capacity(1 << 20, self.new.file());
        let written = match &mut self.compressor {
            None => write(&mut out, None),
            Some(compressor) => {
                write(&mut out, Some(&mut |data: &[u8], packed: &mut Vec<u8>| compressor.compress(data, packed)))
            }
        }?;
        out.flush().map_err(|e| unwritten(self.new.path(), e))?;
        Ok(written)
    }
}

/// Compresses what is written, some members at a time.
struct Packing<'a, 'c> {
    out: &'a mut dyn Write,
    compress: &'a mut Compress<'c>,
    data: Vec<u8>,
}

impl Packing<'_, '_> {
    fn put(&mut self) -> std::io::Result<()> {
        let mut packed = Vec::new();
        (self.compress)(&self.data, &mut packed).map_err(std::io::Error::other)?;
        self.data.clear();
        self.out.write_all(&packed)
    }

    fn end(mut self) -> std::io::Result<()> {
        self.put()?;
        self.out.write_all(&zerohop_bgzf::END_MARKER)
    }
}

impl Write for Packing<'_, '_> {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.data.extend_from_slice(data);
        if self.data.len() >= 16 * zerohop_bgzf::BLOCK_DATA {
            let rest = self.data.split_off(self.data.len() / zerohop_bgzf::BLOCK_DATA * zerohop_bgzf::BLOCK_DATA);
            self.put()?;
            self.data = rest;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;

    #[test]
    fn a_file_without_reads_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let (reads, output) = (folder.path().join("r.fq"), folder.path().join("b.fq"));
        std::fs::write(&reads, "").unwrap();
        let words = ["zerohop-lab", "block", "-o"].map(Into::into);
        let args = Args::parse_from(words.into_iter().chain([output.clone().into(), reads.into_os_string()]));
        let Command::Block(args) = args.command else { panic!("another command") };
        let told = run(&args).unwrap_err().to_string();
        assert!(told.contains("r.fq") && told.contains("it has no reads"), "{told}");
        assert!(!output.exists());
    }
}
