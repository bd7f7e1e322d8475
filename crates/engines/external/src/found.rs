//! What of an aligner is on this machine: its program, its version, its index.

use crate::arguments::UserArguments;
use crate::descriptor::{Descriptor, IndexFileFormat};
use crate::error::ExternalError;
use crate::mmi;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use zerohop_process::{ChildProgram, Limits, on_path};

/// Endings of a reference's name that an index's name may lack.
const FASTA_ENDINGS: [&str; 3] = ["fa", "fasta", "fna"];

/// Bases per byte of gzip: FASTA shrinks about fourfold.
const BASES_PER_GZIP_BYTE: f64 = 4.0;

/// An aligner that is on this machine.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its descriptor.
    pub descriptor: Descriptor,
    /// The path of its program.
    pub program: PathBuf,
    /// Its version, as it says it; empty if it does not.
    pub version: String,
}

/// An index that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundIndex {
    /// The path that the aligner is given for it.
    pub prefix: PathBuf,
    /// The paths of its files.
    pub files: Vec<PathBuf>,
    /// The program that reads it, where that is not the usual one.
    pub program: Option<PathBuf>,
}

impl FoundIndex {
    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.metadata().ok()).map(|m| m.len()).sum()
    }

    /// Whether `reference`, a file of its own, was written after all files of the index.
    pub fn is_older_than(&self, reference: &Path) -> bool {
        let written = |file: &Path| file.metadata().ok().filter(|file| file.is_file())?.modified().ok();
        let newest = self.files.iter().filter_map(|file| written(file)).max();
        !self.files.iter().any(|file| file == reference) && newest.is_some() && newest < written(reference)
    }
}

impl Found {
    /// Looks for the aligner's program.
    ///
    /// # Errors
    /// [`ExternalError::NotFound`].
    pub fn find(descriptor: Descriptor) -> Result<Self, ExternalError> {
        let Some(program) = first_on_path(&descriptor.program) else {
            return Err(ExternalError::NotFound { title: descriptor.title, names: descriptor.program });
        };
        let version = version(&program, &descriptor, VERSION_TIME).unwrap_or_default();
        Ok(Found { descriptor, program, version })
    }

    /// Looks for the index of `reference`: under its name, under its name without `.gz` and `.fa`, or as `reference`
    /// itself.
    ///
    /// # Errors
    /// [`ExternalError::NoIndex`], with the command that makes it.
    pub fn index(&self, reference: &Path, user: &UserArguments) -> Result<FoundIndex, ExternalError> {
        let index = &self.descriptor.index;
        let others = index.variant.iter().map(|variant| (&variant.files, Some(&variant.program)));
        let kinds: Vec<_> = std::iter::once((&index.files, None)).chain(others).collect();
        for prefix in self.prefixes(reference, user) {
            for (suffixes, program) in &kinds {
                let mut files = self.files(&prefix, suffixes, user);
                if files.iter().all(|file| file.exists()) {
                    let optional = self.files(&prefix, &index.optional, user).into_iter();
                    files.extend(optional.filter(|file| file.exists()));
                    let program =
                        program.map(|names| first_on_path(names).ok_or_else(|| self.lacks(names))).transpose()?;
                    self.check_options(&files[0], user)?;
                    return Ok(FoundIndex { prefix, files, program });
                }
            }
        }
        let prefix = self.new_prefix(reference, user);
        let missing =
            self.files(&prefix, &index.files, user).into_iter().find(|f| !f.exists()).unwrap_or(prefix.clone());
        let command = self.shown_build_command(reference, &prefix, user);
        let (title, reference) = (self.descriptor.title.clone(), reference.to_owned());
        Err(ExternalError::NoIndex { title, reference, missing, command })
    }

    /// Bytes of memory that one copy of the index takes, roughly: by the bases of the reference if it is there, but not
    /// less than its files.
    pub fn memory_bytes(&self, reference: &Path, index: &FoundIndex) -> u64 {
        let is_gzip = reference.extension().is_some_and(|suffix| suffix == "gz");
        let length = reference.metadata().ok().filter(|meta| meta.is_file()).map_or(0, |meta| meta.len());
        let bases = length as f64 * if is_gzip { BASES_PER_GZIP_BYTE } else { 1.0 };
        index.bytes().max((bases * self.descriptor.index.bytes_per_base) as u64)
    }

