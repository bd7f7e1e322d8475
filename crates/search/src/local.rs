//! The unmodified program, on one part and one batch.

use crate::collect::{Sorter, collect};
use crate::database::{Database, Part};
use crate::error::SearchError;
use crate::fasta::Batch;
use crate::frame::Frame;
use crate::framing::Framing;
use crate::hit::Hit;
use crate::settings::Settings;
use crate::tool::{Run, Said, command, rewound, scratch_file};
use crate::warnings::Warnings;
use crate::written::{Fault, Lines, tabular};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zerohop_process::GIVEN_FDS;

/// The lines of a BLAST archive of which one stands before each E-value, the second where HSPs are linked (blastx). No
/// text in an archive can look so: it would double the quotes.
const EVALUE_LABELS: [&[u8]; 2] = [b"id str \"e_value\",", b"id str \"sum_e\","];

/// Memory of diamond for each letter of a block of the database, by its manual; 4.3 were measured on 19.6 million
/// letters. (BLAST maps the files of its database.)
const DIAMOND_BYTES_PER_LETTER: u64 = 6;

/// What was found of a batch in a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Queries that were searched; those that are not among the hits have none.
    pub queries: u32,
    /// What was found, sorted by [`Hit::order`].
    pub hits: Vec<Hit>,
    /// The lines of all hits.
    pub text: Vec<u8>,
    /// What stands between the hits of the batch, of whichever part they are: the same for all parts.
    pub frame: Frame,
}

impl Found {
    /// The lines of a hit.
    pub fn lines(&self, hit: &Hit) -> &[u8] {
        let start = hit.offset as usize;
        self.text.get(start..start + hit.bytes as usize).unwrap_or_default()
    }
}

/// How often a program is started that hangs.
const STARTS: usize = 3;

/// A search of a database, part by part.
#[derive(Debug, Clone)]
pub struct Search {
    database: Database,
    settings: Settings,
    framing: Framing,
    /// Programs that hung and were started again.
    restarts: Arc<AtomicU64>,
    /// How long a program may take for a batch in a part.
    time_limit: Option<Duration>,
    warnings: Arc<Mutex<Warnings>>,
}

impl Search {
    /// A search of `database`, which comments in the output call `name`.
    ///
    /// # Errors
    /// [`SearchError::Arguments`] for settings of another program; what its program says of columns that it does not
    /// know.
    pub fn new(database: Database, settings: Settings, name: &str) -> Result<Self, SearchError> {
        let (wanted, program) = (settings.program.name(), database.program().name());
        if wanted != program {
            return Err(SearchError::Arguments(format!(
                "The database is for {program} and cannot be searched by {wanted}."
            )));
        }
        let framing = Framing::new(&settings, &database, name)?;
        Ok(Search { database, settings, framing, restarts: Arc::default(), time_limit: None, warnings: Arc::default() })
    }

    /// What is searched.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// How it is searched.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Memory that the program takes for a part, in bytes, roughly.
    pub fn memory_bytes(&self) -> u64 {
        let parts = self.database.manifest().parts.iter();
        let of_part = |part: &Part| match self.settings.block_letters() {
            Some(block) => part.letters.min(block) * DIAMOND_BYTES_PER_LETTER,
            None => part.files.iter().map(|file| file.bytes).sum(),
        };
        parts.map(of_part).max().unwrap_or(0)
    }

