//! What was found of the cytosines of bisulfite reads: words, and what MultiQC shows.

use serde_json::{Map, Value, json};
use zerohop_model::methylation::{ByContext, Context, ContextReport, ContigMethylation, Cytosines, MethylationReport};
use zerohop_model::thousands::grouped;

/// The contexts that are told of in words.
const TOLD: [Context; 3] = [Context::Cpg, Context::Chg, Context::Chh];
/// Strands, and mates on them, as they are called in a legend.
const STRANDS: [&str; 2] = ["original top", "original bottom"];
const MATES: [&str; 2] = ["first reads", "second reads"];

/// How many are methylated, by context.
pub(crate) fn words(found: &MethylationReport) -> String {
    let all: u64 = found.all.last().map_or(0, |all| all.cytosines.all());
    format!("{} methylated; {} in all", contexts(&found.all), grouped(all))
}

/// The same of each control.
pub(crate) fn controls(found: &MethylationReport) -> impl Iterator<Item = String> {
    found.contigs.iter().filter(|contig| contig.is_control).filter_map(|contig| {
        let all = contig.all()?;
        let [low, high] = converted(all);
        Some(format!(
            "{}: {:.2} % of {} cytosines converted (95 % interval: {low:.2} to {high:.2}); {} methylated",
            contig.name,
            100.0 - all.methylated_percent,
            grouped(all.cytosines.all()),
            contexts(&contig.contexts),
        ))
    })
}

fn contexts(told: &[ContextReport]) -> String {
    let of = |context: Context| told.iter().find(|told| told.context == context.name());
    let words =
        TOLD.into_iter().filter_map(of).map(|told| format!("{} {:.2} %", told.context, told.methylated_percent));
    words.collect::<Vec<_>>().join(", ")
}

/// Between which values the part of converted ones lies.
fn converted(told: &ContextReport) -> [f64; 2] {
    let [low, high] = told.interval_percent;
    [100.0 - high, 100.0 - low]
}

/// A line of a picture: its name, and its points.
pub(crate) type Line = (String, Vec<(f64, f64)>);

/// For each strand and mate that there is, the part of methylated ones by cycle, from 1, in percent. Cycles without any
/// are left out.
pub(crate) fn lines(found: &MethylationReport, of: &dyn Fn(&ByContext) -> Cytosines) -> Vec<Line> {
    let mut lines = Vec::new();
    for (mates, strand) in found.cycles.iter().zip(STRANDS) {
        for (cycles, mate) in mates.iter().zip(MATES) {
            let point = |(cycle, all): (usize, &ByContext)| Some((cycle as f64 + 1.0, of(all).methylated_percent()?));
            let points: Vec<(f64, f64)> = cycles.iter().enumerate().filter_map(point).collect();
            if !points.is_empty() {
                lines.push((format!("{mate}, {strand}"), points));
            }
        }
    }
    lines
}

/// Columns of MultiQC's general statistics: their key, title, what they say, and the value in percent.
pub(crate) fn columns(found: &MethylationReport) -> Vec<(String, String, String, f64)> {
    let of_context = |told: &ContextReport| {
        let name = &told.context;
        let text = format!("zerohop: {name} that are methylated");
        (format!("zerohop_{}", name.to_lowercase()), format!("m{name}"), text, told.methylated_percent)
    };
    let contexts = found.all.iter().filter(|told| TOLD.iter().any(|context| told.context == context.name()));
    let control = |contig: &ContigMethylation| {
        let name = &contig.name;
        let text = format!("zerohop: cytosines of the control {name} that are converted");
        let converted = 100.0 - contig.all()?.methylated_percent;
        Some((format!("zerohop_converted_{name}"), format!("{name} converted"), text, converted))
    };
    let controls = found.contigs.iter().filter(|contig| contig.is_control).filter_map(control);
    contexts.map(of_context).chain(controls).collect()
}

/// M-bias as a section of MultiQC, of a sample.
pub(crate) fn multiqc(found: &MethylationReport, sample: &str) -> Value {
    let of_context = |context: Context| {
        let points = |points: Vec<(f64, f64)>| -> Map<String, Value> {
            points.into_iter().map(|(cycle, value)| (cycle.to_string(), json!(value))).collect()
        };
        let lines = lines(found, &|all| all.of(context)).into_iter();
        lines.map(|(name, of_line)| (format!("{sample} ({name})"), points(of_line).into())).collect::<Map<_, _>>()
    };
    let label = |context: Context| json!({"name": context.name(), "ylab": "methylated (%)", "xlab": "cycle"});
    json!({
        "id": "zerohop_m_bias",
        "section_name": "M-bias",
        "description": "zerohop: the part of methylated cytosines by cycle, for each mate and strand",
        "plot_type": "linegraph",
        "pconfig": {"id": "zerohop_m_bias_plot", "title": "zerohop: M-bias", "xlab": "cycle", "ylab": "methylated (%)",
            "ymin": 0, "ymax": 100, "data_labels": TOLD.map(label)},
        "data": TOLD.map(of_context),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn found() -> MethylationReport {
        let report = json!({
            "all": [
                {"context": "CpG", "cytosines": {"methylated": 700, "converted": 300}, "methylated_percent": 70.0,
                    "interval_percent": [67.1, 72.8]},
                {"context": "C", "cytosines": {"methylated": 700, "converted": 1300}, "methylated_percent": 35.0,
                    "interval_percent": [32.9, 37.1]},
            ],
            "contigs": [
                {"name": "lambda", "is_control": true, "contexts": [
                    {"context": "C", "cytosines": {"methylated": 4, "converted": 996}, "methylated_percent": 0.4,
                        "interval_percent": [0.2, 1.0]},
                ]},
                {"name": "chr1", "is_control": false, "contexts": []},
            ],
            "cycles": [[
                [[{"methylated": 1, "converted": 1}, {"methylated": 0, "converted": 0},
                    {"methylated": 0, "converted": 9}, {"methylated": 0, "converted": 0}],
                 [{"methylated": 3, "converted": 1}, {"methylated": 1, "converted": 1},
                    {"methylated": 0, "converted": 2}, {"methylated": 0, "converted": 0}]],
                [],
            ], [[], []]],
            "covered_twice": 7,
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn words_tell_of_all_contexts_and_controls() {
        assert_eq!(words(&found()), "CpG 70.00 % methylated; 2,000 in all");
        let controls: Vec<String> = controls(&found()).collect();
        let wanted = "lambda: 99.60 % of 1,000 cytosines converted (95 % interval: 99.00 to 99.80);  methylated";
        assert_eq!(controls, [wanted]);
    }

    #[test]
    fn lines_are_those_of_strands_and_mates_that_there_are() {
        let lines = lines(&found(), &|all| all.of(Context::Cpg));
        assert_eq!(lines, [("first reads, original top".to_owned(), vec![(1.0, 50.0), (2.0, 75.0)])]);
        let section = multiqc(&found(), "s");
        assert_eq!(section["data"][0]["s (first reads, original top)"]["2"], 75.0);
        let keys: Vec<String> = columns(&found()).into_iter().map(|(key, ..)| key).collect();
        assert_eq!(keys, ["zerohop_cpg", "zerohop_converted_lambda"]);
    }
}
