//! How a database is searched: the command line of a program, and what a user may not ask of it.

use crate::error::SearchError;
use crate::format::Format;
use crate::options::{Given, parse, value};
use crate::program::Program;
use crate::scoring::Scoring;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use zerohop_process::STDIN;

/// What diamond is always told. Its ranking gives up on subjects by what else is in the part. Its guess that a
/// sequence of the letters ACGTN is DNA is made for the first ten of a batch: of all queries together it is made here
/// ([`crate::check`]).
const DIAMOND_ALWAYS: [&str; 2] = ["--no-ranking", "--ignore-warnings"];

/// From so many subjects on BLAST has as many candidates more as it has at least.
const BLAST_LEAST_SUBJECTS: u32 = 50;

/// diamond's `--block-size` if it is not told.
const DIAMOND_BLOCK_BILLIONS: f64 = 2.0;

/// What BLAST reads as false (`NStr::StringToBool`), in small letters.
const BLAST_FALSE: [&str; 5] = ["false", "f", "no", "n", "0"];

/// The columns that a program is asked for: the user's, and behind them ours, which are cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// All of them.
    pub(crate) columns: Vec<String>,
    /// How many are the user's.
    pub(crate) kept: usize,
    /// Where those are that the merge needs: query, subject, E-value, score; with diamond the lengths of both.
    pub(crate) own: Vec<usize>,
}

/// How a database is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The program.
    pub program: Program,
    /// The form of the output.
    pub format: Format,
    /// The columns of the output, one by one, where its form has any.
    pub columns: Vec<String>,
    /// How many subjects of a query are kept; all if there is none.
    pub max_target_seqs: Option<u32>,
    /// Threads of the program.
    pub threads: usize,
    /// Where it may put temporary files.
    pub scratch: PathBuf,
    /// By which diamond computes E-values.
    pub(crate) scoring: Option<Scoring>,
    /// The user's arguments for the program, option by option.
    given: Vec<Given>,
    /// The same, as they are passed on.
    arguments: Vec<String>,
}

impl Settings {
    /// The program's own settings, but for the user's `arguments`.
    ///
    /// # Errors
    /// [`SearchError::Arguments`] for an option that a user may not give.
    pub fn new(program: Program, arguments: Vec<String>) -> Result<Self, SearchError> {
        let given = parse(program, &arguments)?;
        if value(&given, "-max_hsps").is_some() && links(program, &given) {
            return Err(SearchError::Arguments(format!(
                "-max_hsps cannot be given to {} where it links alignments (-sum_stats true): it sorts subjects by \
                 alignments that it then leaves out, so parts would give other subjects in another order. Leave out \
                 -max_hsps, or add -sum_stats false.",
                program.name()
            )));
        }
        let scoring = if program.is_blast() { None } else { Some(scoring(&given)?) };
        Ok(Settings {
            program,
            format: Format::default(),
            columns: program.standard().collect(),
            max_target_seqs: Some(program.usual_max_target_seqs()),
            threads: 1,
            scratch: std::env::temp_dir(),
            scoring,
            given,
            arguments,
        })
    }

    /// With another form of the output.
    ///
    /// # Errors
    /// [`SearchError::Arguments`] for one that is not to be had of the program.
    pub fn with_format(mut self, format: Format) -> Result<Self, SearchError> {
        if let Some(why) = self.program.lacks(format) {
            let name = self.program.name();
            return Err(SearchError::Arguments(format!("The format {format} is not to be had of {name}: {why}.")));
        }
        self.format = format;
        Ok(self)
    }

    /// With other columns, named with blanks between them as the program names them; `std` is the usual twelve.
    ///
    /// # Errors
    /// [`SearchError::Arguments`] for what cannot be a column.
    pub fn with_columns(mut self, columns: &str) -> Result<Self, SearchError> {
        self.columns.clear();
        for word in columns.split_whitespace() {
            if let Some(why) = self.program.lacks_column(word) {
                let name = self.program.name();
                return Err(SearchError::Arguments(format!("The column {word} is not to be had of {name}: {why}.")));
            }
            match word {
                "std" => self.columns.extend(self.program.standard()),
                _ if word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => self.columns.push(word.to_owned()),
                _ => return Err(SearchError::Arguments(format!("'{word}' is not the name of a column."))),
            }
        }
        match self.columns.is_empty() {
            true => Err(SearchError::Arguments("There must be a column at least.".to_owned())),
            false => Ok(self),
        }
    }

