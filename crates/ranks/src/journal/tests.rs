//! Jobs that are begun, killed, taken up and refused.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use zerohop_process::ChildProgram;

pub(super) fn entry(batch: u64, count: u64, offset: u64, bytes: u64) -> Entry {
    // A second file that gets one byte of each batch.
    let (offsets, bytes) = (vec![offset, 9 + batch], vec![bytes, count]);
    let tally = Some(Tally { reads: count, ..Tally::default() });
    Entry { batch, count, done: None, absent: Vec::new(), offsets, bytes, tally }
}

#[test]
fn only_what_is_there_without_a_gap_is_finished() {
    let of = |entries: &[(u64, u64, u64, u64)]| {
        let entries = entries.iter().map(|&(batch, count, offset, bytes)| entry(batch, count, offset, bytes));
        let finished = finished(entries.collect());
        (finished.next, finished.ends, finished.tally.reads)
    };
    assert_eq!(of(&[]), (0, vec![], 0));
    assert_eq!(of(&[(1, 1, 5, 3), (0, 1, 0, 5), (3, 1, 9, 1)]), (2, vec![8, 11], 2));
    assert_eq!(of(&[(0, 1, 0, 5), (0, 1, 0, 5), (1, 1, 6, 1)]), (1, vec![5, 10], 1));
    assert_eq!(of(&[(0, 3, 70, 5), (2, 4, 73, 5), (3, 2, 75, 4)]), (5, vec![79, 14], 5));
}

#[test]
fn what_is_done_with_the_last_batch_is_done() {
    let with = |batch, count, done| Entry { done, ..entry(batch, count, 5, 0) };
    let of = |entries: Vec<Entry>| {
        let entries = entries.into_iter().map(|entry| Entry { offsets: vec![5], bytes: vec![0], ..entry });
        let finished = finished(entries.collect());
        (finished.next, finished.done)
    };
    assert_eq!(of(vec![with(0, 3, Some(5)), with(3, 1, None)]), (4, 5));
    assert_eq!(of(vec![with(0, 3, Some(5)), with(3, 4, None)]), (7, 7));
    assert_eq!(of(vec![with(0, 3, None), with(4, 4, Some(9))]), (3, 3));
}

fn job(name: &str) -> Identity {
    Identity::new("align").with("reads", name)
}

fn begin(output: &Path, name: &str, begin: Begin) -> Result<Begun, String> {
    prepare(output, &job(name), begin, Duration::ZERO).map_err(|failure| failure.to_string())
}

fn owner(output: &Path, name: &str, begin: Begin) -> Owner {
    match prepare(output, &job(name), begin, Duration::ZERO).unwrap() {
        Begun::Ours(owner) => owner,
        Begun::Complete => panic!("it was complete"),
    }
}

