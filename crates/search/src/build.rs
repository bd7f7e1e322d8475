//! The making of a database.

use crate::check;
use crate::cuts::{Costs, Cuts};
use crate::database::{Database, Digesting, FORM, FileEntry, MANIFEST, Manifest, Part, Pilot, file_entry};
use crate::error::SearchError;
use crate::fasta::{FastaReader, Record, is_stream};
use crate::names::Names;
use crate::program::{Installed, Program};
use crate::tool::{Run, command, run};
use crate::trial::{self, Outcome, Trial};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_process::{Charge, charge, give_name};

/// How much of a file is written at a time, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Tells how long a part of a database is searched for typical queries.
pub trait Sampling {
    /// The file with the queries.
    fn queries(&self) -> FileEntry;

    /// Threads of the program.
    fn threads(&self) -> usize;

    /// Searches a part once.
    ///
    /// # Errors
    /// What goes wrong in the search.
    fn time(&mut self, database: &Database, part: usize) -> Result<Duration, SearchError>;
}

/// Makes a database of a FASTA file, in a folder that is not there yet; `tell` hears what is being done, and `reaping`
/// clears away if we are killed. Its parts have equal letters; with a sample of queries, equal search times, if these
/// can be told.
///
/// # Errors
/// [`SearchError::Fasta`] and [`SearchError::Build`] for a file of which no such database can be made,
/// [`SearchError::NotFound`] and [`SearchError::Failed`] if its program is missing or fails. Nothing is left then.
pub fn build(
    fasta: &Path,
    parts: usize,
    program: Program,
    folder: &Path,
    sampling: Option<&mut dyn Sampling>,
    tell: &dyn Fn(&str),
) -> Result<Database, SearchError> {
    let fail = |what: String| SearchError::Build { file: fasta.to_owned(), what };
    if folder.exists() {
        return Err(fail(format!("{} is there already; remove it or choose another name", folder.display())));
    }
    if is_stream(fasta) {
        return Err(fail("it is not a regular file, and it is read twice; give a file".to_owned()));
    }
    let version = Installed::find(program)?.version;
    // Beside its final place, so that renaming is one step.
    let beside = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = beside.canonicalize().map_err(SearchError::file("found", beside))?;
    tell("counting letters");
    let source = BuildSource::survey(fasta, program, &beside)?;
    if parts == 0 || parts as u64 > source.sequences {
        return Err(fail(format!("{} sequences cannot be cut into {parts} parts; take fewer", source.sequences)));
    }
    // Removed when dropped.
    let temporary = tempfile::Builder::new()
        .prefix(".zerohop-db-")
        .tempdir_in(&beside)
        .map_err(SearchError::file("written to", &beside))?;
    let cannot = SearchError::system("the database cannot be begun");
    let _charged = charge(Charge::folder(temporary.path())).map_err(cannot)?;
    let making = Making { fasta, program, source: &source, folder: temporary.path(), tell };
    let manifest = Manifest {
        form: FORM,
        program,
        version,
        source: source.entry.clone(),
        sequences: source.sequences,
        letters: source.letters,
        parts: making.parts(&Cuts::equal(source.letters, parts))?,
        pilot: None,
    };
    let mut database = Database { folder: temporary.path().to_owned(), manifest };
    if let Some(sampling) = sampling {
        making.try_out(&mut database, sampling)?;
    }
    let text = serde_json::to_vec_pretty(database.manifest())
        .map_err(|e| fail(format!("its manifest cannot be written: {e}")))?;
    let path = temporary.path().join(MANIFEST);
    let write = || {
        let mut file = File::create(&path)?;
        file.write_all(&text)?;
        file.sync_all()
    };
    write().map_err(SearchError::file("written", &path))?;
    readable_by_all(temporary.path())?;
    give_name(temporary.path(), folder).map_err(SearchError::file("renamed", temporary.path()))?;
    Database::open(folder)
}

/// A database that is being made.
struct Making<'m> {
    fasta: &'m Path,
    program: Program,
    source: &'m BuildSource,
    folder: &'m Path,
    tell: &'m dyn Fn(&str),
}