    fn lacks(&self, names: &[String]) -> ExternalError {
        ExternalError::NotFound { title: self.descriptor.title.clone(), names: names.to_vec() }
    }

    /// The index that is made of `reference`, if there is none.
    pub(crate) fn new_prefix(&self, reference: &Path, user: &UserArguments) -> PathBuf {
        append(reference, &user.settings.fill(&self.descriptor.index.suffix))
    }

    /// The command that makes an index at `prefix`.
    pub(crate) fn build_command(
        &self,
        reference: &Path,
        prefix: &Path,
        threads: usize,
        user: &UserArguments,
    ) -> Vec<OsString> {
        let values = (user.settings.clone())
            .with("reference", reference)
            .with("index", prefix)
            .with("threads", threads.to_string());
        let of_index = user.index_options().iter().flat_map(|(option, value)| [option, value]);
        let of_index: Vec<&String> = of_index.filter(|word| !word.is_empty()).collect();
        let words = self.descriptor.index.build.iter();
        words
            .flat_map(|word| if word == "{index_options}" { of_index.clone() } else { vec![word] })
            .map(|word| values.fill(word))
            .collect()
    }

    /// The same for one thread, as it is typed into a shell.
    fn shown_build_command(&self, reference: &Path, prefix: &Path, user: &UserArguments) -> String {
        let words = self.build_command(reference, prefix, 1, user);
        let line = shlex::bytes::try_join(words.iter().map(|word| word.as_bytes())).unwrap_or_default();
        String::from_utf8_lossy(&line).into_owned()
    }

    /// How an index that is not right any more is made anew: the command.
    pub fn rebuild_command(&self, reference: &Path, index: &FoundIndex, user: &UserArguments) -> String {
        self.shown_build_command(reference, &index.prefix, user)
    }

    /// Refuses an index that was made with other options than the user gives, where it says with which.
    fn check_options(&self, file: &Path, user: &UserArguments) -> Result<(), ExternalError> {
        let differing = match self.descriptor.index.format {
            IndexFileFormat::Unknown => None,
            IndexFileFormat::Mmi => mmi::differing(file, user.index_options()),
        };
        match differing {
            Some((made_with, given)) => Err(ExternalError::OtherOptions { index: file.to_owned(), made_with, given }),
            None => Ok(()),
        }
    }

    /// The files of an index.
    pub(crate) fn files(&self, prefix: &Path, suffixes: &[String], user: &UserArguments) -> Vec<PathBuf> {
        let file = |suffix: &OsStr| match self.descriptor.index.directory {
            true => prefix.join(suffix),
            false => append(prefix, suffix),
        };
        user.settings.fill_all(suffixes).iter().map(|suffix| file(suffix)).collect()
    }

    /// Under which prefixes an index may lie, the likeliest first.
    fn prefixes(&self, reference: &Path, user: &UserArguments) -> Vec<PathBuf> {
        let index = &self.descriptor.index;
        let suffix = user.settings.fill(&index.suffix);
        let mut stems = vec![reference.to_owned()];
        let is = |path: &Path, endings: &[&str]| path.extension().is_some_and(|e| endings.iter().any(|x| e == *x));
        if is(reference, &["gz"]) {
            stems.push(reference.with_extension(""));
        }
        if let Some(last) = stems.last().filter(|last| is(last, &FASTA_ENDINGS)) {
            stems.push(last.with_extension(""));
        }
        let mut prefixes: Vec<PathBuf> = stems.iter().map(|stem| append(stem, &suffix)).collect();
        // The user may have named the index itself.
        let named = match (suffix.is_empty(), index.directory) {
            (true, _) => false,
            (false, true) => reference.is_dir(),
            (false, false) => reference.extension() == Path::new(&suffix).extension().or(Some(&suffix)),
        };
        if named {
            prefixes.insert(0, reference.to_owned());
        }
        prefixes
    }
}

/// `path` with `suffix` at its end.
fn append(path: &Path, suffix: &OsStr) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The first of `names` that is a program on the PATH, or a path to one.
fn first_on_path(names: &[String]) -> Option<PathBuf> {
    names.iter().find_map(|name| on_path(name))
}

/// How long a program may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(10);