    /// With another number of subjects per query; none for all of them.
    ///
    /// # Errors
    /// [`SearchError::Arguments`] for 0, and with BLAST for no limit, or one with which it loses subjects.
    pub fn with_max_target_seqs(mut self, limit: Option<u32>) -> Result<Self, SearchError> {
        if limit == Some(0) {
            return Err(SearchError::Arguments("At least one subject per query must be kept.".to_owned()));
        }
        if limit.is_none() && self.program.is_blast() {
            let name = self.program.name();
            return Err(SearchError::Arguments(format!(
                "{name} cannot keep all subjects; say how many it shall keep."
            )));
        }
        if limit.is_some_and(|limit| limit < BLAST_LEAST_SUBJECTS) && self.loses_subjects() {
            return Err(SearchError::Arguments(format!(
                "{name} with -k below {BLAST_LEAST_SUBJECTS} loses subjects that are better than some it gives (its \
                 list of candidates is twice as long as -k), and parts would not lose the same: search with -k \
                 {BLAST_LEAST_SUBJECTS} or more, and take the first ones of each query.",
                name = self.program.name()
            )));
        }
        self.max_target_seqs = limit;
        Ok(self)
    }

    /// Whether BLAST's list of candidates is only twice as long as that of the subjects it keeps, where these are few:
    /// without composition-based statistics (`GetPrelimHitlistSize` in its blast_hits.c).
    fn loses_subjects(&self) -> bool {
        let is_off = |mode: &str| mode.starts_with(['0', 'F', 'f']);
        self.program == Program::Blastn || value(&self.given, "-comp_based_stats").is_some_and(is_off)
    }

    /// With so many threads for the program.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// With temporary files in `folder`.
    pub fn with_scratch(mut self, folder: &Path) -> Self {
        self.scratch = folder.to_owned();
        self
    }

    /// Whether the user has told diamond to take proteins of the letters ACGTN alone.
    pub(crate) fn ignores_warnings(&self) -> bool {
        value(&self.given, "--ignore-warnings").is_some()
    }

    /// Letters of the database that diamond has in memory at a time; none with BLAST.
    pub(crate) fn block_letters(&self) -> Option<u64> {
        let billions = value(&self.given, "--block-size").and_then(|block| block.parse().ok());
        (!self.program.is_blast()).then(|| (billions.unwrap_or(DIAMOND_BLOCK_BILLIONS) * 1e9) as u64)
    }

    /// The arguments of `zerohop search` that decide about the output, for a database that is called `database`.
    pub(crate) fn invocation(&self, database: &str) -> String {
        let mut words = vec![format!("zerohop search --db {database} --format {} -k {}", self.format, self.limit())];
        if self.format.has_columns() {
            words.push(format!("--columns '{}'", self.columns.join(" ")));
        }
        if !self.arguments.is_empty() {
            words.push(format!("--engine-args '{}'", self.arguments.join(" ")));
        }
        words.join(" ")
    }

    /// Whether the user's lines are made beside ours.
    pub(crate) fn is_twofold(&self) -> bool {
        self.program.is_blast() && self.format != Format::Tabular
    }

