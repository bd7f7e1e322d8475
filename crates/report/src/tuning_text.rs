//! A tuning as text: the tables of Lenis & Senar (2016, 2017), and what follows from them.

use std::collections::BTreeSet;
use std::fmt::Write;
use zerohop_model::plan::Pages;
use zerohop_model::thousands::grouped;
use zerohop_model::tuning::{Finding, Part, Tuning};

/// The columns: a page policy, or the farm.
const COLUMNS: [(&str, Option<Pages>); 5] = [
    ("original", Some(Pages::FirstTouch)),
    ("local", Some(Pages::Local)),
    ("localalloc", Some(Pages::LocalAlloc)),
    ("interleave", Some(Pages::Interleave)),
    ("farm", None),
];

/// The tables of both parts, the best choice, and how sure it is.
pub fn tuning_text(tuning: &Tuning) -> String {
    let (engine, version) = &tuning.engine;
    let how = if tuning.full { "in full" } else { "projected from trials on part of them" };
    let mut text = format!("{engine} {version}, seconds for {} reads, {how}\n", grouped(tuning.reads));
    part(&mut text, tuning, Part::A, "one index copy", "threads");
    part(&mut text, tuning, Part::B, "several index copies, or processes that share them", "copies x threads");
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\nbest: {}\n{}",
        tuning.findings.first().map(|best| best.choice.to_string()).unwrap_or_default(),
        tuning.sure
    );
    let dropped = tuning.findings.iter().filter_map(|finding| Some((finding.choice, finding.dropped.as_ref()?)));
    for (choice, why) in dropped {
        let _ = writeln!(text, "  {choice}: {why}");
    }
    let trials = tuning.trials.len();
    let _ = writeln!(text, "{trials} {} in {:.0} s.", if trials == 1 { "trial" } else { "trials" }, tuning.took_s);
    text
}

fn part(text: &mut String, tuning: &Tuning, part: Part, title: &str, of_rows: &str) {
    let findings: Vec<&Finding> = tuning.findings.iter().filter(|finding| finding.choice.part() == part).collect();
    let rows: BTreeSet<(usize, usize)> = findings.iter().map(|f| (f.choice.threads, f.choice.copies)).collect();
    if rows.is_empty() {
        return;
    }
    let in_column = |finding: &Finding, pages: Option<Pages>| match pages {
        None => finding.choice.farm,
        Some(pages) => !finding.choice.farm && finding.choice.pages == pages,
    };
    let columns: Vec<_> =
        COLUMNS.iter().filter(|(_, pages)| findings.iter().any(|finding| in_column(finding, *pages))).collect();
    let heads: String = columns.iter().map(|(name, _)| format!("{name:>18}")).collect();
    let _ = writeln!(text, "\nPart {part:?}: {title}\n{of_rows:>16}{heads}");
    for (threads, copies) in rows {
        let of_row = |finding: &&&Finding| (finding.choice.threads, finding.choice.copies) == (threads, copies);
        let cells: String = columns
            .iter()
            .map(|(_, pages)| findings.iter().filter(of_row).find(|finding| in_column(finding, *pages)))
            .map(|found| format!("{:>18}", found.map_or_else(String::new, |finding| cell(finding))))
            .collect();
        let row = match part {
            Part::A => threads.to_string(),
            Part::B => format!("{copies} x {}", threads as f64 / copies as f64),
        };
        let _ = writeln!(text, "{row:>16}{cells}");
    }
}

/// Mean seconds and the relative error; `-` for what did not run to an end.
fn cell(finding: &Finding) -> String {
    match (finding.seconds, finding.relative_error) {
        (None, _) => "-".to_owned(),
        (Some(seconds), Some(error)) => format!("{seconds:.2} ({:.1} %)", 100.0 * error),
        (Some(seconds), None) => format!("{seconds:.2}"),
    }
}
