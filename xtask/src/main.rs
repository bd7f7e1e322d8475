//! Checks of the workspace that cargo does not make. `cargo xtask graph`:
//!
//! 1. `layers`: crates import each other one way, as the table there says, and clap where command lines are read;
//! 2. `references`: inside a crate, no two top-level modules import each other, directly or over others;
//! 3. `calls`: children are started, and files given names, in crates/process alone.
//!
//! `cargo xtask numbers` prints how large the product is, and how easy to walk through (`numbers`).
//! `cargo xtask licences` prints those of all that is linked into the programs (`licences`), `cargo xtask sbom` what it
//! is (`sbom`).
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

mod calls;
mod graph;
mod layers;
mod licences;
mod linked;
mod numbers;
mod references;
mod sbom;
mod sources;
mod tokens;
mod workspace;

const USAGE: &str = "\
usage: cargo xtask graph       checks who imports whom, and who starts children and names files
       cargo xtask numbers [FOLDER]     counts lines, names and options, also of another checkout
       cargo xtask licences [TARGET]    checks and prints the licences of the crates in the programs
       cargo xtask sbom [TARGET]        prints a bill of materials, in CycloneDX";

/// What the programs are compiled for, unless a target is given.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["graph"] => report(check_graph()),
        ["numbers"] => print(numbers::text(Path::new("."))),
        ["numbers", folder] => print(numbers::text(Path::new(folder))),
        ["licences"] => print(licences::text(TARGET)),
        ["licences", target] => print(licences::text(target)),
        ["sbom"] => print(sbom::text(TARGET)),
        ["sbom", target] => print(sbom::text(target)),
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// To standard output.
fn print(text: Result<String, String>) -> ExitCode {
    let written = text.and_then(|text| {
        std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            eprintln!("error: {problems}");
            ExitCode::FAILURE
        }
    }
}

/// What `check_graph` saw: how much was checked, and what is wrong with it.
struct Findings {
    crates: usize,
    modules: usize,
    problems: Vec<String>,
}

fn check_graph() -> Result<Findings, String> {
    let packages = workspace::packages()?;
    let mut problems = layers::problems(&packages);
    problems.extend(calls::problems(&packages)?);
    let mut modules = 0;
    for package in &packages {
        let graph = references::module_graph(Path::new(&package.directory))?;
        modules += graph.len();
        if let Some(circle) = graph::circle(&graph) {
            problems.push(format!("{}: modules import each other in a circle: {}", package.name, circle.join(" -> ")));
        }
        problems.extend(layers::rank_problems(package, &graph));
    }
    Ok(Findings { crates: packages.len(), modules, problems })
}

fn report(findings: Result<Findings, String>) -> ExitCode {
    let findings = match findings {
        Ok(findings) => findings,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    for problem in &findings.problems {
        eprintln!("error: {problem}");
    }
    if !findings.problems.is_empty() {
        return ExitCode::FAILURE;
    }
    println!(
        "{} crates and {} modules: imports go one way, no circle; one crate starts children and names files",
        findings.crates, findings.modules
    );
    ExitCode::SUCCESS
}