impl Making<'_> {
    fn fail(&self, what: String) -> SearchError {
        SearchError::Build { file: self.fasta.to_owned(), what }
    }

    /// Writes and formats the parts.
    fn parts(&self, cuts: &Cuts) -> Result<Vec<Part>, SearchError> {
        (self.tell)("writing parts");
        let counts = write_parts(self.fasta, self.source, cuts, self.folder)?;
        let parts = counts.len();
        let mut made = Vec::with_capacity(parts);
        let mut first = 0;
        for (part, &(sequences, letters)) in counts.iter().enumerate() {
            (self.tell)(&format!("formatting part {} of {parts}", part + 1));
            if sequences == 0 {
                let part = part + 1;
                return Err(
                    self.fail(format!("part {part} of {parts} would be empty, for a long sequence; take fewer"))
                );
            }
            let name = format_part(self, part)?;
            let counted = counted(self.program, self.folder, Path::new(&name))?;
            if counted != (sequences, letters) {
                let (theirs, their_letters) = counted;
                return Err(self.fail(format!(
                    "of the {sequences} sequences with {letters} letters in part {}, {} took {theirs} with \
                     {their_letters}; \
                     take out gaps ('-') and what else is no sequence",
                    part + 1,
                    self.program.name(),
                )));
            }
            let files = part_files(self.folder, &volume_name(part))?;
            made.push(Part { name, first, sequences, letters, files });
            first += sequences;
        }
        Ok(made)
    }

    /// Tries the parts out, and cuts the database anew if that tells where.
    fn try_out(&self, database: &mut Database, sampling: &mut dyn Sampling) -> Result<(), SearchError> {
        let parts = database.parts();
        (self.tell)("trying parts of equal letters");
        let equal = trial::measure(parts, &mut |part| sampling.time(database, part))?;
        let mut trial = Trial { outcome: trial::outcome(&equal), equal, predicted: Vec::new(), measured: Vec::new() };
        if trial.outcome == Outcome::Moved {
            let times = trial.equal.iter().map(|times| times.median);
            let costs = Costs::new(database.manifest.parts.iter().map(|part| part.letters).zip(times).collect());
            for entry in database.manifest.parts.iter().flat_map(|part| &part.files) {
                let path = self.folder.join(&entry.name);
                std::fs::remove_file(&path).map_err(SearchError::file("removed", &path))?;
            }
            database.manifest.parts = self.parts(&costs.cuts(parts))?;
            trial.predicted = costs.of(database.manifest.parts.iter().map(|part| part.letters));
            (self.tell)("trying parts of equal time");
            trial.measured = trial::measure(parts, &mut |part| sampling.time(database, part))?;
        }
        let (queries, threads) = (sampling.queries(), sampling.threads());
        database.manifest.pilot = Some(Pilot { queries, threads, trial });
        Ok(())
    }
}

/// What a pass over the source tells.
struct BuildSource {
    entry: FileEntry,
    sequences: u64,
    letters: u64,
}

impl BuildSource {
    /// Reads all of it; temporary files go to `folder`.
    fn survey(fasta: &Path, program: Program, folder: &Path) -> Result<Self, SearchError> {
        let file = File::open(fasta).map_err(SearchError::file("opened", fasta))?;
        let mut read = Digesting::new(file);
        let mut reader = check::subjects(FastaReader::inflate(&mut read, fasta)?, program);
        let (mut record, mut names) = (Record::default(), Names::new(folder));
        let (mut sequences, mut letters) = (0, 0);
        while reader.next(&mut record)? {
            names.add(record.name())?;
            sequences += 1;
            letters += record.letters;
        }
        drop(reader);
        if let Some((one, other)) = names.twice()? {
            let name = name_of(fasta, other)?;
            let what = format!(
                "records {one} and {other} are both named {name}, and their hits could not be told apart; rename one, \
                 or take it out"
            );
            return Err(SearchError::Build { file: fasta.to_owned(), what });
        }
        let entry = read.entry(fasta.to_string_lossy().into_owned());
        Ok(BuildSource { entry, sequences, letters })
    }
}

/// The name of a record, by its number from 1.
fn name_of(fasta: &Path, number: u64) -> Result<String, SearchError> {
    let (mut reader, mut record) = (FastaReader::open(fasta)?, Record::default());
    for _ in 0..number {
        reader.next(&mut record)?;
    }
    Ok(String::from_utf8_lossy(record.name()).into_owned())
}

/// Writes the FASTA of each part and gives its sequences and letters.
fn write_parts(fasta: &Path, source: &BuildSource, cuts: &Cuts, folder: &Path) -> Result<Vec<(u64, u64)>, SearchError> {
    let mut reader = FastaReader::open(fasta)?;
    let (mut record, mut counts, mut before) = (Record::default(), vec![(0, 0); cuts.parts()], 0);
    let mut open: Option<(usize, PathBuf, BufWriter<File>)> = None;
    let mut sequences = 0;
    while reader.next(&mut record)? {
        let part = cuts.part_of(before, record.letters);
        let out = match open.take() {
            Some(out) if out.0 == part => out,
            last => {
                close(last)?;
                let path = folder.join(fasta_name(part));
                let file = File::create(&path).map_err(SearchError::file("written", &path))?;
                (part, path, BufWriter::with_capacity(BUFFER_BYTES, file))
            }
        };
        let (_, path, writer) = open.insert(out);
        writer.write_all(&record.text).map_err(SearchError::file("written", path))?;
        let count: &mut (u64, u64) = &mut counts[part];
        *count = (count.0 + 1, count.1 + record.letters);
        before += record.letters;
        sequences += 1;
    }
    close(open)?;
    if (sequences, before) != (source.sequences, source.letters) {
        let what = "it was changed while it was read".to_owned();
        return Err(SearchError::Build { file: fasta.to_owned(), what });
    }
    Ok(counts)
}

