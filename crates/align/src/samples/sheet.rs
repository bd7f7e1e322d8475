//! A sheet of samples: a table with a header line, as nf-core's pipelines take it.

use crate::job::AlignError;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zerohop_input::LaneSpec;
use zerohop_output::ReadGroup;

/// Columns that name files; those of a pair stand together.
const FASTQ: [&str; 2] = ["fastq_1", "fastq_2"];
const BAM: &str = "bam";
const SAMPLE: &str = "sample";
/// Which lane of its sample a row is; part of the ID of its read group.
const LANE: &str = "lane";
/// What columns of read groups begin with: `rg_pl` is PL.
const READ_GROUP: &str = "rg_";
/// Faults of a sheet that are told at once.
const MOST_FAULTS: usize = 10;

/// The samples of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Its file.
    pub path: PathBuf,
    /// In the order in which the sheet names them first.
    pub samples: Vec<Sample>,
    /// Columns that say nothing to zerohop.
    pub unknown: Vec<String>,
}

/// A sample, and the rows that name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Its name, which its files have, too.
    pub name: String,
    /// Its lanes, a row each.
    pub lanes: Vec<SampleLane>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleLane {
    /// Its files.
    pub reads: LaneSpec,
    /// The read group of its reads, unless they have their own ([`SampleLane::keeps_own`]).
    pub read_group: ReadGroup,
    /// Whether reads that have read groups keep them: a file of BAM, of whose group the sheet says nothing.
    pub keeps_own: bool,
}

/// What stands in a row.
struct SheetRow<'s> {
    /// Its line, from 1.
    line: u64,
    columns: &'s [String],
    values: Vec<String>,
}

impl SheetRow<'_> {
    /// The value in a column; none if it is empty, or there is no such column.
    fn get(&self, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|name| name == column)?;
        self.values.get(at).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// The fields of a read group, such as `PL:ILLUMINA`.
    fn read_group_fields(&self) -> Vec<String> {
        let field = |column: &String| {
            let tag = column.strip_prefix(READ_GROUP)?.to_ascii_uppercase();
            Some(format!("{tag}:{}", self.get(column)?))
        };
        self.columns.iter().filter_map(field).collect()
    }
}

impl Sheet {
    /// Reads a sheet: columns are separated by commas, by tabs if the header line has one, or by semicolons if it has
    /// no comma either, and may be quoted. `interleaved` says that mates follow one another in files of FASTQ that are
    /// named alone.
    ///
    /// # Errors
    /// A file that cannot be read, and what is wrong with its rows, with their lines.
    pub fn read(path: &Path, interleaved: bool) -> Result<Self, AlignError> {
        let text =
            std::fs::read(path).map_err(|e| AlignError::Failed(format!("{}: cannot read: {e}", path.display())))?;
        let sheet = Self::parse(&text, interleaved);
        let sheet = sheet.map_err(|what| AlignError::Usage(format!("{}: {what}", path.display())))?;
        Ok(Sheet { path: path.to_owned(), ..sheet })
    }

    fn parse(text: &[u8], interleaved: bool) -> Result<Self, String> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if std::str::from_utf8(text).is_err() {
            return Err("it is no text (UTF-8): a sheet is a table with commas, tabs or semicolons".to_owned());
        }
        let mut reader =
            csv::ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).has_headers(false).from_reader(text);
        let mut records = reader.records();
        let words = |error: csv::Error| format!("it cannot be read as a table: {error}");
        let Some(header) = records.next().transpose().map_err(words)? else {
            return Err("it is empty: its first line names the columns sample, fastq_1, fastq_2 or bam".to_owned());
        };
        let mut columns: Vec<String> = header.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        // Spreadsheets write commas behind the last column.
        while columns.last().is_some_and(String::is_empty) {
            columns.pop();
        }
        check_columns(&columns)?;
        let (mut samples, mut seen, mut faults) = (Vec::<Sample>::new(), HashSet::new(), Vec::new());
        for record in records {
            let record = record.map_err(words)?;
            let line = record.position().map_or(0, |at| line_of(text, at));
            let mut values: Vec<String> = record.iter().map(str::to_owned).collect();
            while values.len() > columns.len() && values.last().is_some_and(|value| value.trim().is_empty()) {
                values.pop();
            }
            let row = SheetRow { line, columns: &columns, values };
            if row.values.iter().all(|value| value.trim().is_empty()) {
                continue;
            }
            if row.values.iter().any(|value| value.contains(['\n', '\r'])) {
                // Whole rows may stand in it.
                faults.push(format!("line {line}: a field begins with \" and does not end in this line"));
                continue;
            }
            if row.values.len() != columns.len() {
                // A file that a row lacks, or one for which there is no column, is a mate that would not be missed.
                let (here, all) = (row.values.len(), columns.len());
                faults.push(format!("line {line}: it has {here} fields, but the first line names {all} columns"));
                continue;
            }
            if let Err(what) = add_row(&mut samples, &mut seen, &row, interleaved) {
                faults.push(format!("line {}: {what}", row.line));
            }
        }
        match faults.len() {
            0 if samples.is_empty() => Err("it names no sample".to_owned()),
            0 => Ok(Sheet { path: PathBuf::new(), samples: numbered(samples)?, unknown: unknown(&columns) }),
            all => {
                let more = all.saturating_sub(MOST_FAULTS);
                faults.truncate(MOST_FAULTS);
                let more = if more > 0 { format!("; and {more} more") } else { String::new() };
                Err(faults.join("; ") + &more)
            }
        }
    }
}

