//! What a file of results holds, found out by its content.

use crate::chart::ChartError;
use crate::map_page::MeasuredMachine;
use crate::page::Page;
use crate::samples_page::{self, ShownRun};
use crate::search_page::SearchRun;
use crate::summary::{SCHEMA_VERSION, Summary};
use crate::{comparison, map_page, runs, search_page, tuning_page};
use serde::de::DeserializeOwned;
use serde_json::Value;
use zerohop_model::exchange::SEARCH_VERSION;
use zerohop_model::thousands::grouped;
use zerohop_model::tuning::Tuning;

/// The most runs that a page shows each by itself: each takes about 100 kB.
const MOST_RUNS: usize = 50;

/// Results of `zerohop` that can be shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Recorded {
    /// A run of `zerohop align`.
    Align(Box<Summary>),
    /// A run of `zerohop search`.
    Search(Box<SearchRun>),
    /// A tuning.
    Tuning(Box<Tuning>),
    /// A machine with its memory map.
    Map(Box<MeasuredMachine>),
}

/// Why a file cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordedError {
    /// It is not JSON.
    #[error("it is not JSON ({0})")]
    NotJson(serde_json::Error),
    /// It is JSON of another kind.
    #[error("it is JSON, but of another kind")]
    Unknown,
    /// It is of a known kind, but something is missing or wrong in it.
    #[error("it looks like what '{command}' writes, but cannot be used: {why}")]
    Damaged {
        /// The command that writes such files.
        command: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// Fields that only a run of `zerohop align` has.
const OF_RUN: [&str; 3] = ["run", "plan", "index"];

impl Recorded {
    /// Whether `text` looks like a run of `zerohop align`, of whatever version.
    ///
    /// # Errors
    /// Text that is no JSON.
    pub(crate) fn is_run(text: &str) -> Result<bool, RecordedError> {
        let value: Value = serde_json::from_str(text).map_err(RecordedError::NotJson)?;
        Ok(OF_RUN.iter().all(|name| value.get(name).is_some()))
    }

    /// What `text` holds.
    ///
    /// # Errors
    /// Text that is none of the results.
    pub(crate) fn from_json(text: &str) -> Result<Self, RecordedError> {
        let value: Value = serde_json::from_str(text).map_err(RecordedError::NotJson)?;
        let has = |names: &[&str]| names.iter().all(|name| value.get(name).is_some());
        if has(&["findings", "trials"]) {
            is_version(&value, "zerohop tune", Tuning::SCHEMA_VERSION)?;
            Ok(Recorded::Tuning(parsed("zerohop tune", value)?))
        } else if has(&["machine", "map"]) {
            Ok(Recorded::Map(parsed("zerohop topo --measure --json", value)?))
        } else if has(&OF_RUN) {
            is_version(&value, "zerohop align --json", SCHEMA_VERSION)?;
            Ok(Recorded::Align(parsed("zerohop align --json", value)?))
        } else if has(&["ranks", "queries", "output_bytes"]) {
            is_version(&value, "zerohop search --json", SEARCH_VERSION)?;
            Ok(Recorded::Search(parsed("zerohop search --json", value)?))
        } else {
            Err(RecordedError::Unknown)
        }
    }
}

/// Whether `value` is this version of what a command writes.
fn is_version(value: &Value, command: &'static str, expected: u32) -> Result<(), RecordedError> {
    let version = value.get("schema_version").and_then(Value::as_u64);
    if version == Some(u64::from(expected)) {
        return Ok(());
    }
    let shown = version.map_or("no version".to_owned(), |version| format!("version {version}"));
    let why = format!("it is {shown} of this form, and this zerohop reads version {expected}");
    Err(RecordedError::Damaged { command, why })
}

fn parsed<T: DeserializeOwned>(command: &'static str, value: Value) -> Result<Box<T>, RecordedError> {
    let why = |error: serde_json::Error| RecordedError::Damaged { command, why: error.to_string() };
    serde_json::from_value(value).map(Box::new).map_err(why)
}

/// Adds to `page` all that there is to show of `records`, each with its name.
///
/// # Errors
/// A chart that cannot be drawn.
pub(crate) fn show(page: &mut Page, records: &[(String, Recorded)]) -> Result<(), ChartError> {
    let mut heading = None;
    let mut under = |page: &mut Page, text: &'static str| {
        if heading.replace(text) != Some(text) {
            page.heading(text);
        }
    };
    for (name, record) in records {
        if let Recorded::Tuning(tuning) = record {
            under(page, "Tuning");
            tuning_page::add(page, name, tuning)?;
        }
    }
    show_runs(page, records)?;
    for (name, record) in records {
        if let Recorded::Search(run) = record {
            under(page, "Searches");
            search_page::add(page, name, run);
        }
    }
    for (name, record) in records {
        if let Recorded::Map(measured) = record {
            under(page, "Memory");
            map_page::add(page, name, measured);
        }
    }
    Ok(())
}

