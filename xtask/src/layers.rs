//! Which crate may import which: the one-way rule of the design, as a table.

use crate::graph::{self, Graph};
use crate::workspace::Package;

/// What a crate may import from the workspace.
enum Allowed {
    /// These places only.
    Only(&'static [&'static str]),
    /// Everything but the leaves and the laboratory.
    Everything,
}

const MODEL: &str = "crates/model";
const TOPOLOGY: &str = "crates/topology";
const MEMORY: &str = "crates/memory";
const PROCESS: &str = "crates/process";
const BGZF: &str = "crates/bgzf";
const GZIP: &str = "crates/gzip";
const CRAM: &str = "crates/cram";
const INPUT: &str = "crates/input";
const OUTPUT: &str = "crates/output";
const QC: &str = "crates/qc";
const SORT: &str = "crates/sort";
const DUPLICATES: &str = "crates/duplicates";
const UMI: &str = "crates/umi";
const TRIM: &str = "crates/trim";
const RUNTIME: &str = "crates/runtime";
const PLAN: &str = "crates/plan";
const RANKS: &str = "crates/ranks";
const REPORT: &str = "crates/report";
const NULL: &str = "crates/engines/null";
const STROBEALIGN: &str = "crates/engines/strobealign";
const BWA_MEM: &str = "crates/engines/bwa-mem";
const RAMMAP: &str = "crates/engines/rammap";
const EXTERNAL: &str = "crates/engines/external";

/// Who reads command lines, and so may import clap and what belongs to it.
const READS_COMMAND_LINES: &[&str] = &["crates/cli", "crates/lab", "bench"];

/// The laboratory, and who may import it: no program that aligns does.
const LABORATORY: &[&str] = &["crates/lab", "crates/lab/locks"];
const IMPORTS_LABORATORY: &[&str] = &["crates/lab", "fuzz"];

/// Crates in which a run without ranks never enters the code of ranks: their module `ranks`, which the root alone may
/// name.
const WRAPPED_BY_RANKS: &[&str] = &["crates/align", "crates/search"];

/// Crates that nobody imports.
const LEAVES: &[&str] = &["crates/cli", "bench", "examples/own-aligner", "fuzz", "xtask"];

/// The rule for the crate at `place`; `None` for a crate that the design does not know.
fn allowed(place: &str) -> Option<Allowed> {
    use Allowed::{Everything, Only};
    Some(match place {
        "crates/model" | "crates/process" | "crates/gzip" | UMI | "crates/lab/locks" => Only(&[]),
        "crates/topology" | "crates/memory" | "crates/report" | "crates/plan" | TRIM => Only(&[MODEL]),
        "crates/bgzf" => Only(&[MODEL, GZIP]),
        // It reads SAM and CRAM in a process of its own.
        "crates/cram" => Only(&[MODEL, PROCESS]),
        "crates/input" => Only(&[MODEL, BGZF, GZIP, CRAM, UMI, TRIM]),
        "crates/sort" => Only(&[MODEL, BGZF, MEMORY]),
        "crates/duplicates" => Only(&[MODEL, SORT, UMI]),
        "crates/output" => Only(&[MODEL, BGZF, CRAM, PROCESS, SORT, DUPLICATES]),
        "crates/qc" => Only(&[MODEL, CRAM, OUTPUT]),
        "crates/runtime" | "crates/probe" => Only(&[MODEL, TOPOLOGY, MEMORY]),
        "crates/ranks" => Only(&[MODEL, PROCESS, TOPOLOGY]),
        "crates/align" => Only(&[
            MODEL,
            PROCESS,
            TOPOLOGY,
            MEMORY,
            INPUT,
            OUTPUT,
            QC,
            RUNTIME,
            PLAN,
            RANKS,
            REPORT,
            NULL,
            STROBEALIGN,
            BWA_MEM,
            RAMMAP,
            EXTERNAL,
        ]),
        // The laboratory measures them all.
        "crates/cli" | "crates/lab" | "bench" | "fuzz" | "xtask" => Everything,
        // It shows what an aligner of one's own needs.
        "examples/own-aligner" => Only(&["crates/align", MODEL, PROCESS, INPUT]),
        // It starts programs, and inflates FASTA.
        "crates/search" => Only(&[MODEL, PROCESS, TOPOLOGY, MEMORY, INPUT, PLAN, RANKS]),
        // It starts processes on CPUs and nodes.
        "crates/engines/external" => Only(&[MODEL, MEMORY, PROCESS, TOPOLOGY]),
        _ if place.starts_with("crates/engines/") => Only(&[MODEL, MEMORY, PROCESS, INPUT]),
        _ => return None,
    })
}

/// Every import that breaks the table, and the first circle between crates.
pub fn problems(packages: &[Package]) -> Vec<String> {
    let mut problems: Vec<String> = packages.iter().flat_map(package_problems).collect();
    let graph: Graph =
        packages.iter().map(|package| (package.place.clone(), package.imports.iter().cloned().collect())).collect();
    if let Some(circle) = graph::circle(&graph) {
        problems.push(format!("crates import each other in a circle: {}", circle.join(" -> ")));
    }
    problems
}