    /// The columns that the program is asked for. BLAST leaves out a column that it is asked for again, so ours are
    /// then the user's.
    pub(crate) fn layout(&self) -> Layout {
        let is_blast = self.program.is_blast();
        let mut columns: Vec<String> = Vec::new();
        let asked = if self.is_twofold() { &[] } else { &*self.columns };
        for column in asked {
            if !is_blast || !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        let kept = columns.len();
        let mut own = Vec::new();
        for &column in self.program.own_columns() {
            let there = columns.iter().position(|other| other == column).filter(|_| is_blast);
            own.push(there.unwrap_or(columns.len()));
            if there.is_none() {
                columns.push(column.to_owned());
            }
        }
        Layout { columns, kept, own }
    }

    /// The arguments for a search of the database at `part`, with queries on standard input.
    ///
    /// diamond writes its lines, BLAST its archive, in which E-values have all their digits.
    pub(crate) fn search(&self, part: &Path, letters: u64) -> Vec<OsString> {
        // Names of files are bytes, and need not be text.
        let words = |words: &[&dyn AsRef<OsStr>]| words.iter().map(|word| word.as_ref().to_owned()).collect::<Vec<_>>();
        let (threads, limit) = (self.threads.to_string(), self.limit());
        let mut line = match self.program.is_blast() {
            false => {
                let letters = letters.to_string();
                // diamond 2.1.3 crashes when it reads standard input as such, but not when it opens it. Which of its
                // two algorithms it takes would depend on the machine's cache and on the letters of a part.
                let mut line = words(&[&"blastp", &"--quiet", &"-d", &part, &"-q", &STDIN]);
                line.extend(DIAMOND_ALWAYS.map(OsString::from));
                line.extend(words(&[&"--dbsize", &letters, &"-p", &threads, &"-t", &self.scratch, &"-k", &limit]));
                if value(&self.given, "--algo").is_none() {
                    line.extend(words(&[&"--algo", &"0"]));
                }
                line
            }
            true => {
                let part = quoted(part.as_os_str());
                words(&[&"-db", &part, &"-num_threads", &threads, &"-outfmt", &"11", &"-max_target_seqs", &limit])
            }
        };
        line.extend(self.arguments.iter().map(OsString::from));
        if !self.program.is_blast() {
            line.extend(self.diamond_format().into_iter().map(OsString::from));
        }
        line
    }

    fn diamond_format(&self) -> Vec<String> {
        let words = match self.format {
            Format::Headed => "--header simple -f 6",
            Format::Commented => "--header verbose -f 6",
            Format::Sam => "-f 101",
            Format::Pairwise => "-f 0",
            Format::Tabular | Format::Csv => "-f 6",
        };
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        if self.format.has_columns() {
            // They go on to the next option, or to the end.
            words.extend(self.layout().columns);
        }
        words
    }

    /// The arguments with which `blast_formatter` makes tabular lines of an archive on its standard input.
    pub(crate) fn format_keys(&self) -> Vec<String> {
        self.formatter(&format!("6 {}", self.layout().columns.join(" ")))
    }

    /// The arguments with which it makes the user's lines.
    pub(crate) fn format_lines(&self) -> Vec<String> {
        self.formatter(&self.blast_format())
    }

    /// BLAST's name of the user's format and columns.
    pub(crate) fn blast_format(&self) -> String {
        let number = if self.format == Format::Csv { 10 } else { 7 };
        format!("{number} {}", self.columns.join(" "))
    }

    fn formatter(&self, format: &str) -> Vec<String> {
        ["-archive", STDIN, "-max_target_seqs", &self.limit(), "-outfmt", format].map(str::to_owned).into()
    }

    /// To diamond 0 is no limit.
    fn limit(&self) -> String {
        self.max_target_seqs.unwrap_or(0).to_string()
    }
}

/// By which diamond computes E-values, with these options.
fn scoring(given: &[Given]) -> Result<Scoring, SearchError> {
    let cost = |name: &str| {
        let cost = value(given, name).map(str::parse::<u32>).transpose();
        cost.map_err(|_| SearchError::Arguments(format!("{name} of diamond must be a whole number of 0 or more.")))
    };
    let (open, extend) = (cost("--gapopen")?, cost("--gapextend")?);
    Scoring::of(value(given, "--matrix"), open, extend).map_err(|why| SearchError::Arguments(format!("{why}.")))
}

/// BLAST takes a path with blanks for several databases unless it is quoted.
fn quoted(path: &OsStr) -> OsString {
    match path.as_bytes().iter().any(u8::is_ascii_whitespace) {
        true => [OsStr::new("\""), path, OsStr::new("\"")].into_iter().collect(),
        false => path.to_owned(),
    }
}

/// Whether a program links alignments of a subject, and sorts subjects by the E-values of all that are linked.
fn links(program: Program, given: &[Given]) -> bool {
    match value(given, "-sum_stats") {
        Some(told) => program.is_blast() && !BLAST_FALSE.contains(&&*told.to_ascii_lowercase()),
        None => program == Program::Blastx,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_alignments_are_not_cut_off() {
        let told = |program, words: &str| {
            let words = words.split(' ').map(str::to_owned).collect();
            Settings::new(program, words).err().map(|error| error.to_string())
        };
        for (program, words) in [
            (Program::Blastx, "-max_hsps 1"),
            (Program::Blastx, "--max_hsps=1 -evalue 1"),
            (Program::Blastx, "-sum_stats false -max_hsps 1 -sum_stats true"),
            (Program::Blastn, "-max_hsps 1 -sum_stats T"),
        ] {
            let told = told(program, words);
            assert!(told.is_some_and(|told| told.starts_with("-max_hsps cannot be given to blast")), "{words}");
        }
        for (program, words) in [
            (Program::Blastx, "-max_hsps 1 -sum_stats False"),
            (Program::Blastx, "-sum_stats true"),
            (Program::Blastn, "-max_hsps 1"),
            (Program::Blastp, "-max_hsps 1"),
        ] {
            assert_eq!(told(program, words), None, "{words}");
        }
    }

    #[test]
    fn columns_are_names() {
        let settings = || Settings::new(Program::Blastp, Vec::new()).unwrap();
        assert_eq!(settings().with_columns("std qlen").unwrap().columns.len(), 13);
        assert!(settings().with_columns("6").is_err());
        let told = Settings::new(Program::Diamond, Vec::new()).unwrap().with_columns("std snum").unwrap_err();
        let words = "The column snum is not to be had of diamond: it is a number within a part of the database.";
        assert_eq!(told.to_string(), words);
        assert!(settings().with_columns(" ").is_err());
        assert!(settings().with_max_target_seqs(Some(0)).is_err());
        assert!(settings().with_max_target_seqs(None).is_err());
        let least = |program, words: &[&str], limit| {
            let words = words.iter().map(|&word| word.to_owned()).collect();
            Settings::new(program, words).unwrap().with_max_target_seqs(Some(limit)).map(|_| ())
        };
        let told = least(Program::Blastn, &[], 49).unwrap_err().to_string();
        assert!(told.starts_with("blastn with -k below 50 loses subjects"), "{told}");
        assert!(least(Program::Blastx, &["-comp_based_stats", "F"], 3).is_err());
        assert!(least(Program::Blastx, &["-comp_based_stats", "1"], 3).is_ok());
        assert!(least(Program::Blastn, &[], 50).is_ok());
    }

    #[test]
    fn blast_gives_a_column_once() {
        let layout = |program| {
            let settings = Settings::new(program, Vec::new()).unwrap().with_columns("evalue qlen evalue").unwrap();
            let layout = settings.layout();
            (layout.columns.join(" "), layout.kept, layout.own)
        };
        assert_eq!(layout(Program::Blastp), ("evalue qlen qseqid sseqid score".to_owned(), 2, vec![2, 3, 0, 4]));
        let all = "evalue qlen evalue qseqid sseqid evalue score qlen slen".to_owned();
        assert_eq!(layout(Program::Diamond), (all, 3, vec![3, 4, 5, 6, 7, 8]));
    }

    #[test]
    fn formats_are_of_some_programs() {
        for format in Format::ALL {
            assert!(Program::ALL.iter().any(|program| program.lacks(format).is_none()), "{format}");
        }
        let settings = |program: Program| {
            let word = if program.is_blast() { "-lcase_masking" } else { "-x9" };
            Settings::new(program, vec![word.to_owned()]).unwrap()
        };
        let told = settings(Program::Blastn).with_format(Format::Sam).unwrap_err().to_string();
        assert!(told.starts_with("The format sam is not to be had of blastn: its header lists"), "{told}");
        let commented = settings(Program::Blastp).with_format(Format::Commented).unwrap();
        let commented = commented.with_columns("evalue").unwrap();
        assert_eq!(commented.format_keys().last().unwrap(), "6 qseqid sseqid evalue score");
        assert_eq!(commented.format_lines().last().unwrap(), "7 evalue");
        let words = "zerohop search --db d --format commented -k 500 --columns 'evalue' --engine-args '-lcase_masking'";
        assert_eq!(commented.invocation("d"), words);
        let sam = settings(Program::Diamond).with_format(Format::Sam).unwrap();
        assert_eq!(sam.diamond_format(), ["-f", "101"]);
        assert_eq!(sam.invocation("d"), "zerohop search --db d --format sam -k 25 --engine-args '-x9'");
    }

    #[test]
    fn command_lines() {
        let line = |program, user: &[&str]| {
            let settings = Settings::new(program, user.iter().map(|&w| w.to_owned()).collect()).unwrap();
            let settings = settings.with_columns("qseqid").unwrap().with_scratch(Path::new("/s")).with_threads(2);
            settings.search(Path::new("/my db/part"), 99).join(OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(
            line(Program::Diamond, &["--fast"]),
            "blastp --quiet -d /my db/part -q /proc/self/fd/0 --no-ranking --ignore-warnings --dbsize 99 -p 2 \
             -t /s -k 25 --algo 0 --fast -f 6 qseqid qseqid sseqid evalue score qlen slen"
        );
        assert_eq!(
            line(Program::Blastp, &["-evalue", "1"]),
            "-db \"/my db/part\" -num_threads 2 -outfmt 11 -max_target_seqs 500 -evalue 1"
        );
        assert!(!line(Program::Diamond, &["--algo", "1"]).contains("--algo 0"));
        let path = Path::new(OsStr::from_bytes(b"/a\xff"));
        let line = Settings::new(Program::Diamond, Vec::new()).unwrap().with_scratch(path).search(path, 1);
        assert_eq!(line.iter().filter(|word| *word == path).count(), 2);
    }
}
