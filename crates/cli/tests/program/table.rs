//! Runs the program for each row of a table, several at a time, and compares all that it says.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes of a text what lies in a file.
pub type Code = fn(&[u8]) -> Vec<u8>;

/// What the program is given, and what it must say.
pub struct Case {
    /// The folder in which it runs.
    pub folder: PathBuf,
    pub arguments: Vec<String>,
    pub status: i32,
    pub said: Said,
}

/// What must be on standard error.
pub enum Said {
    Exactly(String),
    /// Its first line: clap adds how the command is used.
    First(String),
}

/// A folder of inputs, and one for outputs, which must be empty in the end.
pub struct Inputs {
    root: tempfile::TempDir,
    folders: AtomicUsize,
}

impl Inputs {
    /// With a reference, `ref.fa`, in the root.
    pub fn new() -> Self {
        let inputs = Inputs { root: tempfile::tempdir().unwrap(), folders: AtomicUsize::new(0) };
        std::fs::write(inputs.root.path().join("ref.fa"), data("phix.fasta")).unwrap();
        std::fs::create_dir(inputs.root.path().join("out")).unwrap();
        inputs
    }

    /// A new folder with these files.
    pub fn folder(&self, files: &[(&str, &[u8])]) -> PathBuf {
        let folder = self.root.path().join(self.folders.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&folder).unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
        folder
    }

    /// Runs all cases, and says all that is wrong.
    pub fn check(&self, cases: &[Case]) {
        let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| {
                    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        wrong.lock().unwrap().extend(self.run(case));
                    }
                });
            }
        });
        let wrong = wrong.into_inner().unwrap();
        assert!(wrong.is_empty(), "{} of {} are wrong:\n\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
        let left: Vec<_> = std::fs::read_dir(self.root.path().join("out")).unwrap().flatten().collect();
        assert!(left.is_empty(), "left: {left:?}");
    }

    /// What is wrong with what the program says and leaves.
    fn run(&self, case: &Case) -> Option<String> {
        let child = Command::new(env!("CARGO_BIN_EXE_zerohop"))
            .args(&case.arguments)
            .current_dir(&case.folder)
            .env("XDG_CACHE_HOME", self.root.path().join("cache"))
            .env("XDG_CONFIG_HOME", self.root.path().join("config"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stderr);
        let is_said = match &case.said {
            Said::Exactly(line) => said == *line,
            Said::First(line) => said.lines().next() == Some(line),
        };
        let (Said::Exactly(wanted) | Said::First(wanted)) = &case.said;
        (!is_said || child.status.code() != Some(case.status) || !child.stdout.is_empty()).then(|| {
            format!(
                "zerohop {}\n  wanted: {} {wanted}\n  got:    {} {said}",
                case.arguments.join(" "),
                case.status,
                child.status,
            )
        })
    }
}

/// A file of the test data on phiX.
pub fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/phix").join(name)).unwrap()
}

/// Reads of E. coli, more than one chunk holds: of the first mates, or of the second ones.
pub fn many(mate: usize) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/ecoli/ecoli_150_{mate}.fq.gz"));
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut text).unwrap();
    text
}

/// The first records of FASTQ.
pub fn first_records(text: &[u8], count: usize) -> &[u8] {
    let end = text.iter().enumerate().filter(|(_, b)| **b == b'\n').nth((4 * count).saturating_sub(1));
    &text[..end.map_or(text.len(), |(at, _)| at + 1).min(if count == 0 { 0 } else { text.len() })]
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn bgzf(text: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    zerohop_bgzf::BlockCompressor::new(6).compress(text, &mut file).unwrap();
    file.extend_from_slice(&zerohop_bgzf::END_MARKER);
    file
}

/// The words of a command, as the shell separates them.
pub fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap()
}
