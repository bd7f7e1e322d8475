//! What was found of the cytosines of bisulfite reads, as a table and pictures.

use crate::curves::{Curve, measured};
use crate::methylation::lines;
use crate::page::Table;
use zerohop_model::methylation::{ByContext, Context, ContextReport, ContigMethylation, Cytosines, MethylationReport};
use zerohop_model::thousands::grouped;

/// All contexts of all contigs that are told of.
pub(crate) fn table(found: &MethylationReport) -> Table {
    let head = ["contig", "context", "methylated", "converted", "methylated %", "95 % interval"];
    let row = |name: &str, told: &ContextReport| {
        let Cytosines { methylated, converted } = told.cytosines;
        let [low, high] = told.interval_percent;
        vec![
            name.to_owned(),
            told.context.clone(),
            grouped(methylated),
            grouped(converted),
            format!("{:.3}", told.methylated_percent),
            format!("{low:.3} to {high:.3}"),
        ]
    };
    let of_contig = |contig: &ContigMethylation| {
        let name = contig.name.clone() + if contig.is_control { " (control)" } else { "" };
        contig.contexts.iter().map(|told| row(&name, told)).collect::<Vec<_>>()
    };
    let all = found.all.iter().map(|told| row("all", told));
    Table {
        head: head.map(str::to_owned).to_vec(),
        rows: all.chain(found.contigs.iter().flat_map(of_contig)).collect(),
    }
}

/// M-bias: the part of methylated ones by cycle, of CpG and of all others, for each strand and mate.
pub(crate) fn m_bias(found: &MethylationReport) -> [Option<Curve>; 2] {
    let of_cpg = |all: &ByContext| all.of(Context::Cpg);
    let of_others = |all: &ByContext| all.of(Context::Chg) + all.of(Context::Chh);
    let titles = ["Methylated CpG by cycle (M-bias)", "Methylated CHG and CHH by cycle"];
    let curve = |title: &str, of: &dyn Fn(&ByContext) -> Cytosines| {
        let lines = lines(found, of).into_iter().enumerate();
        let series = lines.map(|(colour, (name, points))| measured(&name, points, colour));
        Curve::new(title, "cycle", "methylated (%)", series.collect(), 2)
    };
    [curve(titles[0], &of_cpg), curve(titles[1], &of_others)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methylation::tests::found;

    #[test]
    fn cpg_and_others_have_a_picture_each() {
        let [cpg, others] = m_bias(&found()).map(Option::unwrap);
        assert_eq!(cpg.chart.series[0].points, [(1.0, 50.0), (2.0, 75.0)]);
        assert_eq!(others.chart.series[0].points, [(1.0, 0.0), (2.0, 25.0)]);
        assert_eq!(table(&found()).rows[2][..2], ["lambda (control)", "C"]);
    }
}