    /// The same with so many threads for the program; programs that hang are counted together.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.settings = self.settings.with_threads(threads);
        self
    }

    /// The same with a limit for the time that a program may take for a batch in a part; none for no limit.
    pub fn with_time_limit(mut self, limit: Option<Duration>) -> Self {
        self.time_limit = limit;
        self
    }

    /// What programs that ended well wrote on standard error so far, a line each; no line comes twice.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).told()
    }

    /// How often a program hung, and was started again, so far.
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// Searches a part with a batch of queries. The program ends with the calling thread; one that hangs is started
    /// again, twice.
    ///
    /// # Errors
    /// [`SearchError::Failed`] if the program ends badly, [`SearchError::Idle`] if it hangs each time,
    /// [`SearchError::TooLong`] if it takes longer than it may, [`SearchError::Output`] if it writes what cannot be
    /// understood, [`SearchError::Arguments`] for a part that there is not.
    pub fn part(&self, part: usize, batch: &Batch) -> Result<Found, SearchError> {
        let path = self.database.part_path(part).ok_or_else(|| {
            SearchError::Arguments(format!(
                "There is no part {part}: the database has {} parts.",
                self.database.parts()
            ))
        })?;
        let mut queries = scratch_file(&self.settings.scratch)?;
        let is_blast = self.settings.program.is_blast();
        let text = if is_blast { in_ascii(&batch.text) } else { Cow::Borrowed(&*batch.text) };
        queries.write_all(&text).map_err(SearchError::system("queries cannot be written to a temporary file"))?;
        let sorter = Sorter {
            program: self.settings.program,
            // Of equals diamond takes the earlier first, BLAST the later.
            part: if is_blast { u32::MAX - part as u32 } else { part as u32 },
            letters: self.database.manifest().letters,
            scoring: self.settings.scoring,
        };
        let search = || match is_blast {
            true => self.blast(&path, rewound(&queries)?, batch, &sorter),
            false => self.diamond(&path, rewound(&queries)?, batch, &sorter),
        };
        let mut found = search();
        for _ in 1..STARTS {
            if !matches!(found, Err(SearchError::Idle { .. })) {
                break;
            }
            self.restarts.fetch_add(1, Ordering::Relaxed);
            found = search();
        }
        Ok(Found { queries: batch.queries() as u32, ..found? })
    }

    fn diamond(&self, part: &Path, queries: File, batch: &Batch, sorter: &Sorter) -> Result<Found, SearchError> {
        let fault = |fault: Fault| fault.of(sorter.program);
        let text = self.search(part, queries, Stdio::piped())?;
        let (alignments, frame) = self.framing.diamond(&text, batch, &self.settings).map_err(fault)?;
        let (hits, text) = collect(&alignments, None, sorter).map_err(fault)?;
        Ok(Found { hits, text, frame, queries: 0 })
    }

    fn blast(&self, part: &Path, queries: File, batch: &Batch, sorter: &Sorter) -> Result<Found, SearchError> {
        let fault = |fault: Fault| fault.of(sorter.program);
        let archive = scratch_file(&self.settings.scratch)?;
        self.search(part, queries, Stdio::from(rewound(&archive)?))?;
        let exact = archived_evalues(sorter.program.name(), rewound(&archive)?)?;
        let formatted = |arguments: Vec<String>| {
            let format = command("blast_formatter", arguments).stdin(rewound(&archive)?);
            // What it says on standard error is what the search has said before.
            self.run(format, Stdio::piped()).map(|said| said.output)
        };
        let keys = formatted(self.settings.format_keys())?;
        let lines = if self.settings.is_twofold() { Some(formatted(self.settings.format_lines())?) } else { None };
        let keys = Lines::new(&keys).map_err(fault)?;
        let mut alignments = tabular::alignments(keys, &self.settings.layout(), batch).map_err(fault)?;
        let frame = match &lines {
            Some(lines) => self.framing.blast(lines, &mut alignments, batch).map_err(fault)?,
            None => Frame::default(),
        };
        let (hits, text) = collect(&alignments, Some(&exact), sorter).map_err(fault)?;
        Ok(Found { hits, text, frame, queries: 0 })
    }

    /// Runs the program on a part.
    fn search(&self, part: &Path, queries: File, out: Stdio) -> Result<Vec<u8>, SearchError> {
        let part = if self.is_given_folder() { given(part) } else { part.to_owned() };
        let arguments = self.settings.search(&part, self.database.manifest().letters);
        let search = command(self.settings.program.name(), arguments).stdin(queries);
        let said = self.run(search, out)?;
        let name = self.settings.program.name();
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).add(name, &said.words);
        Ok(said.output)
    }

    /// Whether BLAST's programs get the database's folder as a descriptor: they write the database's path into the
    /// archive, and find it there again only if it is ASCII.
    fn is_given_folder(&self) -> bool {
        self.settings.program.is_blast() && !self.database.folder.as_os_str().is_ascii()
    }

    /// Runs the program, or one that belongs to it.
    fn run(&self, program: zerohop_process::ChildProgram, out: Stdio) -> Result<Said, SearchError> {
        let folder = &self.database.folder;
        let open = || Ok(OwnedFd::from(File::open(folder).map_err(SearchError::file("opened", folder))?));
        let folder = self.is_given_folder().then(open).transpose()?;
        let run = Run::new(program).to(out).within(self.time_limit).given(folder.into_iter().collect());
        run.said()
    }
}

/// The path of a part within the folder that a program is given as its first descriptor.
fn given(part: &Path) -> PathBuf {
    Path::new(GIVEN_FDS[0]).join(part.file_name().unwrap_or_default())
}

/// Queries as BLAST's archive can hold them; it would complain of each letter of a header that is not ASCII, and take
/// `#` for it.
fn in_ascii(text: &[u8]) -> Cow<'_, [u8]> {
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => text.iter().map(|byte| if byte.is_ascii() { *byte } else { b'#' }).collect(),
    }
}

/// The E-values in a BLAST archive, in the order of the tabular lines that are made of it.
fn archived_evalues(program: &str, archive: File) -> Result<Vec<f64>, SearchError> {
    let (mut values, mut is_next) = (Vec::new(), false);
    for (number, line) in BufReader::new(archive).split(b'\n').enumerate() {
        let line = line.map_err(SearchError::system("the archive of a search cannot be read"))?;
        if is_next {
            let text = String::from_utf8_lossy(&line);
            let value = real(&text).ok_or_else(|| SearchError::Output {
                program: program.to_owned(),
                line: number as u64 + 1,
                what: format!("'{}' is no E-value of an archive", text.trim()),
            })?;
            values.push(value);
        }
        is_next = EVALUE_LABELS.contains(&line.trim_ascii());
    }
    Ok(values)
}

/// A number as ASN.1 writes it: `value real { 170447753288451, 10, -14 }`, mantissa, base and exponent; zero is `value
/// real 0`.
fn real(line: &str) -> Option<f64> {
    let number = line.trim().strip_prefix("value real ")?;
    let Some(inside) = number.strip_prefix('{') else { return number.trim_end_matches(',').parse().ok() };
    let mut parts = inside.split('}').next()?.split(',').map(str::trim);
    let (mantissa, base, exponent) = (parts.next()?, parts.next()?, parts.next()?);
    if base == "10" { format!("{mantissa}e{exponent}").parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_of_an_archive() {
        assert_eq!(real("   value real { 170447753288451, 10, -14 }"), Some(1.70447753288451));
        assert_eq!(real("value real { 5, 10, -324 }"), Some(5e-324));
        assert_eq!(real("value real 0"), Some(0.0));
        assert_eq!(real("value real { 1, 2, 3 }"), None);
        assert_eq!(real("value int 4"), None);
    }
}
