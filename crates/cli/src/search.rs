//! `zerohop search`: queries against a database in parts, on one machine or on as many ranks as a launcher has started.
//!
//! 1. every rank cuts the queries into the same batches, and searches its parts with each, by the unmodified program, in a thread of
//!    its own that is one batch ahead;
//! 2. the thread that talks to the others exchanges the results of each batch; one rank writes them, at a place that all know;
//! 3. a batch whose results are safe is entered into the journal.

use crate::args::search::SearchArgs;
use crate::failure::Failure;
use crate::search_instances::Instances;
use crate::variant::{self, Taken};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use zerohop_align::tuning_key;
use zerohop_model::plan::InstancePlan;
use zerohop_model::timeline::{SearchStage, SearchTimeline};
use zerohop_process::tell;
use zerohop_process::{cache, json, overwrite};
use zerohop_ranks::Identity;
use zerohop_ranks::RankShare;
use zerohop_ranks::Ranks;
use zerohop_ranks::content;
use zerohop_ranks::exchange::{self, Batch, Output, RankReport, Record};
use zerohop_ranks::journal::{self, Begin, Entry, Journal, Owner};
use zerohop_ranks::{ExchangeError, Recording, Searched, Settings as ExchangeSettings, Transport};
use zerohop_report::SEARCH_VERSION;
use zerohop_search::check::{self, Checked};
use zerohop_search::fasta::{FastaReader, Limits};
use zerohop_search::{Batches, Database, Found, Frame, Key, Merge, Search, SearchError, Settings};
use zerohop_topology::cpulist;

/// Batches that are searched and not exchanged yet: a rank hands over what it has of a batch when it has taken the next, so whoever writes
/// it waits for that search, and its own must be able to go on meanwhile.
const AHEAD: usize = 4;
/// What errors call it.
const STANDARD_INPUT: &str = "standard input";
/// How long a rank may be waited for, unless the user says.
const HANG_LIMIT: u64 = 1800;
/// How often the network is looked after while the search goes on.
const LOOK: Duration = Duration::from_millis(5);

/// `zerohop search`.
///
/// # Errors
/// Whatever goes wrong, on any rank: then all of them end, and what is finished stays for --resume.
pub fn run(args: &SearchArgs) -> Result<(), Failure> {
    let checked = check(args);
    if args.output.is_some() && !args.quiet {
        zerohop_ranks::note_if_alone(args.ranks);
    }
    let limit = Duration::from_secs(args.hang_limit.unwrap_or(HANG_LIMIT));
    let (ranks, ()) = Ranks::join(args.ranks, args.mpi.as_deref(), limit, checked)?;
    let outcome = on_rank(args, ranks.transport());
    ranks.end(outcome)
}

/// What is searched, and how.
struct Job {
    search: Search,
    instances: Instances,
    limits: Limits,
    queries: PathBuf,
    /// What a look at all of them found; nothing of a stream.
    checked: Option<Checked>,
    /// Our parts of the database.
    parts: Vec<usize>,
}

impl Job {
    fn new(args: &SearchArgs, transport: &dyn Transport) -> Result<Self, Failure> {
        let database = Database::open(&args.db)?;
        let words = args.engine_args.as_deref().unwrap_or_default();
        let words =
            shlex::split(words).ok_or_else(|| Failure::Usage("--engine-args: a quote is not closed".to_owned()))?;
        let program = database.program();
        let settings = Settings::new(program, words)?.with_format(args.format)?;
        let mut settings = settings.with_columns(args.columns.as_deref().unwrap_or("std"))?;
        if args.max_target_seqs.is_some() {
            settings = settings.with_max_target_seqs(args.max_target_seqs)?;
        }
        let (rank, size) = (transport.rank(), transport.size());
        let parts: Vec<usize> = (0..database.parts()).filter(|part| part % size == rank).collect();
        if parts.is_empty() {
            let parts = database.parts();
            return Err(Failure::Usage(format!(
                "the database has {parts} parts for {size} ranks: build it with --partitions {size}"
            )));
        }
        let limits = Limits { letters: args.batch_letters, queries: args.batch_queries };
        let name = args.db.to_string_lossy();
        let checked = (!is_stream(&args.queries)).then(|| check::check(&args.queries, &settings)).transpose()?;
        let limit = args.hang_limit.map(Duration::from_secs);
        let search = Search::new(database, settings, &name)?.with_time_limit(limit);
        let instances = Instances::new(args, &search, parts.len())?;
        instances.check_files(&parts)?;
        Ok(Job { search, instances, limits, queries: args.queries.clone(), checked, parts })
    }

