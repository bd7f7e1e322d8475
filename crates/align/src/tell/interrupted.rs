//! What is said when somebody interrupts a run: what has become of its output.

use crate::job::{Job, files};
use zerohop_model::error::shown_path;
use zerohop_process::{Interruption, is_written_in_place, tell_if_interrupted};

/// Has it said from now on. Ranks leave it to their launcher.
pub fn if_interrupted(job: &Job) -> Option<Interruption> {
    job.ranks.wanted.is_none().then(|| tell_if_interrupted(&words(job)))
}

fn words(job: &Job) -> String {
    let Some(path) = &job.output.path else { return "the records on standard output are not complete".to_owned() };
    if is_written_in_place(path) {
        return format!("what was written to {} is not complete", shown_path(path));
    }
    let paths = files::all_paths(job);
    let names: Vec<_> = paths.iter().map(|path| shown_path(path)).collect();
    let names = names.join(", ");
    let left = match paths.iter().any(|path| path.exists()) {
        true => format!("the output ({names}) is as it was before"),
        false => format!("nothing is left under the name of the output ({names})"),
    };
    let is_recorded = (job.ranks.durable || job.ranks.resume) && !job.ranks.restart;
    let again = if is_recorded { "; the same command goes on with it" } else { "" };
    format!("{left}{again}")
}

#[cfg(test)]
mod tests {
    use super::words;
    use crate::job::Job;

    #[test]
    fn what_becomes_of_the_output_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut job = Job::new("ref.fa".into(), Vec::new());
        assert_eq!(words(&job), "the records on standard output are not complete");
        let path = folder.path().join("out.bam");
        let name = path.display().to_string();
        job.output.path = Some(path.clone());
        assert_eq!(words(&job), format!("nothing is left under the name of the output ({name})"));
        std::fs::write(&path, "x").unwrap();
        job.ranks.durable = true;
        assert_eq!(words(&job), format!("the output ({name}) is as it was before; the same command goes on with it"));
        job.output.path = Some("/dev/null".into());
        assert_eq!(words(&job), "what was written to /dev/null is not complete");
    }
}