/// What separates the columns of the header line. Spreadsheets write semicolons where the comma is part of numbers.
fn delimiter(text: &[u8]) -> u8 {
    let header = text.split(|&b| b == b'\n').next().unwrap_or_default();
    if header.contains(&b'\t') {
        b'\t'
    } else if header.contains(&b';') && !header.contains(&b',') {
        b';'
    } else {
        b','
    }
}

/// The line of a row: where it was read from, and the empty lines that were passed over.
fn line_of(text: &[u8], at: &csv::Position) -> u64 {
    let from = text.get(at.byte() as usize..).unwrap_or_default();
    at.line() + from.iter().take_while(|b| matches!(b, b'\n' | b'\r')).filter(|b| **b == b'\n').count() as u64
}

fn check_columns(columns: &[String]) -> Result<(), String> {
    let has = |name: &str| columns.iter().any(|column| column == name);
    if !has(SAMPLE) || !has(FASTQ[0]) && !has(BAM) {
        let words = "its first line must name the columns sample and fastq_1 (and fastq_2), or sample and bam";
        return Err(words.to_owned());
    }
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
        return Err(format!("its first line names the column {twice} twice"));
    }
    let bare = |name: &str| name.replace(|c: char| !c.is_alphanumeric(), "");
    let meant = |name: &String| known().find(|known| known != name && bare(known) == bare(name));
    if let Some((odd, known)) = columns.iter().find_map(|name| Some((name, meant(name)?))) {
        return Err(format!("its first line names the column {odd}: is {known} meant?"));
    }
    let is_tag = |tag: &str| tag.len() == 2 && tag.bytes().all(|b| b.is_ascii_alphanumeric());
    match columns.iter().find(|name| name.strip_prefix(READ_GROUP).is_some_and(|tag| !is_tag(tag))) {
        Some(odd) => Err(format!("the column {odd} names no field of a read group, as rg_pl does")),
        None => Ok(()),
    }
}

/// The columns that have a meaning, but for fields of read groups.
fn known() -> impl Iterator<Item = &'static str> {
    [SAMPLE, LANE, BAM].into_iter().chain(FASTQ)
}

fn unknown(columns: &[String]) -> Vec<String> {
    let is_known = |name: &str| known().any(|known| known == name) || name.starts_with(READ_GROUP) || name.is_empty();
    columns.iter().filter(|name| !is_known(name)).cloned().collect()
}

/// Which file it is, by whatever name: its device, and its number there.
type FileNumber = (u64, u64);

/// Adds a row to its sample; `seen` are the files of the rows before. The ID of its read group is empty unless the row
/// says it.
fn add_row(
    samples: &mut Vec<Sample>,
    seen: &mut HashSet<FileNumber>,
    row: &SheetRow<'_>,
    interleaved: bool,
) -> Result<(), String> {
    let name = row.get(SAMPLE).ok_or("the sample has no name")?;
    let is_fit = |b: u8| b.is_ascii_alphanumeric() || b"._+-".contains(&b);
    if !name.bytes().all(is_fit) || name.starts_with(['.', '-']) {
        return Err(format!(
            "the sample '{name}' is to name a file: it may have letters, digits, '_', '.', '+' and '-', and not begin \
             with '.' or '-'"
        ));
    }
    let [first, second] = FASTQ.map(|column| row.get(column).map(PathBuf::from));
    let bam = row.get(BAM).map(PathBuf::from);
    let is_bam = bam.is_some();
    let files: Vec<PathBuf> = match (first, second, bam) {
        (Some(first), second, None) => std::iter::once(first).chain(second).collect(),
        (None, None, Some(bam)) => vec![bam],
        (None, Some(_), _) => return Err("it has a fastq_2, but no fastq_1".to_owned()),
        (Some(_), _, Some(_)) => return Err("it has both fastq_1 and bam: give two rows".to_owned()),
        (None, None, None) => return Err("it names no reads".to_owned()),
    };
    files.iter().try_for_each(|file| check_file(file, seen))?;
    let reads = LaneSpec { interleaved: interleaved && !is_bam && files.len() == 1, files };
    let fields = row.read_group_fields();
    let keeps_own = is_bam && fields.is_empty();
    let read_group = read_group(name, row.get(LANE), fields)?;
    let lane = SampleLane { reads, read_group, keeps_own };
    match samples.iter_mut().find(|sample| sample.name.eq_ignore_ascii_case(name)) {
        Some(sample) if sample.name == name => sample.lanes.push(lane),
        Some(sample) => {
            let other = &sample.name;
            return Err(format!(
                "the samples '{other}' and '{name}' differ in upper and lower case alone: some file systems take their \
                 files for the same"
            ));
        }
        None => samples.push(Sample { name: name.to_owned(), lanes: vec![lane] }),
    }
    Ok(())
}