#[test]
fn the_same_job_is_taken_up_and_another_is_refused_unless_it_is_to_begin_anew() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.tsv");
    assert!(begin(&output, "a", Begin::Resume).is_err_and(|words| words.contains("no progress to resume")));
    let first = owner(&output, "a", Begin::Any);
    for how in [Begin::Any, Begin::Resume, Begin::Restart] {
        assert!(begin(&output, "a", how).is_err_and(|words| words.contains("another run is at this job")));
    }
    drop(first);
    let (mut one, before) = Journal::open(&output, 0).unwrap();
    assert_eq!(before, Finished::default());
    one.enter(&[entry(0, 1, 0, 10)]).unwrap();
    let (mut other, _) = Journal::open(&output, 1).unwrap();
    other.enter(&[entry(1, 1, 10, 7), entry(3, 1, 20, 7)]).unwrap();
    drop((one, other));
    let progress = super::folder(&output);
    std::fs::write(progress.join("rank-2.jsonl"), b"{\"batch\":2,\"off\xff").unwrap();
    for how in [Begin::Any, Begin::Resume] {
        assert!(begin(&output, "b", how).is_err_and(|words| words.contains("(reads: a then, b now)")));
    }
    // Of options alone it is said before the rest is known.
    let options = |name, how| check_options(&output, &job(name), how).map_err(|failure| failure.to_string());
    assert!(options("b", Begin::Any).is_err_and(|words| words.contains("(reads: a then, b now)")));
    assert!(options("b", Begin::Restart).is_ok() && options("a", Begin::Resume).is_ok());
    assert!(check_options(&output, &Identity::new("align"), Begin::Any).is_ok(), "reads are not looked at yet");
    let none = check_options(&folder.path().join("none"), &job("a"), Begin::Resume).map_err(|error| error.to_string());
    assert!(none.is_err_and(|words| words.contains("no progress to resume")));
    for how in [Begin::Any, Begin::Resume] {
        drop(owner(&output, "a", how));
        let finished = Journal::open(&output, 2).unwrap().1;
        assert_eq!((finished.next, finished.ends, finished.tally.reads), (2, vec![17, 11], 2));
    }
    assert!(!progress.join("rank-1.jsonl").exists(), "what lies behind a gap is forgotten");
    drop(owner(&output, "b", Begin::Restart));
    assert_eq!(Journal::open(&output, 0).unwrap().1, Finished::default());
    let last = owner(&output, "b", Begin::Any);
    let partial = progress.join("output");
    std::fs::write(&partial, "x").unwrap();
    last.complete(&[(partial, output.clone())]).unwrap();
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "x");
    assert!(!super::folder(&output).exists());
}

#[test]
fn what_cannot_be_gone_on_with_is_thrown_away_and_another_job_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.tsv");
    drop(owner(&output, "a", Begin::Any));
    Journal::open(&output, 0).unwrap().0.enter(&[entry(0, 1, 0, 10)]).unwrap();
    assert!(begin(&output, "b", Begin::Anew).is_err_and(|words| words.contains("another job")));
    assert_eq!(Journal::open(&output, 0).unwrap().1.next, 1);
    drop(owner(&output, "a", Begin::Anew));
    assert_eq!(Journal::open(&output, 0).unwrap().1, Finished::default());
}

#[test]
fn a_job_of_which_nothing_was_finished_gives_way() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.tsv");
    drop(owner(&output, "a", Begin::Any));
    assert!(begin(&output, "b", Begin::Resume).is_err_and(|words| words.contains("another job")));
    assert!(check_options(&output, &job("b"), Begin::Any).is_ok());
    drop(owner(&output, "b", Begin::Any));
    assert!(Journal::open(&output, 0).unwrap().0.enter(&[entry(0, 1, 0, 10)]).is_ok());
    assert!(begin(&output, "a", Begin::Any).is_err_and(|words| words.contains("another job")));
}

#[test]
fn what_was_complete_gets_its_names_all_of_them_or_none() {
    let folder = tempfile::tempdir().unwrap();
    // A name that is no text.
    let odd = folder.path().join(OsString::from_vec(vec![b'o', 0xff]));
    let targets = [odd.clone(), folder.path().join("second")];
    let first = owner(&odd, "a", Begin::Any);
    let partials = [1, 2].map(|i| super::folder(&odd).join(format!("output.{i}")));
    partials.iter().for_each(|partial| std::fs::write(partial, "y").unwrap());
    std::fs::create_dir(&targets[1]).unwrap();
    let files: Vec<_> = partials.iter().cloned().zip(targets.iter().cloned()).collect();
    let words = first.complete(&files).unwrap_err().to_string();
    assert!(words.contains("cannot get its name") && !odd.exists() && partials[0].exists(), "{words}");
    std::fs::remove_dir(&targets[1]).unwrap();
    assert!(begin(&odd, "b", Begin::Any).is_err_and(|words| words.contains("another job")));
    // As a run leaves it that is killed between two names.
    std::fs::rename(&partials[0], &targets[0]).unwrap();
    assert!(matches!(begin(&odd, "a", Begin::Any), Ok(Begun::Complete)));
    assert!(targets.iter().all(|target| std::fs::read_to_string(target).unwrap() == "y"));
    assert!(!super::folder(&odd).exists());
}