/// The modules of a package, besides its root, that name its module `ranks`, where none may.
pub fn rank_problems(package: &Package, modules: &Graph) -> Vec<String> {
    let is_wrapped = WRAPPED_BY_RANKS.contains(&&*package.place);
    let names_it = modules.iter().filter(|(_, names)| is_wrapped && names.contains("ranks"));
    names_it.map(|(module, _)| format!("{}: {module} names ranks; lib.rs alone may", package.place)).collect()
}

fn package_problems(package: &Package) -> Vec<String> {
    let Some(allowed) = allowed(&package.place) else {
        return vec![format!("{}: not in the table of layers (xtask/src/layers.rs)", package.place)];
    };
    let imports = package.imports.iter().filter_map(|import| import_problem(package, &allowed, import));
    let libraries = package.libraries.iter().filter_map(|library| library_problem(package, library));
    imports.chain(libraries).collect()
}

fn library_problem(package: &Package, library: &str) -> Option<String> {
    let (place, is_clap) = (&package.place, library == "clap" || library.starts_with("clap_"));
    let is_refused = is_clap && !READS_COMMAND_LINES.contains(&place.as_str());
    is_refused.then(|| format!("{place} imports {library}; that is for {}", READS_COMMAND_LINES.join(", ")))
}

fn import_problem(package: &Package, allowed: &Allowed, import: &str) -> Option<String> {
    let place = &package.place;
    if LEAVES.contains(&import) {
        return Some(format!("{place} imports {import}, which is a leaf"));
    }
    if LABORATORY.contains(&import) && !IMPORTS_LABORATORY.contains(&place.as_str()) {
        return Some(format!("{place} imports {import}; the laboratory is for {}", IMPORTS_LABORATORY.join(", ")));
    }
    match allowed {
        Allowed::Only(places) if !places.contains(&import) => {
            Some(format!("{place} imports {import}; it may import {}", list(places)))
        }
        _ => None,
    }
}

fn list(places: &[&str]) -> String {
    if places.is_empty() { "nothing of the workspace".into() } else { format!("only {}", places.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(place: &str, imports: &[&str]) -> Package {
        let imports = imports.iter().map(|import| import.to_string()).collect();
        Package { name: place.into(), directory: place.into(), place: place.into(), imports, libraries: Vec::new() }
    }

    #[test]
    fn the_design_passes() {
        let packages = [
            package("crates/model", &[]),
            package("crates/memory", &["crates/model"]),
            package("crates/engines/null", &["crates/model", "crates/memory"]),
            package("crates/runtime", &["crates/model", "crates/topology", "crates/memory"]),
            package("crates/cli", &["crates/runtime", "crates/engines/null", "crates/input"]),
            package("bench", &["crates/runtime"]),
        ];
        assert_eq!(problems(&packages), Vec::<String>::new());
    }

    #[test]
    fn runtime_never_names_an_engine_or_a_format() {
        let packages = [package("crates/runtime", &["crates/engines/null", "crates/input"])];
        assert_eq!(problems(&packages).len(), 2);
    }

    #[test]
    fn nobody_imports_a_leaf() {
        let found = problems(&[package("crates/cli", &["bench"])]);
        assert_eq!(found, ["crates/cli imports bench, which is a leaf"]);
    }

    #[test]
    fn no_program_that_aligns_imports_the_laboratory() {
        assert_eq!(
            problems(&[package("crates/cli", &["crates/lab"]), package("bench", &["crates/lab/locks"])]),
            [
                "crates/cli imports crates/lab; the laboratory is for crates/lab, fuzz",
                "bench imports crates/lab/locks; the laboratory is for crates/lab, fuzz",
            ]
        );
        assert!(problems(&[package("crates/lab", &["crates/lab/locks"]), package("fuzz", &["crates/lab"])]).is_empty());
    }

    #[test]
    fn ranks_are_for_the_root_alone() {
        let modules = |importer: &str| Graph::from([(importer.to_owned(), ["ranks".to_owned()].into())]);
        assert_eq!(
            rank_problems(&package("crates/align", &[]), &modules("merge")),
            ["crates/align: merge names ranks; lib.rs alone may"]
        );
        assert!(rank_problems(&package("crates/cli", &[]), &modules("align")).is_empty());
    }

    #[test]
    fn clap_is_for_those_who_read_command_lines() {
        let with = |place| Package { libraries: vec!["clap".into(), "libc".into()], ..package(place, &[]) };
        assert_eq!(problems(&[with("crates/cli"), with("crates/lab")]), Vec::<String>::new());
        assert_eq!(
            problems(&[with("crates/plan")]),
            ["crates/plan imports clap; that is for crates/cli, crates/lab, bench"]
        );
    }

    #[test]
    fn a_new_crate_needs_a_line_in_the_table() {
        assert!(problems(&[package("crates/utils", &[])])[0].contains("not in the table"));
    }

    #[test]
    fn a_circle_between_crates_is_named() {
        let found =
            problems(&[package("crates/model", &["crates/memory"]), package("crates/memory", &["crates/model"])]);
        assert!(found.contains(
            &"crates import each other in a circle: crates/memory -> crates/model -> crates/memory".to_string()
        ));
    }
}