    /// What the results depend on; how many ranks there are is no part of it.
    fn identity(&self, args: &SearchArgs, transport: &dyn Transport) -> Result<Identity, Failure> {
        let manifest = self.search.database().manifest();
        let name = args.db.file_name().unwrap_or(args.db.as_os_str()).to_string_lossy();
        let identity = Identity::new("search")
            .with(
                "the database",
                format!("{name}, {} parts, content {}", manifest.parts.len(), cache::digest(manifest)),
            )
            .with("the path of the database", args.db.display())
            .with("--format", args.format)
            .with_option("--columns", &args.columns)
            .with_option("--max-target-seqs", &args.max_target_seqs)
            .with_option("--engine-args", &args.engine_args)
            .with("--batch-letters", args.batch_letters)
            .with("--batch-queries", args.batch_queries);
        let queries = if is_stream(&args.queries) { &[][..] } else { std::slice::from_ref(&args.queries) };
        let queries = content::of_files(transport, queries, args.threads.unwrap_or(1))?;
        Ok(queries.iter().fold(identity, |identity, queries| identity.with("the queries", queries)))
    }

    /// What errors call the queries.
    fn queries_name(&self) -> &Path {
        if self.queries.as_os_str() == "-" { Path::new(STANDARD_INPUT) } else { &self.queries }
    }

    fn queries(&self) -> Result<FastaReader<Box<dyn BufRead>>, SearchError> {
        let reader = match self.queries.as_os_str() == "-" {
            true => FastaReader::inflate(std::io::stdin(), self.queries_name()),
            false => FastaReader::open(&self.queries),
        };
        reader.map(|reader| check::reader(reader, self.search.settings()))
    }

    /// Searches our parts with every batch from number `first` on.
    fn search(&self, first: u64, send: &SyncSender<Result<Batch, SearchError>>) -> Result<Done, SearchError> {
        let started = Instant::now();
        let mut batches = Batches::new(self.queries()?, self.limits);
        let (mut batch, mut searched) = (zerohop_search::Batch::default(), Vec::new());
        let mut timeline = SearchTimeline::default();
        while batches.next(&mut batch)? {
            if batch.number < first {
                continue;
            }
            if self.checked.is_none() && batch.number == 0 {
                check::check_first(&batch, self.queries_name(), self.search.settings())?;
            }
            let begun = Instant::now();
            let found = self.instances.search(&self.parts, &batch)?;
            let results = merged(found, self.search.settings().max_target_seqs);
            let took = begun.elapsed();
            timeline.add(SearchStage::Search, begun - started, took);
            searched.push(Searched {
                search_s: took.as_secs_f64(),
                queries: batch.queries() as u32,
                records: results.records.len() as u32,
                result_bytes: results.text.len() as u64,
            });
            let begun = Instant::now();
            if send.send(Ok(results)).is_err() {
                // The other side has failed, and says so.
                break;
            }
            timeline.add(SearchStage::WaitExchange, begun - started, begun.elapsed());
        }
        Ok(Done { queries: batches.queries(), searched, timeline })
    }
}

/// What the searching thread did.
struct Done {
    /// Queries that were read.
    queries: u64,
    /// Batch by batch.
    searched: Vec<Searched>,
    timeline: SearchTimeline,
}

/// What stands between results, as the exchange asks for it.
#[derive(Debug)]
struct Between(Frame);

impl exchange::Frame for Between {
    fn pieces(&self, survivors: &[(u32, Key)]) -> Vec<(usize, Vec<u8>)> {
        self.0.pieces(survivors)
    }
}

/// What our parts have for a batch, as one.
fn merged(mut found: Vec<Found>, most: Option<u32>) -> Batch {
    // That of any part: they are alike.
    let frame = found.first_mut().map(|found| std::mem::take(&mut found.frame));
    let hits: Vec<_> = found.iter().map(|found| &found.hits[..]).collect();
    let frame = frame.map(|frame| -> Box<dyn exchange::Frame> { Box::new(Between(frame)) });
    let mut batch = Batch { frame, ..Batch::default() };
    for place in Merge::new(&hits, most) {
        let hit = &found[place.part].hits[place.index];
        batch.records.push(Record { query: hit.query, key: hit.key, bytes: hit.bytes });
        batch.text.extend_from_slice(found[place.part].lines(hit));
    }
    batch
}