fn close(open: Option<(usize, PathBuf, BufWriter<File>)>) -> Result<(), SearchError> {
    match open {
        Some((_, path, mut writer)) => writer.flush().map_err(SearchError::file("written", &path)),
        None => Ok(()),
    }
}

fn fasta_name(part: usize) -> String {
    format!("{}.fa", volume_name(part))
}

/// What all files of a part begin with.
fn volume_name(part: usize) -> String {
    format!("part-{part:04}")
}

/// Formats a part, removes its FASTA, and gives the name that the program is told.
fn format_part(making: &Making<'_>, part: usize) -> Result<String, SearchError> {
    let Making { program, folder, source, .. } = *making;
    let (fasta, volume) = (fasta_name(part), volume_name(part));
    let arguments: Vec<&str> = match (program.is_blast(), program.has_nucleotides()) {
        (false, _) => vec!["makedb", "--quiet", "--threads", "1", "--in", &fasta, "--db", &volume],
        (true, false) => vec!["-dbtype", "prot", "-in", &fasta, "-out", &volume],
        (true, true) => vec!["-dbtype", "nucl", "-in", &fasta, "-out", &volume],
    };
    let maker = command(if program.is_blast() { "makeblastdb" } else { "diamond" }, arguments).current_dir(folder);
    Run::new(maker).said()?;
    let path = folder.join(&fasta);
    std::fs::remove_file(&path).map_err(SearchError::file("removed", &path))?;
    if !program.is_blast() {
        return Ok(volume);
    }
    let name = format!("{volume}-of-whole");
    let alias = folder.join(format!("{name}.{}", if program.has_nucleotides() { "nal" } else { "pal" }));
    let (sequences, letters) = (source.sequences, source.letters);
    let text = format!("TITLE {name}\nDBLIST {volume}\nSTATS_NSEQ {sequences}\nSTATS_TOTLEN {letters}\n");
    std::fs::write(&alias, text).map_err(SearchError::file("written", &alias))?;
    Ok(name)
}

/// How many sequences and letters the program itself finds in a part.
fn counted(program: Program, folder: &Path, part: &Path) -> Result<(u64, u64), SearchError> {
    let part = part.to_string_lossy();
    let (name, arguments) = match program.is_blast() {
        true => (
            "blastdbcmd",
            vec!["-db", &*part, "-dbtype", if program.has_nucleotides() { "nucl" } else { "prot" }, "-info"],
        ),
        false => ("diamond", vec!["dbinfo", "--quiet", "--db", &*part]),
    };
    let said = run(command(name, arguments).current_dir(folder))?;
    let said = String::from_utf8_lossy(&said);
    // "	55,398 sequences; 19,581,084 total residues"; or lines "Sequences  55398" and "Letters  19581084".
    let number = |word: &str| word.replace(',', "").parse::<u64>().ok();
    let words: Vec<&str> = said.split_whitespace().collect();
    let beside = |label: &str, before: bool| {
        let at = words.iter().position(|word| *word == label)?;
        number(words.get(if before { at.checked_sub(1)? } else { at + 1 })?)
    };
    let counts = match program.is_blast() {
        true => beside("sequences;", true).zip(beside("total", true)),
        false => beside("Sequences", false).zip(beside("Letters", false)),
    };
    let misunderstood = || SearchError::Failed { program: name.to_owned(), what: format!("said of a part:\n{said}") };
    counts.ok_or_else(misunderstood)
}

/// The files of a part, by name.
fn part_files(folder: &Path, volume: &str) -> Result<Vec<FileEntry>, SearchError> {
    let fault = || SearchError::file("listed", folder);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault())? {
        let entry = entry.map_err(fault())?;
        let name = entry.file_name();
        let ending = name.to_string_lossy().strip_prefix(volume).map(|rest| rest.starts_with(['.', '-']));
        if ending == Some(true) {
            files.push(file_entry(&entry.path())?);
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Temporary folders are for their owner alone; a database is as open as any folder that the user makes.
fn readable_by_all(folder: &Path) -> Result<(), SearchError> {
    use std::os::unix::fs::PermissionsExt;
    /// The umask cannot be asked without changing it; this is the usual one.
    const USUAL: u32 = 0o755;
    let usual = std::fs::Permissions::from_mode(USUAL);
    std::fs::set_permissions(folder, usual).map_err(SearchError::file("opened to others", folder))
}
