//! Counts of cytosines with the names of their contigs, as they are told.

use super::{ByContext, ByCycle, Context, Cytosines, Methylation};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// What is told of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MethylationReport {
    /// Of all contigs.
    pub all: Vec<ContextReport>,
    /// Contigs with their names: those of controls, then the others in the order of the header, as many as have most
    /// cytosines.
    pub contigs: Vec<ContigMethylation>,
    /// By strand, mate and cycle.
    pub cycles: ByCycle,
    /// Cytosines of second mates that did not count, because the first mates cover them.
    pub covered_twice: u64,
}

/// What is told of one context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextReport {
    /// CpG, CHG, CHH, CN where it is not known, or C: all of them.
    pub context: String,
    /// How many there are.
    pub cytosines: Cytosines,
    /// The part of methylated ones, in percent.
    pub methylated_percent: f64,
    /// Between which values that lies with a probability of 95 %.
    pub interval_percent: [f64; 2],
}

/// What is told of a contig.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContigMethylation {
    /// Its name.
    pub name: String,
    /// Whether its name is that of a control.
    pub is_control: bool,
    /// What is told of its contexts.
    pub contexts: Vec<ContextReport>,
}

/// So many contigs are told of, beside those of controls.
const MOST_CONTIGS: usize = 100;
/// Names of controls: the phages lambda, T4, T7, phiX174 and Xp12, and the plasmid pUC19, with their accessions in
/// GenBank and RefSeq. What stands before or behind them, apart from letters and digits, makes no difference.
const CONTROLS: [&str; 17] = [
    "lambda",
    "j02459",
    "nc_001416",
    "puc19",
    "l09137",
    "m77789",
    "t4",
    "nc_000866",
    "af158101",
    "t7",
    "nc_001604",
    "v01146",
    "phix",
    "phix174",
    "nc_001422",
    "j02482",
    "xp12",
];

/// Whether a contig is a control that was put into the library.
///
/// ```
/// use zerohop_model::methylation::is_control;
/// assert!(["lambda", "J02459.1", "phage_lambda", "pUC19", "gi|215104|gb|J02459.1|"].into_iter().all(is_control));
/// assert!(!["chr4", "chrT40", "NC_0014160"].into_iter().any(is_control));
/// ```
pub fn is_control(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CONTROLS.iter().any(|control| {
        name.match_indices(control).any(|(at, _)| {
            let (before, behind) = (&name[..at], &name[at + control.len()..]);
            !before.ends_with(|c: char| c.is_ascii_alphanumeric())
                && !behind.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    })
}

impl MethylationReport {
    /// What was counted, with the names of the contigs; none if nothing was.
    pub fn of<'n>(counted: Methylation, name: impl Fn(u32) -> Option<&'n str>) -> Option<Self> {
        if counted.is_empty() {
            return None;
        }
        let Methylation { contigs, cycles, covered_twice } = counted;
        let mut all = ByContext::default();
        contigs.values().for_each(|contig| all += contig);
        let mut named: Vec<(u32, bool, &str, &ByContext)> = contigs
            .iter()
            .filter_map(|(number, counts)| name(*number).map(|name| (*number, is_control(name), name, counts)))
            .collect();
        named.sort_by_key(|(number, is_control, _, counts)| (!is_control, Reverse(counts.all().all()), *number));
        let controls = named.iter().filter(|(_, is_control, ..)| *is_control).count();
        named.truncate(controls + MOST_CONTIGS);
        named.sort_by_key(|(number, is_control, ..)| (!is_control, *number));
        let contigs = named.into_iter().map(|(_, is_control, name, counts)| ContigMethylation {
            name: name.to_owned(),
            is_control,
            contexts: told(counts),
        });
        Some(MethylationReport { all: told(&all), contigs: contigs.collect(), cycles, covered_twice })
    }
}

impl ContigMethylation {
    /// All cytosines, if it has some.
    pub fn all(&self) -> Option<&ContextReport> {
        self.contexts.last()
    }
}

/// What is told of contexts that have cytosines, and then of all together.
fn told(counts: &ByContext) -> Vec<ContextReport> {
    let told = |name: &str, cytosines: Cytosines| {
        Some(ContextReport {
            context: name.to_owned(),
            cytosines,
            methylated_percent: cytosines.methylated_percent()?,
            interval_percent: cytosines.interval_percent()?,
        })
    };
    let of_contexts = Context::ALL.into_iter().map(|context| told(context.name(), counts.of(context)));
    of_contexts.chain([told("C", counts.all())]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_come_first_and_contigs_with_most_cytosines_stay() {
        let mut counted = Methylation::default();
        for contig in 0..150 {
            let of_contig = counted.contigs.entry(contig).or_default();
            (0..=contig % 120).for_each(|_| of_contig.add(Context::Cpg, true));
        }
        let names: Vec<String> = (0..150).map(|n| if n == 120 { "lambda".into() } else { format!("c{n}") }).collect();
        let report = MethylationReport::of(counted, |number| names.get(number as usize).map(String::as_str)).unwrap();
        let told: Vec<&str> = report.contigs.iter().map(|contig| &*contig.name).collect();
        assert_eq!((told.len(), &told[..2]), (101, &["lambda", "c25"][..]));
        assert!(told.is_sorted_by_key(|name| name.strip_prefix('c').and_then(|number| number.parse::<u32>().ok())));
        let words: Vec<&str> = report.all.iter().map(|told| &*told.context).collect();
        assert_eq!(words, ["CpG", "C"]);
        assert_eq!(MethylationReport::of(Methylation::default(), |_| None), None);
    }
}