/// The read group of a row, with SM and LB of the sample unless they are given; without an ID if none is given.
fn read_group(sample: &str, lane: Option<&str>, fields: Vec<String>) -> Result<ReadGroup, String> {
    let (ids, mut fields): (Vec<String>, Vec<String>) = fields.into_iter().partition(|field| field.starts_with("ID:"));
    for tag in ["SM", "LB"] {
        if !fields.iter().any(|field| field.starts_with(tag)) {
            fields.push(format!("{tag}:{sample}"));
        }
    }
    let id = match (&ids[..], lane) {
        ([id, ..], _) => id[3..].to_owned(),
        ([], Some(lane)) => format!("{sample}.{lane}"),
        ([], None) => sample.to_owned(),
    };
    let group = ReadGroup::new(&id, &fields).map_err(|error| error.to_string())?;
    Ok(if ids.is_empty() && lane.is_none() { ReadGroup { id: String::new(), ..group } } else { group })
}

/// Read groups without an ID get one: the name of the sample, with the number of the row if it has several.
fn numbered(mut samples: Vec<Sample>) -> Result<Vec<Sample>, String> {
    for Sample { name, lanes } in &mut samples {
        let (rows, given): (usize, HashSet<String>) =
            (lanes.len(), lanes.iter().map(|lane| lane.read_group.id.clone()).collect());
        for (number, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.read_group.id.is_empty()) {
            let id = if rows == 1 { name.clone() } else { format!("{name}.{}", number + 1) };
            if given.contains(&id) {
                let row = number + 1;
                return Err(format!(
                    "row {row} of sample {name} has no lane and no rg_id, and would get the read group {id}, which \
                     another row has: name the lanes of all its rows"
                ));
            }
            lane.read_group.id = id;
        }
    }
    Ok(samples)
}