/// Adds the runs of `zerohop align`: samples, what compares them, and each; of very many not each.
fn show_runs(page: &mut Page, records: &[(String, Recorded)]) -> Result<(), ChartError> {
    let runs = records
        .iter()
        .filter_map(|(name, record)| if let Recorded::Align(run) = record { Some((name, run)) } else { None });
    let runs: Vec<ShownRun<'_>> =
        runs.enumerate().map(|(number, (file, run))| ShownRun { file, run, number }).collect();
    if runs.is_empty() {
        return Ok(());
    }
    let with_each = runs.len() <= MOST_RUNS;
    samples_page::add(page, &runs, with_each);
    page.heading("Runs");
    let named: Vec<comparison::Named<'_>> = runs.iter().map(|shown| (shown.file, shown.run)).collect();
    comparison::add(page, &named)?;
    if with_each {
        return runs.iter().try_for_each(|shown| runs::add(page, shown));
    }
    page.note(&format!(
        "These are {} runs. A page of more than {MOST_RUNS} does not show each. 'zerohop report -o one.html NAME.json' \
         shows one of them, where NAME.json is its file, such as {}.",
        grouped(runs.len() as u64),
        runs[0].file
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn page(records: &[(&str, Recorded)]) -> String {
        let mut page = Page::new("t");
        let records: Vec<_> = records.iter().map(|(name, record)| ((*name).to_owned(), record.clone())).collect();
        show(&mut page, &records).unwrap();
        page.html()
    }

    #[test]
    fn each_kind_is_found_out_by_its_content() {
        let (run, map) = (fixtures::summary(2, 2, 10.0), fixtures::map(2));
        let tuning = fixtures::tuning(true);
        let json = |value: serde_json::Result<String>| Recorded::from_json(&value.unwrap()).unwrap();
        assert_eq!(json(run.json()), Recorded::Align(Box::new(run)));
        assert_eq!(json(serde_json::to_string(&tuning)), Recorded::Tuning(Box::new(tuning)));
        assert_eq!(json(serde_json::to_string(&map)), Recorded::Map(Box::new(map)));
    }

    #[test]
    fn other_files_are_refused_with_words() {
        let words = |text: &str| Recorded::from_json(text).unwrap_err().to_string();
        assert!(words("@read\nACGT").starts_with("it is not JSON"));
        assert_eq!(words("[1]"), "it is JSON, but of another kind");
        assert_eq!(words(r#"{"machine": 1}"#), "it is JSON, but of another kind");
        let damaged = words(r#"{"machine": 1, "map": 2}"#);
        assert!(damaged.starts_with("it looks like what 'zerohop topo --measure --json' writes, but"), "{damaged}");
        let later = words(r#"{"run": 1, "plan": 2, "index": 3, "schema_version": 99}"#);
        assert!(later.contains("it is version 99 of this form, and this zerohop reads version 1"), "{later}");
    }

    #[test]
    fn a_run_shows_all_that_it_has() {
        let html = page(&[("r<1>.json", Recorded::Align(Box::new(fixtures::summary(8, 8, 10.0))))]);
        for wanted in [
            "r&lt;1&gt;.json",
            "a &lt;b&gt;.fa",
            "12,345,678 in, 12,345,678 accounted for",
            "<th scope=\"row\">map</th><td>425.600</td><td>66.5 %</td>",
            "node 7 (8 workers)",
            "local to node 3",
            "97.7 %",
            "8 workers read copy 5",
            "A note &amp; more.",
            "Distances between nodes",
        ] {
            assert!(html.contains(wanted), "{wanted} is not in {html}");
        }
        let one_node = page(&[("r", Recorded::Align(Box::new(fixtures::summary(1, 64, 10.0))))]);
        assert!(one_node.contains("<span>workers 62-63</span>") && one_node.contains("<span>workers 0-1</span>"));
        assert!(!html.contains("Runs compared") && !html.contains("<nav>") && !html.contains("worker 9"));
    }

    #[test]
    fn a_search_shows_what_both_threads_of_its_ranks_did() {
        let search = |ranks| Recorded::from_json(&fixtures::search(ranks)).unwrap();
        let html = page(&[("s.json", search(2))]);
        for wanted in [
            ">Searches</h2>",
            "<td>2 (a &lt;b&gt; network)</td>",
            "1,234 in, 1,234 answered",
            "<span>rank 1, search</span>",
            "<span>rank 1, exchange</span>",
            "wait for records",
            "<td>0.300</td>",
        ] {
            assert!(html.contains(wanted), "{wanted} is not in {html}");
        }
        let old = fixtures::search(2).replacen('{', "{\"variant\":\"two-sided\",", 1);
        let old = page(&[("s.json", Recorded::from_json(&old).unwrap())]);
        assert!(old.contains("<td>2 (a &lt;b&gt; network), two-sided</td>"), "{old}");
        let many = page(&[("s.json", search(33))]);
        assert!(many.contains("<span>ranks 30-32, exchange</span>") && many.contains("There are many ranks"));
    }

    #[test]
    fn only_runs_of_the_same_reads_are_compared() {
        let (one, two) = (fixtures::summary(2, 2, 10.0), fixtures::summary(2, 4, 6.0));
        let other = Summary { inputs: vec![vec!["other.fq".to_owned()]], ..one.clone() };
        let record = |run: &Summary| Recorded::Align(Box::new(run.clone()));
        let html = page(&[("1", record(&one)), ("2", record(&two)), ("3", record(&other))]);
        assert!(html.contains("2 runs on fixture, each of the same 12,345,678 reads"), "{html}");
        assert!(html.contains("Execution time by threads and policy") && html.contains("<td>13.500</td>"), "{html}");
        assert!(!page(&[("1", record(&one)), ("3", record(&other))]).contains("Runs compared"));
    }

    #[test]
    fn of_very_many_runs_the_table_of_samples_is_shown_alone() {
        let run = |number: usize| {
            let sample = format!("S{number}");
            let inputs = vec![vec![format!("{sample}.fq")]];
            Recorded::Align(Box::new(Summary { inputs, ..fixtures::with_figures(&sample) }))
        };
        let of = |count: usize| {
            let records: Vec<_> = (1..=count).map(|number| (format!("d/S{number}.json"), run(number))).collect();
            let mut page = Page::new("t");
            show(&mut page, &records).unwrap();
            page.html()
        };
        let (each, alone) = (of(MOST_RUNS), of(MOST_RUNS + 1));
        assert_eq!(each.matches("<h3 id=\"run-").count(), MOST_RUNS);
        assert!(each.contains("<a href=\"#run-50\">S50</a>") && !each.contains("does not show each"));
        assert!(!alone.contains("What was sequenced") && !alone.contains("#run-"), "{alone}");
        assert!(alone.contains("S51 (d/S51.json)") && alone.len() < 100_000, "{alone}");
        assert!(alone.contains("These are 51 runs.") && alone.contains("such as d/S1.json."), "{alone}");
        let same = [("a", fixtures::summary(1, 1, 1.0)), ("b", fixtures::summary(1, 2, 1.0))];
        let same = same.map(|(name, run)| (name, Recorded::Align(Box::new(run))));
        let many = page(&same.iter().cycle().take(MOST_RUNS + 2).cloned().collect::<Vec<_>>());
        assert!(many.contains("Runs compared") && many.contains("class=\"samples\""), "{many}");
    }

    #[test]
    fn what_was_projected_says_so() {
        let tuning = |full| page(&[("t.json", Recorded::Tuning(Box::new(fixtures::tuning(full))))]);
        let (full, part) = (tuning(true), tuning(false));
        assert!(
            part.contains("projected (s)")
                && part.contains("class=\"bars computed\"")
                && part.contains("<th scope=\"col\">mean s, projected</th>")
        );
        assert!(!full.contains("projected") && !full.contains("bars computed"));
        for wanted in ["Part A: one copy", "Part B: several", "A: 1 x 64 threads, original", "1.00x", "took 1.31 times"]
        {
            assert!(full.contains(wanted), "{wanted} is not in {full}");
        }
        let tuning = Tuning { findings: Vec::new(), ..fixtures::tuning(true) };
        assert!(page(&[("t", Recorded::Tuning(Box::new(tuning)))]).contains("there are no speed-ups to show"));
    }

    #[test]
    fn a_map_shows_every_number() {
        let html = page(&[("m.json", Recorded::Map(Box::new(fixtures::map(8))))]);
        for wanted in [
            ">95.0<",
            ">13.5<",
            ">190.0<",
            "<th scope=\"row\">all that of node 0</th><td>1234.5</td>",
            "2026-11-18 11:06 UTC",
            "&lt;refused&gt;",
        ] {
            assert!(html.contains(wanted), "{wanted} is not in {html}");
        }
    }

    #[test]
    fn results_without_anything_in_them_are_no_reason_to_fail() {
        let whole = fixtures::summary(1, 1, 0.0);
        let mut empty = Summary { replicas: Vec::new(), ..whole };
        empty.run.workers.clear();
        empty.run.tally = Default::default();
        let html = page(&[("e", Recorded::Align(Box::new(empty)))]);
        assert!(html.contains("There is no time line") && !html.contains("NaN") && !html.contains(">inf"), "{html}");
    }
}