/// What a search says of itself.
#[derive(Debug, Serialize)]
struct Report {
    schema_version: u32,
    version: String,
    command: String,
    transport: String,
    #[serde(flatten)]
    taken: Taken,
    /// Queries that were read; each was answered by every rank, also if nothing was found.
    queries: u64,
    output_bytes: u64,
    ranks: Vec<RankReport>,
    /// Of each rank, where its programs ran.
    instances: Vec<Vec<InstancePlan>>,
}

fn on_rank(args: &SearchArgs, transport: &dyn Transport) -> Result<(), Failure> {
    let note = if transport.size() > 1 { RankShare::take(transport)?.note } else { None };
    let job = Job::new(args, transport)?;
    let Some((mut output, begin)) = Results::open(args, &job, transport)? else { return Ok(()) };
    let most = job.search.settings().max_target_seqs.map_or(usize::MAX, |most| most as usize);
    let taken = variant::choose(args.variant, transport)?;
    let settings = ExchangeSettings::new(taken.variant, most);
    let (send, receive) = sync_channel(AHEAD);
    let (outcome, searched) = std::thread::scope(|scope| {
        // The programs that it starts end with this thread.
        let search = std::thread::Builder::new().name("search".into()).spawn_scoped(scope, || {
            let outcome = job.search(begin.0, &send);
            match outcome {
                Ok(done) => Ok(done),
                Err(error) => {
                    let words = error.to_string();
                    // Nobody to hear it has failed already.
                    let _ = send.send(Err(error));
                    Err(words)
                }
            }
            .inspect(|_| drop(send))
        });
        let search = search.map_err(|error| Failure::Other(format!("a thread cannot be started: {error}")))?;
        let mut next = || next_batch(&receive, transport);
        let outcome = exchange::run(transport, settings, begin, &mut next, &mut output);
        if outcome.is_err() {
            // Else the other ranks, and the user, would learn of it only when the present search has ended.
            zerohop_process::end_programs();
        }
        drop(receive);
        let searched = search.join().unwrap_or_else(|_| Err("the search ended early".to_owned()));
        Ok::<_, Failure>((outcome, searched))
    })?;
    let (mut report, end) = outcome.map_err(failure)?;
    let mut done = searched.map_err(Failure::Other)?;
    report.searching = std::mem::take(&mut done.timeline);
    let reports = gathered(transport, &report, done.queries)?;
    let instances = gathered_instances(transport, &job.instances)?;
    output.finish(end, transport)?;
    record(args, transport, &done)?;
    let warnings = gathered_warnings(transport, &job.search)?;
    let notes = note.into_iter().chain(hung(&job.search)).chain(job.instances.refused());
    let notes = notes.map(|note| format!("rank {}: {note}", transport.rank())).chain(warnings);
    notes.filter(|_| !args.quiet).for_each(|note| tell::note(&note));
    tell(args, transport, taken, (reports, instances), done.queries, end)
}

