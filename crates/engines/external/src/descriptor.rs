//! What zerohop knows of an aligner, in one place: how it is found, which arguments it needs for threads, index and
//! reads, and what it promises.
//!
//! The built-in descriptors lie in `descriptors/`; a user's file of the same form adds an aligner or overrides one.

use crate::error::ExternalError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The built-in descriptors, as text.
const BUILT_IN: [&str; 10] = [
    include_str!("../descriptors/bwa.toml"),
    include_str!("../descriptors/bowtie2.toml"),
    include_str!("../descriptors/bowtie.toml"),
    include_str!("../descriptors/hisat2.toml"),
    include_str!("../descriptors/snap.toml"),
    include_str!("../descriptors/minimap2.toml"),
    include_str!("../descriptors/minibwa.toml"),
    include_str!("../descriptors/bwa-mem2.toml"),
    include_str!("../descriptors/gem3.toml"),
    include_str!("../descriptors/strobealign-program.toml"),
];

/// An aligner that runs as a program of its own.
///
/// Words in braces in its arguments stand for values: `{index}`, `{reference}`, `{threads}`, `{reads_1}`, `{reads_2}`,
/// `{layout}` (`single` or `paired`), `{index_options}` ([`Index::depends_on`]) and the names of its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// What the user types after `--engine`.
    pub name: String,
    /// The full name of the aligner, as messages have it.
    pub title: String,
    /// The URL of its home page.
    #[serde(default)]
    pub homepage: String,
    /// Names of the program; the first that is found is taken.
    pub program: Vec<String>,
    /// Arguments that are always given.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Letters of its options that take no value, which may stand in one word: `-Yx` is `-Y -x`. None if it does not
    /// take them so.
    #[serde(default)]
    pub flags: String,
    /// In which order the arguments stand.
    #[serde(default = "default_order")]
    pub order_of_arguments: Vec<CommandPart>,
    /// How its version is asked.
    pub version: VersionQuery,
    /// Which files its index has, and how it is made.
    pub index: Index,
    /// Arguments for its reads.
    pub reads: Reads,
    /// Arguments for its number of threads.
    pub threads: Threads,
    /// Arguments for the read group; without them, zerohop adds it to the records.
    #[serde(default)]
    pub read_group: ReadGroupOption,
    /// Whether its records keep the order of the reads.
    pub order: OrderRule,
    /// Where its input may be cut.
    #[serde(default)]
    pub batch: BatchRule,
    /// Values with a default that a user may override by giving the option.
    #[serde(default)]
    pub settings: BTreeMap<String, Setting>,
    /// How several processes share one index.
    #[serde(default)]
    pub sharing: Sharing,
    /// Arguments for plain DNA.
    #[serde(default)]
    pub dna: Options,
    /// Options that a user may not give.
    #[serde(default)]
    pub refused: Vec<RefusedOption>,
    /// What is promised of its records.
    #[serde(default)]
    pub contract: Contract,
}

/// A part of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandPart {
    /// Arguments that are always given.
    Arguments,
    /// Arguments that set the number of threads.
    Threads,
    /// Arguments that make it keep the order of the reads.
    Order,
    /// Settings, what is needed for DNA and for sharing, and what the user gave.
    EngineArgs,
    /// Arguments that name the index.
    Index,
    /// Arguments that name the reads.
    Reads,
}

fn default_order() -> Vec<CommandPart> {
    vec![
        CommandPart::Arguments,
        CommandPart::Threads,
        CommandPart::Order,
        CommandPart::EngineArgs,
        CommandPart::Index,
        CommandPart::Reads,
    ]
}

/// How the version is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionQuery {
    /// Arguments with which the program prints its version.
    pub command: Vec<String>,
    /// The version is the word behind this text; the first word of all if it is empty.
    #[serde(default)]
    pub pattern: String,
}