/// Refuses files that are not there, cannot be opened twice, or were named before.
fn check_file(file: &Path, seen: &mut HashSet<FileNumber>) -> Result<(), String> {
    let what = match std::fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => "is not there".to_owned(),
        Err(error) => format!("cannot be looked at: {error}"),
        Ok(found) if !found.is_file() => "is not a regular file, as reads of a sheet must be".to_owned(),
        Ok(found) if !seen.insert((found.dev(), found.ino())) => "is named twice".to_owned(),
        Ok(_) => return Ok(()),
    };
    Err(format!("{} {what}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a sheet whose files are there.
    fn sheet(text: &str) -> Result<Sheet, String> {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a_1.fq", "a_2.fq", "b.fq", "c.bam", "d e.fq"].map(|name| folder.path().join(name));
        for file in &files {
            std::fs::write(file, b"").unwrap();
        }
        let path = format!("{}/", folder.path().display());
        let named = |text: &str| text.replace("DIR/", &path);
        let shown = |text: String| text.replace(&path, "DIR/");
        let mut sheet = Sheet::parse(named(text).as_bytes(), false).map_err(shown)?;
        for file in sheet.samples.iter_mut().flat_map(|s| &mut s.lanes).flat_map(|lane| &mut lane.reads.files) {
            *file = Path::new("DIR").join(file.strip_prefix(folder.path()).unwrap());
        }
        Ok(sheet)
    }

    fn words(sheet: &Sheet) -> Vec<String> {
        let lane = |sample: &Sample, lane: &SampleLane| {
            let files: Vec<_> = lane.reads.files.iter().map(|file| file.display().to_string()).collect();
            let ReadGroup { id, fields } = &lane.read_group;
            format!("{}: {} {id} {} {}", sample.name, files.join("+"), fields.join(" "), lane.keeps_own)
        };
        sheet.samples.iter().flat_map(|sample| sample.lanes.iter().map(move |row| lane(sample, row))).collect()
    }

    #[test]
    fn rows_of_a_sample_are_its_lanes() {
        let found = sheet(
            "\u{feff}sample,fastq_1,fastq_2,strandedness,\r\nA,DIR/a_1.fq,DIR/a_2.fq,auto\nB,\"DIR/d e.fq\",,\n\n\
             A,DIR/b.fq,,,,\n",
        )
        .unwrap();
        assert_eq!(
            words(&found),
            [
                "A: DIR/a_1.fq+DIR/a_2.fq A.1 SM:A LB:A false",
                "A: DIR/b.fq A.2 SM:A LB:A false",
                "B: DIR/d e.fq B SM:B LB:B false"
            ]
        );
        assert_eq!(found.unknown, ["strandedness"]);
    }

    #[test]
    fn read_groups_and_bam() {
        let found = sheet(
            "sample\tbam\tfastq_1\trg_ID\trg_pl\tlane\tRG_lb\nA\tDIR/c.bam\t\t\t\t\t\n\
             A\t\tDIR/b.fq\tx\tILLUMINA\tL1\tone\nA\t\tDIR/a_1.fq\t\t\tL2\t\n",
        );
        assert_eq!(
            words(&found.unwrap()),
            [
                "A: DIR/c.bam A.1 SM:A LB:A true",
                "A: DIR/b.fq x PL:ILLUMINA LB:one SM:A false",
                "A: DIR/a_1.fq A.L2 SM:A LB:A false"
            ]
        );
    }

    #[test]
    fn semicolons_separate_columns_too() {
        let found = sheet("sample;fastq_1;fastq_2\r\nA;DIR/a_1.fq;DIR/a_2.fq\r\nB;DIR/b.fq;\r\n").unwrap();
        assert_eq!(words(&found), ["A: DIR/a_1.fq+DIR/a_2.fq A SM:A LB:A false", "B: DIR/b.fq B SM:B LB:B false"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, wanted) in [
            ("", "it is empty"),
            ("sample;reads\n", "must name the columns sample and fastq_1"),
            ("sample,reads\n", "must name the columns sample and fastq_1"),
            ("sample,fastq_1,sample\n", "the column sample twice"),
            ("sample,fastq_1,rg_platform\n", "the column rg_platform names no field of a read group"),
            ("sample,fastq_1\n", "it names no sample"),
            ("sample,fastq_1\n,DIR/b.fq\n", "line 2: the sample has no name"),
            ("sample,fastq_1\n\na/b,DIR/b.fq\n", "line 3: the sample 'a/b' is to name a file"),
            ("sample,fastq_1\nA,\n", "line 2: it names no reads"),
            ("sample,fastq_1,fastq_2\nA,DIR/b.fq\n", "line 2: it has 2 fields, but the first line names 3 columns"),
            ("sample,fastq_1\nA,DIR/a_1.fq,DIR/a_2.fq\n", "line 2: it has 3 fields, but the first line names 2"),
            ("sample,fastq_1,fastq2\nA,DIR/a_1.fq,DIR/a_2.fq\n", "the column fastq2: is fastq_2 meant?"),
            ("sample,fastq_1,rg_pl\nA,DIR/b.fq,\"ILL\nXX\"\n", "line 2: a field begins with \" and does not end"),
            (
                "sample,fastq_1,note\nA,DIR/b.fq,\"5' end\nB,DIR/a_1.fq,\n",
                "line 2: a field begins with \" and does not",
            ),
            ("sample,fastq_1\nA,DIR/a_1.fq\na,DIR/b.fq\n", "line 3: the samples 'A' and 'a' differ in upper and lower"),
            ("sample,fastq_1,lane\nA,DIR/a_1.fq,2\nA,DIR/b.fq,\n", "row 2 of sample A has no lane and no rg_id"),
            ("sample,fastq_1,fastq_2\nA,,DIR/b.fq\n", "line 2: it has a fastq_2, but no fastq_1"),
            ("sample,fastq_1,bam\nA,DIR/b.fq,DIR/c.bam\n", "line 2: it has both fastq_1 and bam"),
            ("sample,fastq_1\nA,-\n", "line 2: - is not there"),
            ("sample,fastq_1\nA,/dev/null\n", "line 2: /dev/null is not a regular file"),
            ("sample,fastq_1\nA,DIR/b.fq\nB,DIR/b.fq\n", "line 3: DIR/b.fq is named twice"),
            ("sample,fastq_1,fastq_2\nA,DIR/b.fq,DIR/./b.fq\n", "line 2: DIR/./b.fq is named twice"),
            ("sample,fastq_1\nA,DIR/none.fq\n", "line 2: DIR/none.fq is not there"),
            (
                "sample,fastq_1\nA,DIR/none.fq\n,DIR/b.fq\n",
                "line 2: DIR/none.fq is not there; line 3: the sample has no name",
            ),
        ] {
            let found = sheet(text).unwrap_err();
            assert!(found.contains(wanted), "{text:?}: {found}");
        }
    }
}
