//! `zerohop db`: databases in parts.

use crate::args::search::{BATCH_LETTERS, BATCH_QUERIES, DbArgs, DbCommand};
use crate::failure::CommandFailure;
use std::path::{Path, PathBuf};
use zerohop_search::build::{Sampling, build};
use zerohop_search::database::Manifest;
use zerohop_search::fasta::Limits;
use zerohop_search::{Database, Outcome, Program, Sample, Times, Trial};

/// `zerohop db`.
///
/// # Errors
/// A database that cannot be made, or is damaged.
pub fn db(args: &DbArgs) -> Result<(), CommandFailure> {
    match &args.command {
        DbCommand::Build { fasta, engine, partitions, output, pilot, threads, quiet } => {
            let tell = |what: &str| {
                if !quiet {
                    zerohop_process::tell::text(&format!("{what}\n"));
                }
            };
            let program = (*engine).into();
            let mut sample = sample(pilot.as_ref(), program, *threads)?;
            let sampling = sample.as_mut().map(|sample| sample as &mut dyn Sampling);
            let database = build(fasta, *partitions, program, output, sampling, &tell)?;
            crate::print(words(output, database.manifest()).as_bytes())
        }
        DbCommand::Check { folder } => {
            let database = Database::open(folder)?;
            let threads = zerohop_topology::detect()?.allowed.worker_count();
            Ok(database.check_digests(0..database.parts(), threads)?)
        }
    }
}

/// The queries that parts are tried with, if any are.
fn sample(pilot: Option<&PathBuf>, program: Program, threads: Option<usize>) -> Result<Option<Sample>, CommandFailure> {
    let Some(pilot) = pilot else { return Ok(None) };
    let threads = match threads {
        Some(threads) => threads,
        None => zerohop_topology::detect()?.allowed.worker_count(),
    };
    let limits = Limits { letters: BATCH_LETTERS, queries: BATCH_QUERIES };
    Ok(Some(Sample::read(pilot, program, limits, threads)?))
}

fn words(output: &Path, manifest: &Manifest) -> String {
    let letters: Vec<u64> = manifest.parts.iter().map(|part| part.letters).collect();
    let (least, most) = (letters.iter().min(), letters.iter().max());
    let mut text = format!(
        "{}: {} sequences, {} letters, {} parts of {} to {} letters\n",
        output.display(),
        manifest.sequences,
        manifest.letters,
        letters.len(),
        least.unwrap_or(&0),
        most.unwrap_or(&0)
    );
    if let Some(pilot) = &manifest.pilot {
        text += &trial_words(&pilot.trial);
    }
    text
}

/// What the trial of the parts told.
fn trial_words(trial: &Trial) -> String {
    let range = |seconds: &[f64]| {
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = seconds.iter().copied().fold(0.0, f64::max);
        format!("{least:.2} to {most:.2} s")
    };
    let medians = |times: &[Times]| range(&times.iter().map(|times| times.median).collect::<Vec<_>>());
    let equal = medians(&trial.equal);
    match trial.outcome {
        Outcome::TooShort => {
            format!(
                "pilot: parts of equal letters take {equal}: too short to tell; take more queries. The parts have \
                 equal letters.\n"
            )
        }
        Outcome::WithinNoise => format!(
            "pilot: parts of equal letters take {equal}, and differ no more than repeated searches of one part do. The \
             parts have \
             equal letters.\n"
        ),
        Outcome::Moved => format!(
            "pilot: parts of equal letters take {equal}; as they are now, {} were expected and {} measured.\n",
            range(&trial.predicted),
            medians(&trial.measured)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_honest() {
        let times = |median: f64| Times { median, least: median, most: median };
        let trial = |outcome| Trial {
            outcome,
            equal: vec![times(1.0), times(3.0)],
            predicted: vec![2.0, 2.0],
            measured: vec![times(2.5), times(1.9)],
        };
        let told = trial_words(&trial(Outcome::Moved));
        assert_eq!(
            told,
            "pilot: parts of equal letters take 1.00 to 3.00 s; as they are now, 2.00 to 2.00 s were expected and 1.90 \
             to 2.50 s \
             measured.\n"
        );
        assert!(trial_words(&trial(Outcome::TooShort)).contains("too short to tell"));
        assert!(trial_words(&trial(Outcome::WithinNoise)).contains("The parts have equal letters."));
    }
}