/// The index of an aligner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// What is appended to the prefix to get its files; with `directory`, their names in it.
    pub files: Vec<String>,
    /// The same of files that it may have besides.
    #[serde(default)]
    pub optional: Vec<String>,
    /// Whether the index is a folder.
    #[serde(default)]
    pub directory: bool,
    /// Arguments that name it to the aligner.
    pub option: Vec<String>,
    /// The command that makes it, word by word.
    pub build: Vec<String>,
    /// Whether that command takes gzip.
    #[serde(default)]
    pub build_reads_gzip: bool,
    /// What is appended to the reference's path to get the prefix.
    #[serde(default)]
    pub suffix: String,
    /// Options of the aligner that the index depends on. `{index_options}` stands for those that the user gives: in
    /// [`build`](Index::build) for the words themselves, in [`suffix`](Index::suffix) for a name such as `.k11.w3`.
    #[serde(default)]
    pub depends_on: Vec<IndexOption>,
    /// What zerohop can read of the first file.
    #[serde(default)]
    pub format: IndexFileFormat,
    /// Whether headers name the contigs of the reference, with their lengths, but for those without a base A, C, G or
    /// T. Then an index of another reference is refused by its header, else one that is older than the reference.
    #[serde(default)]
    pub header_names_contigs: bool,
    /// Bytes of memory per base of the reference, roughly.
    pub bytes_per_base: f64,
    /// Other programs and files, for large references.
    #[serde(default)]
    pub variant: Vec<IndexVariant>,
}

/// An option that the index depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexOption {
    /// The option, as the user types it.
    pub option: String,
    /// Whether it takes a value.
    pub takes_value: bool,
}

/// An index file whose parameters zerohop can read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexFileFormat {
    /// No format that zerohop reads.
    #[default]
    Unknown,
    /// minimap2's: `-k`, `-w` and `-H` are in its header.
    Mmi,
}

/// An index that another program reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexVariant {
    /// Names of the program.
    pub program: Vec<String>,
    /// As [`Index::files`].
    pub files: Vec<String>,
}

/// Arguments for the reads of an aligner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reads {
    /// Arguments for single reads; none if it takes no single reads.
    #[serde(default)]
    pub single: Vec<String>,
    /// Arguments for pairs; none if it takes no pairs.
    #[serde(default)]
    pub paired: Vec<String>,
    /// Arguments for reads in FASTA; absent if it takes none.
    pub fasta: Option<Vec<String>>,
    /// By which way they reach it.
    #[serde(default)]
    pub via: Via,
    /// Whether the name of a record may go on with `_` and words of the read's comment. (GEM3 writes `r_x` for `@r
    /// x/1`.)
    #[serde(default)]
    pub names_take_comments: bool,
    /// Whether it fails if it gets no reads at all: then a process for which none are left is ended by us.
    #[serde(default)]
    pub needed: bool,
    /// What to do if records of pairs do not say which mate they are of, in words: with which options that is so.
    pub pairs: Option<String>,
    /// Arguments for single reads in an ordinary file, where they differ.
    pub plain_single: Option<Vec<String>>,
    /// Arguments for pairs in ordinary files, where they differ.
    pub plain_paired: Option<Vec<String>>,
}

/// Arguments for the read group of all reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadGroupOption {
    /// Arguments, with `{read_group}` for the header line, whose tabs are written as `\\t`.
    #[serde(default)]
    pub option: Vec<String>,
    /// Whether it puts one into every record, its own if none is given.
    #[serde(default)]
    pub always: bool,
}

/// How reads reach a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Through inherited pipes, `/proc/self/fd/3` and `/proc/self/fd/4` (on macOS `/dev/fd/3` and `/dev/fd/4`).
    #[default]
    Fd,
    /// Through standard input; the mates of a pair follow one another.
    StdinInterleaved,
    /// Through standard input, as SAM without a header and without places; the mates of a pair follow one another.
    StdinSam,
}

/// Arguments for its number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threads {
    /// Arguments, with `{threads}`.
    pub option: Vec<String>,
}

/// Arguments that are given in some case alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The arguments, word by word.
    #[serde(default)]
    pub option: Vec<String>,
}

/// Whether records keep the order of the reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderRule {
    /// In which cases they do.
    pub keeps: Keeps,
    /// Arguments that make them keep it.
    #[serde(default)]
    pub option: Vec<String>,
    /// Whether it may write several primary records of a read.
    #[serde(default)]
    pub repeats_primary: bool,
}

/// When records keep the order of the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keeps {
    /// In every case.
    Always,
    /// With the option that the descriptor names.
    WithOption,
    /// Not with several threads: zerohop puts them back in order by their names.
    Never,
}

