//! SAM and CRAM as BAM: another process reads them ([`crate::convert`]), and writes what a reader of BAM takes.

use crate::convert::{ReadReference, convert};
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_process::{ChildProgram, RunningChild, own_program};

/// The word that starts this program as the one that converts; the path of a reference may follow.
const CONVERTER: &str = "sam-to-bam";

/// Whether this program knows what to do when it is started so.
static PREPARED: AtomicBool = AtomicBool::new(false);

/// Converts, and ends, if this program was started for that. A program that reads SAM or CRAM begins with this. `read`
/// reads the reference at a path, in capital letters.
pub fn convert_if_asked(read: ReadReference) {
    PREPARED.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == CONVERTER) {
        let converted = convert(arguments.next().as_deref().map(Path::new), read);
        std::process::exit(converted.is_err().into());
    }
}

/// Text that is not SAM or CRAM, or damaged; in words for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(String);

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Reads SAM or CRAM (`text`), and gives BAM in blocks of BGZF that are not compressed. `reference` is a FASTA file,
/// for CRAM of aligned reads, which needs it. A process does the work, and two threads wait for it; they end when the
/// text ends, or when nobody reads what comes of it any more and the text is not waited for.
///
/// # Errors
/// A system that gives no pipe or thread; a program that does not begin with [`convert_if_asked`]. What is wrong with
/// the text, reading says: an error that holds an [`Unreadable`].
pub fn as_bam(mut text: impl Read + Send + 'static, reference: Option<PathBuf>) -> io::Result<impl Read + Send> {
    if !PREPARED.load(Ordering::Relaxed) {
        let words = "SAM and CRAM need a program that begins with zerohop_align::prepare()";
        return Err(io::Error::new(io::ErrorKind::Unsupported, words));
    }
    let ((from_text, mut to_converter), (bam, from_converter)) = (io::pipe()?, io::pipe()?);
    let own = from_converter.try_clone()?;
    let failure = Arc::new(Mutex::new(None));
    let [of_text, of_records] = [(); 2].map(|()| ThreadFailure(Arc::clone(&failure)));
    // Neither is joined: the first may be blocked in a read that never comes back, and the second waits for it.
    std::thread::Builder::new().name("sam".into()).spawn(move || {
        let copied = io::copy(&mut text, &mut to_converter);
        // Where the converter has stopped to read, it says why.
        copied.map(drop).or_else(but_closed).unwrap_or_else(|error| of_text.set(error));
    })?;
    // It lives as long as the process, which is killed with it.
    std::thread::Builder::new().name("converter".into()).spawn(move || {
        run(from_text, own, reference).unwrap_or_else(|error| of_records.set(error));
        // Only now may the reader see an end.
        drop(from_converter);
    })?;
    Ok(Bam { bam, failure })
}

/// Runs the process to its end.
fn run(text: PipeReader, bam: PipeWriter, reference: Option<PathBuf>) -> io::Result<()> {
    let words = [OsString::from(CONVERTER)].into_iter().chain(reference.map(OsString::from));
    let program = ChildProgram::new(own_program()?).args(words).stdin(text).stdout(bam).stderr(Stdio::piped());
    let cannot = |e| unreadable(format!("the process that reads SAM and CRAM cannot be run: {e}"));
    let (status, said) = program.start().and_then(said_at_end).map_err(cannot)?;
    match status.success() {
        true => Ok(()),
        false => Err(unreadable(if said.is_empty() { crashed(status) } else { said })),
    }
}

/// How a process ended, and what it said until then.
fn said_at_end(mut child: RunningChild) -> io::Result<(ExitStatus, String)> {
    let mut said = Vec::new();
    if let Some(mut stderr) = child.take_stderr() {
        stderr.read_to_end(&mut said)?;
    }
    Ok((child.wait()?, String::from_utf8_lossy(&said).into_owned()))
}

/// What to say of a process that could not say anything.
fn crashed(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!(
            "the process that read it was killed by signal {signal}: the file is damaged, or made to do harm (which it \
             could not do there), or memory was short: get the file again, or convert it to BAM with 'samtools view -b'"
        ),
        None => format!("the process that read it failed ({status})"),
    }
}

fn unreadable(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Unreadable(what))
}

fn but_closed(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// What went wrong in a thread; the first counts. It is set before the pipe that the thread writes to is closed.
struct ThreadFailure(Arc<Mutex<Option<io::Error>>>);

impl ThreadFailure {
    fn set(&self, error: io::Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// BAM as it comes.
struct Bam {
    bam: PipeReader,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Read for Bam {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bam.read(buffer)?;
        if bytes == 0
            && !buffer.is_empty()
            && let Some(error) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            return Err(error);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_process_is_told() {
        let ended = |status: i32| crashed(ExitStatus::from_raw(status));
        assert!(
            ended(11).starts_with(
                "the process that read it was killed by signal 11: the file is damaged, or made to do harm"
            )
        );
        assert!(ended(101 << 8).contains("exit status: 101"));
    }

    #[test]
    fn a_program_that_cannot_read_says_so() {
        let error = as_bam(io::empty(), None).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("SAM and CRAM need a program that begins with zerohop_align::prepare()"));
    }
}
