//! The files that a report is of: which are read, what they hold, and the page that they make.

use crate::chart::ChartError;
use crate::natural;
use crate::page::Page;
use crate::recorded::{Recorded, RecordedError, show};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The points in a folder of `zerohop-lab`.
const POINTS: &str = "points.jsonl";

/// What `zerohop-lab` writes, for it alone to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfLaboratory {
    /// Points of `zerohop-lab scaling`, `farm` or `claims`, a line each.
    Points,
    /// Runs of `zerohop-lab exchange -o`, a line each.
    Exchanges,
}

impl OfLaboratory {
    /// What the first value in `text` says that it is.
    fn of(text: &str) -> Option<Self> {
        let first = serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok()?;
        let has = |names: &[&str]| names.iter().all(|name| first.get(name).is_some());
        if has(&["arm", "experiment"]) {
            Some(Self::Points)
        } else if has(&["variant", "repetition", "search_s", "ranks"]) {
            Some(Self::Exchanges)
        } else {
            None
        }
    }
}

/// The files that a report is of, of those that were given, and what the user should know of the others, a sentence
/// each.
///
/// `zerohop align --samples` writes the same for MultiQC beside NAME.json: that is read only where there is nothing
/// else. A folder of `zerohop-lab` is its points; another one is what `zerohop align` wrote to it.
///
/// # Errors
/// A folder without a run; a file in it with the ending .json that cannot be read, or is no JSON.
pub fn files_of(given: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), ReportError> {
    let (mut left_out, mut paths): (Vec<&PathBuf>, Vec<&PathBuf>) = given.iter().partition(|path| is_for_multiqc(path));
    if paths.is_empty() {
        std::mem::swap(&mut left_out, &mut paths);
    }
    let mut notes: Vec<String> =
        left_out.into_iter().map(|path| format!("{} is for MultiQC, and was left out", path.display())).collect();
    let mut files = Vec::new();
    for path in paths {
        match path.join(POINTS) {
            points if points.exists() => files.push(points),
            _ if path.is_dir() => files.extend(runs_in(path, &mut notes)?),
            _ => files.push(path.to_owned()),
        }
    }
    Ok((files, notes))
}

fn is_for_multiqc(path: &Path) -> bool {
    path.to_string_lossy().ends_with("_mqc.json")
}

/// The runs of `zerohop align` in a folder, in the order of their names; JSON of another kind is noted.
fn runs_in(folder: &Path, notes: &mut Vec<String>) -> Result<Vec<PathBuf>, ReportError> {
    let fault = |what: String| ReportError::File { path: folder.to_owned(), what };
    let entries = std::fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|error| fault(format!("cannot read: {error}")))?;
    let is_json = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "json") && !is_for_multiqc(path) && !path.is_dir()
    };
    let mut all: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_json).collect();
    all.sort_by(|a, b| natural::compare(&a.to_string_lossy(), &b.to_string_lossy()));
    let mut files = Vec::new();
    for path in all {
        if is_run(&path)? {
            files.push(path);
        } else {
            notes.push(format!("{} is no run of 'zerohop align', and was left out", path.display()));
        }
    }
    if files.is_empty() {
        let what = "no run of 'zerohop align' is in it; expected: a folder with NAME.json, as 'zerohop align \
                    --samples' or '--json' writes them";
        return Err(fault(what.to_owned()));
    }
    Ok(files)
}

/// Whether a file is a run of `zerohop align`, and not JSON of another kind.
fn is_run(path: &Path) -> Result<bool, ReportError> {
    let text = text_of(path)?;
    if OfLaboratory::of(&text).is_some() {
        return Ok(false);
    }
    let fault = |error| ReportError::File { path: path.to_owned(), what: words(&error, "a run of 'zerohop align'") };
    Recorded::is_run(&text).map_err(fault)
}

fn text_of(path: &Path) -> Result<String, ReportError> {
    let fault = |error| ReportError::File { path: path.to_owned(), what: format!("cannot read: {error}") };
    std::fs::read_to_string(path).map_err(fault)
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read, or holds nothing that can be shown.
    #[error("{}: {what}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A chart cannot be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
}

/// What a program makes of the files that `zerohop-lab` wrote.
pub trait Laboratory {
    /// What files may hold, for whoever gave another one: the end of 'expected:'.
    fn expected(&self) -> &'static str;