/// Where the input of an aligner may be cut.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRule {
    /// What its records depend on.
    #[serde(default)]
    pub law: BatchLaw,
    /// For a cohort or chunk: the setting that holds its bases.
    #[serde(default)]
    pub setting: String,
}

/// What the records of a read depend on besides the read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchLaw {
    /// On nothing else.
    #[default]
    Free,
    /// On the reads of its batch, which closes with the fragment that takes it to so many bases.
    Cohort,
    /// On the reads before it in its chunk, which closes with the fragment that takes it past so many bases.
    Chunk,
}

/// A value that a user may override with `option`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The option that sets it.
    pub option: String,
    /// Its value if the user gives none.
    pub default: String,
}

/// How several processes share one index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// By which means, if at all.
    #[serde(default)]
    pub how: How,
    /// Arguments that make a process share it.
    #[serde(default)]
    pub option: Vec<String>,
    /// What makes it read a copy of its own, if it maps its index without being told: a page of a mapped file lies
    /// where whoever read the file first wanted it, not where the process does.
    #[serde(default)]
    pub private: Vec<String>,
}

/// A way to share an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// None: each process reads its own copy.
    #[default]
    None,
    /// It maps its index files.
    MappedFiles,
    /// `bwa shm`: a segment that it finds by the index's name.
    BwaShm,
}

/// An option that a user may not give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedOption {
    /// The option, as the user types it.
    pub option: String,
    /// Why not, in words for the user.
    pub why: String,
    /// Whether its value may follow without a blank, as in `-oFILE`.
    #[serde(default)]
    pub attached: bool,
}

/// What is promised of an aligner's records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// What they do not depend on.
    #[serde(default)]
    pub same_records: SameRecords,
    /// What else there is to know, in words for the user.
    #[serde(default)]
    pub notes: String,
}

/// Which changes of plan leave the records as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameRecords {
    /// All.
    Free,
    /// All, with the options for DNA ([`Descriptor::dna`]); without them, records depend on the reads that their
    /// process had before.
    WithDna,
    /// All, but for the choice between equally good places, as long as batches are the same.
    Batch,
    /// Not known.
    #[default]
    Unknown,
}

/// What words in braces stand for, besides settings.
const WORDS: [&str; 10] = [
    "reference",
    "index",
    "index_options",
    "threads",
    "reads_1",
    "reads_2",
    "layout",
    "read_group",
    "read_length",
    "canonical_read_length",
];

impl Descriptor {
    /// Reads a descriptor; `origin` names it in errors.
    ///
    /// # Errors
    /// [`ExternalError::Descriptor`].
    pub fn parse(text: &str, origin: &str) -> Result<Self, ExternalError> {
        let wrong = |what: String| ExternalError::Descriptor { origin: origin.to_owned(), what };
        let descriptor: Descriptor = toml::from_str(text).map_err(|e| wrong(e.to_string().trim_end().to_owned()))?;
        descriptor.check().map_err(wrong)?;
        Ok(descriptor)
    }

    fn check(&self) -> Result<(), String> {
        if ["strobealign", "bwa-mem", "null"].contains(&&*self.name) {
            return Err(format!("'{}' is the name of an engine inside zerohop", self.name));
        }
        if self.name.is_empty() || self.program.is_empty() {
            return Err("name and program must not be empty".to_owned());
        }
        if self.reads.single.is_empty() && self.reads.paired.is_empty() {
            return Err("it takes neither single reads nor pairs".to_owned());
        }
        if self.batch.law != BatchLaw::Free && !self.settings.contains_key(&self.batch.setting) {
            return Err(format!("batch.setting '{}' is not among the settings", self.batch.setting));
        }
        if self.index.files.is_empty() {
            return Err("index.files must not be empty".to_owned());
        }
        let has_options = |text: &String| text.contains("{index_options}");
        let in_both = has_options(&self.index.suffix) && self.index.build.iter().any(|word| word == "{index_options}");
        if !self.index.depends_on.is_empty() && !in_both {
            return Err(
                "index.depends_on needs {index_options} in index.suffix, and as a word of index.build".to_owned()
            );
        }
        if let Some(word) = self.unknown_word() {
            let known = WORDS.join(", ");
            return Err(format!("{{{word}}} is unknown: words in braces are {known}, and the names of settings"));
        }
        if self.contract.same_records == SameRecords::WithDna && self.dna.option.is_empty() {
            return Err("contract.same_records is with-dna, and dna.option is empty".to_owned());
        }
        Ok(())
    }