#[test]
fn what_a_killed_run_leaves_can_be_begun_anew_and_files_of_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.tsv");
    let progress = super::folder(&output);
    std::fs::create_dir(&progress).unwrap();
    // Killed while the job was written down.
    std::fs::write(progress.join("job.json.partial-12-000000034"), "{").unwrap();
    drop(owner(&output, "a", Begin::Any));
    // Killed while the folder was removed: all names were given.
    let complete =
        CompleteJob { identity: job("a"), names: vec![(b"output".to_vec(), output.as_os_str().as_bytes().to_vec())] };
    std::fs::write(&output, "z").unwrap();
    cache::write(&progress.join(COMPLETE), &complete).unwrap();
    std::fs::remove_file(progress.join(JOB)).unwrap();
    assert!(matches!(begin(&output, "a", Begin::Any), Ok(Begun::Complete)));
    assert!(!progress.exists());
    // What another version has written is not thrown away without a word.
    std::fs::create_dir(&progress).unwrap();
    std::fs::write(progress.join(JOB), "{\"identity\":\"0123\"}").unwrap();
    assert!(begin(&output, "a", Begin::Any).is_err_and(|words| words.contains("--restart")));
    drop(owner(&output, "a", Begin::Restart));
    std::fs::remove_file(progress.join(JOB)).unwrap();
    std::fs::write(progress.join("mine"), "").unwrap();
    assert!(begin(&output, "a", Begin::Restart).is_err_and(|words| words.contains("zerohop did not make")));
}

#[test]
fn damaged_progress_is_told_and_can_be_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.tsv");
    drop(owner(&output, "a", Begin::Any));
    std::fs::write(super::folder(&output).join("rank-0.jsonl"), b"\xff\n").unwrap();
    for how in [Begin::Any, Begin::Resume] {
        assert!(begin(&output, "a", how).is_err_and(|words| words.contains("rank-0.jsonl: line 1 ")));
    }
    drop(owner(&output, "a", Begin::Restart));
    assert_eq!(Journal::open(&output, 0).unwrap().1, Finished::default());
}

/// Where this is set, the test is the rank of an earlier run.
const OUTPUT_OF_RANK: &str = "ZEROHOP_TEST_OUTPUT_OF_RANK";

#[test]
fn a_rank_that_outlives_the_first_is_waited_for() {
    if let Some(output) = std::env::var_os(OUTPUT_OF_RANK) {
        let _journal = Journal::open(Path::new(&output), 1).unwrap();
        println!("it writes");
        // Until it is killed.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.tsv");
    let first = owner(&output, "a", Begin::Any);
    let rank = ChildProgram::new(std::env::current_exe().unwrap());
    let rank = rank.args(["--exact", "--nocapture", "journal::tests::a_rank_that_outlives_the_first_is_waited_for"]);
    let rank = rank.env(OUTPUT_OF_RANK, output.to_str().unwrap()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut rank = rank.start().unwrap();
    let said = BufReader::new(rank.take_stdout().unwrap()).lines().map(Result::unwrap);
    assert!(said.into_iter().any(|line| line.contains("it writes")));
    drop(first);
    let words = format!("rank 1, process {} on host {}, of an earlier run, still writes", rank.id(), crate::host());
    for how in [Begin::Any, Begin::Restart] {
        let refused = begin(&output, "a", how).err().unwrap();
        assert!(refused.contains(&words) && refused.contains("end that process"), "{refused}");
    }
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| prepare(&output, &job("a"), Begin::Any, Duration::from_secs(60)).map(drop));
        rank.end().unwrap();
        waits.join().unwrap().unwrap();
    });
}