    /// Takes the `text` of the file `name`.
    ///
    /// # Errors
    /// Says why it is not shown.
    fn take(&mut self, kind: OfLaboratory, name: &str, text: &str) -> Result<(), String>;

    /// Adds what was taken to `page`.
    ///
    /// # Errors
    /// A chart that cannot be drawn.
    fn show(&self, page: &mut Page) -> Result<(), ChartError>;
}

/// The page of `files`, in HTML; `laboratory` takes and shows those that `zerohop-lab` wrote.
///
/// # Errors
/// A file that cannot be read or shown; a chart that cannot be drawn.
pub fn report(title: &str, files: &[PathBuf], laboratory: &mut dyn Laboratory) -> Result<String, ReportError> {
    let mut records = Vec::new();
    for path in files {
        let fault = |what: String| ReportError::File { path: path.clone(), what };
        let text = text_of(path)?;
        let name = path.display().to_string();
        match OfLaboratory::of(&text) {
            Some(kind) => laboratory.take(kind, &name, &text).map_err(fault)?,
            None => {
                let record = Recorded::from_json(&text).map_err(|error| fault(words(&error, laboratory.expected())))?;
                records.push((name, record));
            }
        }
    }
    let mut page = Page::new(title);
    show(&mut page, &records)?;
    laboratory.show(&mut page)?;
    page.note(&format!(
        "Made by zerohop {}. What was projected or predicted, and not measured, says so.",
        env!("CARGO_PKG_VERSION")
    ));
    Ok(page.html())
}

fn words(error: &RecordedError, expected: &str) -> String {
    match error {
        RecordedError::Damaged { .. } => error.to_string(),
        RecordedError::NotJson(_) | RecordedError::Unknown => format!("{error}; expected: {expected}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laboratory_is_found_out_by_the_first_value() {
        let of = OfLaboratory::of;
        assert_eq!(of("{\"arm\": {}, \"experiment\": {}}\nwhat"), Some(OfLaboratory::Points));
        let run = r#"{"variant": "flush", "repetition": 0, "search_s": 1.5, "ranks": []}"#;
        assert_eq!(of(&format!("{run}\n{run}\n")), Some(OfLaboratory::Exchanges));
        for other in ["", "@r", "[1]", r#"{"variant": "flush", "ranks": [], "queries": 1}"#] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn of_a_folder_only_json_of_another_kind_is_left_out() {
        let folder = std::env::temp_dir().join(format!("zerohop-report-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("folder.json")).unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
        let of = || files_of(std::slice::from_ref(&folder));
        let run = crate::fixtures::summary(1, 1, 1.0).json().unwrap();
        write("S1.json", run.as_bytes());
        write("other.json", b"{\"a\": 1}");
        write("lines.json", b"{\"arm\": 1, \"experiment\": 2}\n{}\n");
        let (files, notes) = of().unwrap();
        assert_eq!((files, notes.len()), (vec![folder.join("S1.json")], 2), "{notes:?}");
        let refused = |bytes: &[u8]| {
            write("S2.json", bytes);
            of().unwrap_err().to_string()
        };
        let torn = refused(&run.as_bytes()[..run.len() / 2]);
        assert!(torn.contains("S2.json: it is not JSON (EOF") && torn.ends_with("a run of 'zerohop align'"), "{torn}");
        let bytes = refused(b"{\"sample\": \"\xff\"}");
        assert!(bytes.contains("S2.json: cannot read: ") && bytes.contains("UTF-8"), "{bytes}");
        std::fs::remove_file(folder.join("S2.json")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("S2.json")).unwrap();
        let unreadable = of().unwrap_err().to_string();
        assert!(unreadable.contains("S2.json: cannot read: "), "{unreadable}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_for_multiqc_is_read_only_where_there_is_nothing_else() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let (files, notes) = files_of(&paths(&["a.json", "a_mqc.json"])).unwrap();
        assert_eq!(files, paths(&["a.json"]));
        assert_eq!(notes, ["a_mqc.json is for MultiQC, and was left out"]);
        assert_eq!(files_of(&paths(&["a_mqc.json"])).unwrap(), (paths(&["a_mqc.json"]), Vec::new()));
    }
}