/// Asks a program for its version, and waits so long at most.
fn version(program: &Path, descriptor: &Descriptor, limit: Duration) -> Option<String> {
    let asked =
        ChildProgram::new(program).args(&descriptor.version.command).stdout(Stdio::piped()).stderr(Stdio::piped());
    // One that waits for something, or goes on for ever, has said what it has to say.
    let (output, _) = asked.start().ok()?.output_within(Limits { idle: limit, whole: Some(limit) }).ok()?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let (_, rest) = text.split_once(&descriptor.version.pattern)?;
    rest.split_whitespace().next().map(|word| word.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Found {
        let descriptor = crate::descriptor::all([]).unwrap().into_iter().find(|d| d.name == name).unwrap();
        Found { descriptor, program: "/bin/true".into(), version: String::new() }
    }

    fn touch(folder: &Path, names: &[&str]) {
        for name in names {
            std::fs::write(folder.join(name), "").unwrap();
        }
    }

    #[test]
    fn an_index_is_found_under_any_of_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let (bwa, reference) = (found("bwa"), dir.path().join("r.fa.gz"));
        let user = UserArguments::parse(&bwa.descriptor, "", &[]).unwrap();
        touch(dir.path(), &["r.amb", "r.ann", "r.bwt", "r.pac"]);
        let error = bwa.index(&reference, &user).unwrap_err().to_string();
        assert!(error.contains("--build-index") && error.contains("bwa index"), "{error}");
        touch(dir.path(), &["r.sa"]);
        assert_eq!(bwa.index(&reference, &user).unwrap().prefix, dir.path().join("r"));
    }

    #[test]
    fn an_index_may_be_named_itself() {
        let dir = tempfile::tempdir().unwrap();
        let (minimap2, reference) = (found("minimap2"), dir.path().join("r.fa"));
        let user = UserArguments::parse(&minimap2.descriptor, "", &[]).unwrap();
        touch(dir.path(), &["r.fa"]);
        assert!(minimap2.index(&reference, &user).is_err(), "a reference is no index");
        touch(dir.path(), &["any.mmi"]);
        assert_eq!(minimap2.index(&dir.path().join("any.mmi"), &user).unwrap().files, [dir.path().join("any.mmi")]);
    }

    /// The header of minimap2's index with `-k 21 -w 11`.
    const MMI: [u8; 24] = [b'M', b'M', b'I', 2, 11, 0, 0, 0, 21, 0, 0, 0, 14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn an_index_depends_on_the_options_that_it_is_made_with() {
        let dir = tempfile::tempdir().unwrap();
        let (minimap2, reference) = (found("minimap2"), dir.path().join("r.fa"));
        let user = |text| UserArguments::parse(&minimap2.descriptor, text, &[]).unwrap();
        std::fs::write(dir.path().join("r.fa.sr.mmi"), MMI).unwrap();
        assert!(minimap2.index(&reference, &user("-s 60")).is_ok());
        let error = minimap2.index(&reference, &user("-k 11 -w 3")).unwrap_err().to_string();
        assert!(error.contains("r.fa.sr.k11.w3.mmi is missing"), "{error}");
        assert!(error.contains("minimap2 -x sr -k 11 -w 3 -I 64G"), "{error}");
        std::fs::write(dir.path().join("any.mmi"), MMI).unwrap();
        for (text, outcome) in [
            ("", Ok(())),
            ("-k 21 -w11", Ok(())),
            ("-k 11", Err("made with -k 21, and --engine-args has -k 11:")),
            ("-w 3 -k 11", Err("made with -k 21 -w 11, and --engine-args has -k 11 -w 3:")),
            ("-H", Err("made with no -H, and --engine-args has -H:")),
        ] {
            let found = minimap2.index(&dir.path().join("any.mmi"), &user(text)).map(drop).map_err(|e| e.to_string());
            match outcome {
                Ok(()) => assert_eq!(found, Ok(()), "{text}"),
                Err(words) => assert!(found.as_ref().unwrap_err().contains(words), "{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_program_that_does_not_end_is_not_waited_for() {
        let mut descriptor = found("bwa").descriptor;
        descriptor.version.command = ["-c", "echo Version: 1.2-r3; sleep 300"].map(str::to_owned).to_vec();
        let version = version(Path::new("/bin/sh"), &descriptor, Duration::from_secs(1));
        assert_eq!(version.as_deref(), Some("1.2-r3"), "what it said until then counts");
    }

    #[test]
    fn the_first_program_that_is_there_is_taken() {
        assert!(first_on_path(&["no-such-program".into(), "sh".into()]).is_some());
        assert_eq!(first_on_path(&["/no/sh".into()]), None);
    }
}