    /// A word in braces that nothing would be put in place of.
    fn unknown_word(&self) -> Option<&str> {
        let Descriptor { index, reads, sharing, .. } = self;
        let of_reads = [&reads.fasta, &reads.plain_single, &reads.plain_paired].into_iter().flatten();
        let lists = [
            &self.arguments,
            &index.files,
            &index.optional,
            &index.option,
            &index.build,
            &reads.single,
            &reads.paired,
            &self.threads.option,
            &self.read_group.option,
            &self.order.option,
            &sharing.option,
            &sharing.private,
            &self.dna.option,
        ];
        let texts = lists.into_iter().chain(of_reads).flatten().map(String::as_str);
        let texts = texts.chain([&*index.suffix]).chain(self.settings.values().map(|setting| &*setting.default));
        let mut words = texts.flat_map(words_in_braces);
        words.find(|word| !WORDS.contains(word) && !self.settings.contains_key(*word))
    }

    /// Whether `option` is one that a user may not give, and why.
    pub fn refuses(&self, option: &str) -> Option<&str> {
        let is = |refused: &&RefusedOption| match option.strip_prefix(&*refused.option) {
            Some("") => true,
            // Long options may be shortened (getopt_long(3)); two letters would hardly be unambiguous.
            None => {
                let word = option.split('=').next().unwrap_or_default();
                word.len() >= 5 && word.starts_with("--") && refused.option.starts_with(word)
            }
            Some(_) if refused.attached => true,
            Some(rest) if refused.option.starts_with("--") => rest.starts_with('='),
            // `-t4` is `-t 4`; that `-to` could be another option is left to the aligner
            Some(rest) => refused.option.len() == 2 && rest.bytes().all(|b| b.is_ascii_digit()),
        };
        let refused = self.refused.iter().find(is);
        refused.map(|refused| &*refused.why)
    }
}

fn words_in_braces(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).filter(is_word)
}

/// All aligners: the built-in ones, and those of `files`, which override built-in ones of the same name.
///
/// # Errors
/// A file that cannot be read, or is no descriptor.
pub fn all<'f>(files: impl IntoIterator<Item = &'f Path>) -> Result<Vec<Descriptor>, ExternalError> {
    let mut all = BUILT_IN.iter().map(|text| Descriptor::parse(text, "built in")).collect::<Result<Vec<_>, _>>()?;
    for file in files {
        let origin = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|e| ExternalError::Descriptor { origin: origin.clone(), what: format!("cannot be read: {e}") })?;
        let descriptor = Descriptor::parse(&text, &origin)?;
        match all.iter_mut().find(|other| other.name == descriptor.name) {
            Some(other) => *other = descriptor,
            None => all.push(descriptor),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_descriptors_are_right_and_have_different_names() {
        let all = all([]).unwrap();
        let names: std::collections::BTreeSet<_> = all.iter().map(|d| &d.name).collect();
        assert_eq!(names.len(), BUILT_IN.len());
    }

    #[test]
    fn a_word_in_braces_that_stands_for_nothing_is_refused() {
        let with = |from: &str, to: &str| Descriptor::parse(&BUILT_IN[0].replace(from, to), "x").map(|_| ());
        with("{threads}", "{batch}-{threads}").expect("a setting");
        with("{threads}", "{threads}-{}-{a b}").expect("no words");
        let error = with("{threads}", "{thread}").unwrap_err().to_string();
        assert!(error.contains("{thread} is unknown: words in braces are reference, index,"), "{error}");
    }

    #[test]
    fn a_file_overrides_a_built_in_descriptor() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mine.toml");
        std::fs::write(&file, BUILT_IN[0].replace("title = \"", "title = \"My ")).unwrap();
        let all = all([&*file]).unwrap();
        assert_eq!(all.len(), BUILT_IN.len());
        assert!(all[0].title.starts_with("My "));
        std::fs::write(&file, "name = \"x\"").unwrap();
        assert!(super::all([&*file]).unwrap_err().to_string().contains("mine.toml"));
    }
}