/// Waits for the next batch of our own, and looks after the network meanwhile.
fn next_batch(
    receive: &Receiver<Result<Batch, SearchError>>,
    transport: &dyn Transport,
) -> Result<Option<Batch>, String> {
    loop {
        transport.poll().map_err(|error| error.to_string())?;
        match receive.recv_timeout(LOOK) {
            Ok(Ok(batch)) => return Ok(Some(batch)),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn failure(error: ExchangeError) -> Failure {
    match error {
        ExchangeError::Output(error) if error.kind() == ErrorKind::BrokenPipe => Failure::BrokenPipe,
        other => Failure::Other(other.to_string()),
    }
}

/// Where results go; the batch to begin with, and where its results go there.
type Opened = (Results, (u64, u64));

/// Where results go.
enum Results {
    /// A file that all ranks write to, under another name until it is complete. One of them owns the job.
    File { file: File, partial: PathBuf, path: PathBuf, journal: Journal, owner: Option<Owner> },
    /// Standard output, of one rank.
    Standard,
}

impl Results {
    /// Opens it; also gives the batch to begin with, and where its results go. None if an earlier run had written all
    /// of it.
    fn open(args: &SearchArgs, job: &Job, transport: &dyn Transport) -> Result<Option<Opened>, Failure> {
        let Some(path) = &args.output else {
            return Ok(Some((Results::Standard, (0, 0))));
        };
        let identity = job.identity(args, transport)?;
        let how = Begin::asked(args.resume, args.restart);
        let seen = cache::digest(&tuning_key::ends(&args.queries).ok());
        let Some((owner, journal, finished)) = journal::begin(transport, path, &identity, how, &seen)? else {
            return Ok(None);
        };
        let begin = (finished.next, finished.ends.first().copied().unwrap_or(0));
        if begin.0 > 0 && args.record.is_some() {
            return Err(Failure::Usage(format!(
                "{}: {} batches were finished before, and --record needs all of them: begin anew with --restart",
                journal.folder().display(),
                begin.0
            )));
        }
        if begin.0 > 0 && owner.is_some() && !args.quiet {
            let folder = journal.folder().display();
            tell::note(&format!("{folder}: {} batches were finished before; only the others are searched", begin.0));
        }
        let partial = journal.folder().join("output");
        let fault = |error: std::io::Error| Failure::Other(format!("{}: cannot write: {error}", partial.display()));
        // What is to be gone on with must be there.
        if begin.0 == 0 {
            OpenOptions::new().create(true).truncate(false).write(true).open(&partial).map_err(fault)?;
        }
        let file = zerohop_sinks::open_shared(&partial).map_err(fault)?;
        journal::check_length(&partial, begin.1)?;
        Ok(Some((Results::File { file, path: path.clone(), journal, partial, owner }, begin)))
    }

    /// All ranks have written: the file is complete.
    fn finish(self, end: u64, transport: &dyn Transport) -> Result<(), Failure> {
        let Results::File { file, partial, path, journal, owner } = self else { return Ok(()) };
        let fault = |error: std::io::Error| Failure::Other(format!("{}: cannot write: {error}", path.display()));
        transport.barrier().map_err(|error| Failure::Other(error.to_string()))?;
        if owner.is_some() {
            file.set_len(end).and_then(|()| file.sync_all()).map_err(fault)?;
        }
        // Files that are open anywhere would keep the folder from going, on some file systems.
        drop((file, journal));
        transport.barrier().map_err(|error| Failure::Other(error.to_string()))?;
        Ok(owner.map_or(Ok(()), |owner| owner.complete(&[(partial, path)]))?)
    }
}

impl Output for Results {
    fn write(&mut self, batch: u64, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Results::Standard => {
                let mut out = std::io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            Results::File { file, journal, .. } => {
                file.write_all_at(bytes, offset)?;
                file.sync_data()?;
                let (offsets, bytes) = (vec![offset], vec![bytes.len() as u64]);
                journal.enter(&[Entry { batch, count: 1, offsets, bytes, tally: None }])
            }
        }
    }
}

/// What all ranks did; they must have answered the same queries.
fn gathered(transport: &dyn Transport, report: &RankReport, queries: u64) -> Result<Vec<RankReport>, Failure> {
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let own = serde_json::to_vec(&(report, queries)).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let read = |text: &Vec<u8>| serde_json::from_slice::<(RankReport, u64)>(text).map_err(|error| other(&error));
    let all = all.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let differs = all.iter().map(|(_, queries)| *queries).enumerate().find(|(_, answered)| *answered != queries);
    if let Some((rank, wrong)) = differs {
        let own = transport.rank();
        let words = format!("rank {own} has answered {queries} queries and rank {rank} {wrong}: please report this");
        return Err(Failure::Other(words));
    }
    Ok(all.into_iter().map(|(report, _)| report).collect())
}

/// Where the programs of all ranks ran.
fn gathered_instances(transport: &dyn Transport, own: &Instances) -> Result<Vec<Vec<InstancePlan>>, Failure> {
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let own = serde_json::to_vec(&own.plans()).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    all.iter().map(|text| serde_json::from_slice(text).map_err(|error| other(&error))).collect()
}

/// That programs hung, if any did.
fn hung(search: &Search) -> Option<String> {
    let (program, restarts) = (search.settings().program.name(), search.restarts());
    let note = || format!("{program} hung and was started again, {restarts} times: its results are complete");
    (restarts > 0).then(note)
}

/// What the programs of all ranks said although they ended well, each line once, for rank 0 to tell.
fn gathered_warnings(transport: &dyn Transport, search: &Search) -> Result<Vec<String>, Failure> {
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let own = serde_json::to_vec(&search.warnings()).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let mut told: Vec<String> = Vec::new();
    for text in all.iter().filter(|_| transport.rank() == 0) {
        let lines: Vec<String> = serde_json::from_slice(text).map_err(|error| other(&error))?;
        let new = lines.into_iter().filter(|line| !told.contains(line)).collect::<Vec<_>>();
        told.extend(new);
    }
    Ok(told)
}

/// Records what all ranks searched, if that was asked for; one of them does.
fn record(args: &SearchArgs, transport: &dyn Transport, done: &Done) -> Result<(), Failure> {
    let Some(path) = &args.record else { return Ok(()) };
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let own = serde_json::to_vec(&done.searched).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let ranks = all.iter().map(|text| serde_json::from_slice(text)).collect::<Result<_, _>>();
    match transport.rank() {
        0 => Ok(Recording { ranks: ranks.map_err(|error| other(&error))? }.write(path, crate::command_line())?),
        _ => Ok(()),
    }
}

/// Says what all ranks did; one of them does.
fn tell(
    args: &SearchArgs,
    transport: &dyn Transport,
    taken: Taken,
    (ranks, instances): (Vec<RankReport>, Vec<Vec<InstancePlan>>),
    queries: u64,
    end: u64,
) -> Result<(), Failure> {
    if transport.rank() > 0 {
        return Ok(());
    }
    let report = Report {
        schema_version: SEARCH_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: crate::command_line(),
        transport: transport.name(),
        taken,
        queries,
        output_bytes: end,
        ranks,
        instances,
    };
    if let Some(path) = &args.json {
        json::write(path, &report)?;
    }
    if !args.quiet {
        tell::text(&words(&report));
    }
    Ok(())
}

fn words(report: &Report) -> String {
    let mut text = format!(
        "queries    {} in, {} answered; {} bytes of results\nranks      {} ({}), {}\n",
        report.queries,
        report.queries,
        report.output_bytes,
        report.ranks.len(),
        report.transport,
        report.taken.words()
    );
    for (rank, instances) in report.ranks.iter().zip(&report.instances) {
        let cpus = |plan: &InstancePlan| cpulist::format(&plan.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>());
        let cpus = instances.iter().map(cpus).collect::<Vec<_>>().join(" | ");
        let times = &rank.times;
        let [search, put, wait, merge, get, write] =
            [times.search, times.put, times.wait, times.merge, times.get, times.write].map(|time| time.as_secs_f64());
        text += &format!(
            "rank {:<5} CPUs {cpus}; {} batches, wrote {}, {} of {} hits survived; s: search {search:.2}, put {put:.3}, wait {wait:.3}, merge \
             {merge:.3}, get {get:.3}, write {write:.3}\n",
            rank.rank, rank.batches, rank.written, rank.survived, rank.records
        );
    }
    text
}

/// Whether queries can be read once only.
fn is_stream(queries: &Path) -> bool {
    queries.as_os_str() == "-" || (queries.exists() && !queries.is_file())
}

/// Refuses what does not go together, and an output that would destroy something else.
fn check(args: &SearchArgs) -> Result<(), Failure> {
    if args.queries.is_dir() {
        return Err(Failure::Usage(format!("{}: it is a folder; give a file of queries", args.queries.display())));
    }
    if args.columns.is_some() && !args.format.has_columns() {
        return Err(Failure::Usage(format!("--columns does not go with --format {}, which has none", args.format)));
    }
    if let Some(output) = args.output.as_ref().filter(|output| output.exists() && !output.is_file()) {
        return Err(Failure::Usage(format!("{}: the output must be a regular file", output.display())));
    }
    let again = args.ranks.is_some() || args.resume || args.restart;
    if again && args.output.is_none() {
        return Err(Failure::Usage("--ranks, --resume and --restart need an output file (-o)".to_owned()));
    }
    if again && is_stream(&args.queries) {
        return Err(Failure::Usage(format!(
            "{}: with --ranks, --resume and --restart queries are read more than once: they must be in a regular file",
            args.queries.display()
        )));
    }
    args.output
        .iter()
        .chain(&args.json)
        .chain(&args.record)
        .try_for_each(|path| zerohop_process::check_folder(path))?;
    // What is in a database is a file of it, whatever its name.
    let in_database = std::fs::read_dir(&args.db).into_iter().flatten().flatten().map(|entry| entry.path());
    let library = zerohop_ranks::find(args.mpi.as_deref());
    let read: Vec<PathBuf> = std::iter::once(args.queries.clone()).chain(library).chain(in_database).collect();
    Ok(overwrite::apart(&read, args.output.iter().chain(&args.json).chain(&args.record))?)
}
