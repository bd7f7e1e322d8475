#!/usr/bin/env python3
"""How fast aligners are with 1, 2, 4 and more threads: `zerohop align` beside the programs that it embeds.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/threads.py                                # 1, 2, 4 ... all CPUs
    python3 bench/threads.py --sets bwa-mem --threads 1,16 --pairs 50000

Sets; the arms of each take turns, with the same number of threads on the same CPUs:

    strobealign  the strobealign program; zerohop align. SAM
    bwa-mem      bwa mem; zerohop align --engine bwa-mem. SAM
    bam          strobealign | samtools view -b; zerohop align -o out.bam. Reads are in BGZF
    sorted       strobealign | samtools fixmate -u | sort -u | markdup; zerohop align --sort --mark-duplicates. BAM
    bwa-sorted   the same with bwa mem, and with --engine bwa-mem
    runtime      zerohop align --engine null, which maps nothing: reads in plain, BGZF and gzip FASTQ, and in BAM. SAM
    outputs      zerohop align --engine null, plain reads: one SAM file, one for each thread (--shards), BAM

Each thread gets the same number of pairs: with N threads there are N times as many. N threads run on N CPUs, on as many
cores as there are before two share one. Indexes are made before. bwa has its default of -K, which grows with the
threads, as users have it; zerohop's does not. Run 0 warms up with the reads of one thread, and its records must be the
same for both arms (for bwa with zerohop's -K) and for every number of threads; of sorted sets, the duplicates. (Those
of `outputs` are not compared: they are no files of one format.)

"pairs/s" are those of the whole command, "mapping" those without the loading of the index, where both programs say it.
Results go to bench/runs/DATE-HOST-threads/; raw.jsonl also has where the time of zerohop's workers went.
"""

import hashlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import sort
from compare import bwa_version, mapping_seconds, prepare
from compare import digest as digest_of_records
from running import (ROOT, Failure, cpu_seconds, describe_run, make, measure, median, output_of, parser_of, raw_data,
    run_script, samtools_version, seconds, shown, table, with_programs, words, zerohop_commit)

# set: what it aligns to, pairs of each thread, and its arms
SETS = {
    "strobealign": ("sim300M", 120_000, ["strobealign", "zerohop"]),
    "bwa-mem": ("sim100M", 25_000, ["bwa", "bwa-mem"]),
    "bam": ("sim300M", 120_000, ["pipe-view", "zerohop-bam"]),
    "sorted": ("sim300M", 120_000, ["pipe-u", "marked"]),
    "bwa-sorted": ("sim100M", 25_000, ["bwa-pipe", "bwa-marked"]),
    "runtime": ("sim300M", 120_000, ["plain", "bgzf", "gz", "bam"]),
    "outputs": ("sim300M", 120_000, ["one-file", "shards", "bam-file"]),
}
# Those in which nothing is mapped
OF_RUNTIME = ["runtime", "outputs"]
STAGES = ["claim", "wait_input", "parse", "map", "encode", "commit", "wait_output"]
TIMES = ["cut", "order", "wall", "making", "writing"]
# The programs that arms take, for which compare.py makes indexes
PROGRAMS = {"pipe-view": "strobealign", "zerohop-bam": "zerohop", "pipe-u": "strobealign", "marked": "zerohop",
    "bwa-pipe": "bwa", "bwa-marked": "bwa-mem"}
# The cohorts of zerohop
COHORT = ["-K", "10000000"]


def parse_arguments():
    parser = parser_of(__doc__, results="threads", repeats=3)
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("--sets", type=words, default=list(SETS), help="(default: all)")
    parser.add_argument("--threads", type=numbers, default=None, help="(default: 1, 2, 4 ... all CPUs)")
    parser.add_argument("--pairs", dest="pairs_asked", type=int, metavar="N",
        help="of each thread (default: 25000 with bwa, else 120000)")
    parser.add_argument("--reference", default=None, metavar="simSIZE",
        help="(default: sim100M with bwa, else sim300M)")
    parser.add_argument("--level", default="1", help="compression of BAM in the end (default: %(default)s)")
    parser.add_argument("--zerohop", default=None, help="(default: in the target folder)")
    parser.add_argument("--strobealign", default=ROOT / "target/strobealign/bin/strobealign")
    parser.add_argument("--bwa", default="bwa")
    parser.add_argument("--simulate", default=None, help="the simulator (default: in the target folder)")
    parser.add_argument("--work", type=Path, default=None,
        help="folder for large files (default: bench-work in the target folder)")
    options = with_programs(parser.parse_args())
    options.cpus = whole_cores_first()
    powers = itertools.takewhile(lambda threads: threads < len(options.cpus), (1 << bit for bit in itertools.count()))
    options.all_threads = options.threads or [*powers, len(options.cpus)]
    if max(options.all_threads) > len(options.cpus):
        parser.error(f"--threads: there are {len(options.cpus)} CPUs")
    if set(options.sets) - set(SETS):
        parser.error(f"--sets: of {', '.join(SETS)}")
    for program in needed(options):
        if not shutil.which(str(program)):
            parser.error(f"there is no program {program} here: build or install it, or choose --sets")
    return options


def needed(options):
    """The programs that the sets take."""
    yield from (options.zerohop, options.simulate)
    for name in options.sets:
        yield from (options.bwa,) if "bwa" in name else (options.strobealign,) if name not in OF_RUNTIME else ()
        yield from ("samtools",) if name == "runtime" or is_bam(name) else ()
        yield from ("bgzip",) if name in ("runtime", "bam") else ()


def whole_cores_first():
    """The CPUs that may be used: one of each core, then the second ones."""
    taken, order = {}, []
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = siblings.read_text().strip() if siblings.exists() else str(cpu)
        taken[core] = taken.get(core, -1) + 1
        order.append((taken[core], cpu))
    return [cpu for _, cpu in sorted(order)]


# --- inputs ---------------------------------------------------------------------------------------------------


def prepare_set(options, name):
    """The reference, and the reads of all threads in plain FASTQ; with indexes."""
    reference, options.pairs_of_thread, arms = SETS[name]
    reference = options.reference or reference
    options.pairs_of_thread = options.pairs_asked or options.pairs_of_thread
    options.pairs = options.pairs_of_thread * max(options.all_threads)  # of all files together
    options.input, options.threads = ["plain"], len(options.cpus)
    options.arms = [] if name in OF_RUNTIME else [PROGRAMS.get(arm, arm) for arm in arms]
    return f"{reference}.fa", prepare(options, reference)["plain"]


def first_pairs(options, whole, count):
    """Files with the first pairs of others, made if they are not there."""
    names = [f"first{count}.{name}" for name in whole]
    make(options, names, lambda new: [take_lines(options.work / name, path, 4 * count)
        for name, path in zip(whole, new)])
    return names


def take_lines(source, target, lines):
    with open(source, "rb") as text, open(target, "wb") as out:
        out.writelines(itertools.islice(text, lines))


def compressed(options, reads, kind):
    """The same reads in another form."""
    names = {"plain": reads, "bgzf": [f"{name}.bgzf.gz" for name in reads], "gz": [f"{name}.gz" for name in reads],
        "bam": [f"{reads[0]}.bam"]}[kind]
    threads = str(len(options.cpus))
    packers = {"bgzf": ["bgzip", "-@", threads, "-c"], "gz": ["gzip", "-6", "-n", "-c"]}
    if kind == "bam":
        make(options, names, lambda new: run_together(options, [(["samtools", "import", "-@", threads, "-O", "BAM",
            "-1", reads[0], "-2", reads[1]], new[0])]))
    elif kind != "plain":
        make(options, names, lambda new: run_together(options, [([*packers[kind], name], path)
            for name, path in zip(reads, new)]))
    return names


def run_together(options, commands):
    """Runs commands side by side, each with its output in a file."""
    running = [subprocess.Popen(command, cwd=options.work, stdout=open(path, "wb"), stderr=subprocess.DEVNULL)
        for command, path in commands]
    for process in running:
        if process.wait():
            raise Failure(f"{shown(process.args)}: exit status {process.returncode}")


# --- runs -----------------------------------------------------------------------------------------------------


def pipeline_of(options, arm, fasta, reads, out, is_check):
    """The commands of an arm, which are joined by pipes."""
    threads = str(options.threads)
    zerohop = [options.zerohop, "align", "-t", threads, "--json", "threads.json", "-o", out]
    cohort = COHORT if is_check else []
    bwa = [options.bwa, "mem", "-v", "1", *cohort, "-t", threads]
    marked = ["--sort", "--mark-duplicates", "--level", options.level]
    samtools = [[word if word != sort.output("pipe-u") else out for word in command]
        for command in sort.commands(options, "pipe-u", fasta, reads)[1:]]
    return {
        "strobealign": [[options.strobealign, "--use-index", "-t", threads, "-o", out, fasta, *reads]],
        "zerohop": [[*zerohop, fasta, *reads]],
        "bwa": [[*bwa, "-o", out, fasta, *reads]],
        "bwa-mem": [[*zerohop, "--engine", "bwa-mem", fasta, *reads]],
        "pipe-view": [[options.strobealign, "--use-index", "-t", threads, fasta, *reads],
            ["samtools", "view", "-@", threads, "-b", "--output-fmt-option", f"level={options.level}", "-o", out, "-"]],
        "zerohop-bam": [[*zerohop, "--level", options.level, fasta, *reads]],
        "pipe-u": [[options.strobealign, "--use-index", "-t", threads, fasta, *reads], *samtools],
        "marked": [[*zerohop, *marked, fasta, *reads]],
        "bwa-pipe": [[*bwa, fasta, *reads], *samtools],
        "bwa-marked": [[*zerohop, *marked, "--engine", "bwa-mem", fasta, *reads]],
        "plain": [[*zerohop, "--engine", "null", fasta, *reads]],
        "one-file": [[*zerohop, "--engine", "null", fasta, *reads]],
        "shards": [[*zerohop, "--engine", "null", "--shards", threads, fasta, *reads]],
        "bam-file": [[*zerohop, "--engine", "null", "--level", options.level, fasta, *reads]],
    }[arm]


def is_bam(name, arm=""):
    return name in ("bam", "sorted", "bwa-sorted") or arm == "bam-file"


def run(options, name, arm, fasta, reads, is_check):
    """One run, and the files that it wrote."""
    out = f"threads-{arm}.{'bam' if is_bam(name, arm) else 'sam'}"
    stem, suffix = out.split(".")
    files = lambda: sorted(options.work.glob(f"{stem}.*{suffix}"))  # with --shards there are several
    for old in (*files(), options.work / f"{out}.bai", options.work / "threads.json"):
        old.unlink(missing_ok=True)
    command = "plain" if name == "runtime" else arm
    pipeline = [list(map(str, one)) for one in pipeline_of(options, command, fasta, reads, out, is_check)]
    log = options.work / "threads.log"
    found = measure(pipeline, options, log)
    found["mapping_s"] = mapping_seconds(log)
    written = files()
    found["output_bytes"] = sum(path.stat().st_size for path in written)
    found["command"] = " | ".join(map(shown, pipeline))
    if (options.work / "threads.json").exists():
        found["zerohop"] = own_account(options)
        found["mapping_s"] = found["zerohop"]["wall"]  # as its message says, more exactly
    return found, written


def own_account(options):
    """Seconds of zerohop's workers, by stage; its wall and serial times, and those of merging."""
    report = json.loads((options.work / "threads.json").read_text())["run"]
    rounded = lambda duration: round(seconds(duration), 6)
    workers = {stage: round(sum(rounded(worker[stage]) for worker in report["workers"]), 4) for stage in STAGES}
    times = lambda part: {name: rounded(time) for name, time in report.get(part, {}).items() if name in TIMES}
    return {"wall": rounded(report["wall"]), "workers": workers, "serial": times("serial"), "sorted": times("sorted")}


def digest(name, path):
    """Stands for the records of a SAM file, or the duplicates of a sorted BAM file."""
    if "sorted" in name:
        view = subprocess.run(["samtools", "view", "-@", "4", "-f", "1024", path], capture_output=True, check=True)
        marks = sorted((columns[0], int(columns[1]) & 0xC0) for columns in map(bytes.split, view.stdout.splitlines()))
        return hashlib.sha256(repr(marks).encode()).hexdigest()[:16]
    if is_bam(name):
        return digest_of_records(path)[:16]
    found = hashlib.sha256()
    with open(path, "rb") as records:
        for line in records:
            if not line.startswith((b"@HD", b"@PG", b"@CO")):
                found.update(line)
    return found.hexdigest()[:16]


def run_set(options, name, tell):
    """All runs of a set: a list of results."""
    fasta, whole = prepare_set(options, name)
    arms, results, digests = SETS[name][2], [], set()
    for threads in options.all_threads:
        options.threads = threads
        files = {count: first_pairs(options, whole, count * options.pairs_of_thread) for count in (1, threads)}
        form = lambda arm: {"runtime": arm, "bam": "bgzf"}.get(name, "plain")
        forms = {count: {arm: compressed(options, reads, form(arm)) for arm in arms} for count, reads in files.items()}
        os.sched_setaffinity(0, options.cpus[:threads])
        for repeat in range(options.repeats + 1):
            for arm in arms if repeat % 2 else arms[::-1]:
                reads = forms[threads if repeat else 1][arm]
                found, written = run(options, name, arm, fasta, reads, repeat == 0)
                if repeat == 0 and name != "outputs":
                    digests.add(digest(name, *written))
                    if len(digests) > 1:
                        raise Failure(f"{name}: {arm} with {threads} threads has other records: {sorted(digests)}")
                for path in written:
                    path.unlink()
                pairs = options.pairs_of_thread * (threads if repeat else 1)
                result = {"set": name, "threads": threads, "arm": arm, "repeat": repeat, "pairs": pairs, **found}
                tell(result)
                results.append(result)
                print(f"{name:12} {threads:3} {arm:12} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
        os.sched_setaffinity(0, options.cpus)
    return results


# --- what is written ------------------------------------------------------------------------------------------


def rate(runs, key):
    """Pairs per second, by medians; None if a run does not say its seconds."""
    times = [run[key] for run in runs]
    return None if None in times else runs[0]["pairs"] / statistics.median(times)


def table_of(results, name, threads_seen):
    rows = [["threads", "arm", "pairs/s", "mapping: pairs/s", "times its own with fewest threads (mapping)",
        "CPU us per pair", "peak MiB", "faster than the first (mapping)"]]
    arms = SETS[name][2]
    runs_of = lambda arm, threads: [run for run in results if run["set"] == name and run["arm"] == arm
        and run["threads"] == threads and run["repeat"]]
    times = lambda own, other: f"{own / other:.2f}x" if own and other else "-"
    for threads in threads_seen:
        for arm in arms:
            runs = runs_of(arm, threads)
            rates = [rate(runs, key) for key in ("wall_s", "mapping_s")]
            alone = [rate(runs_of(arm, threads_seen[0]), key) for key in ("wall_s", "mapping_s")]
            first = [rate(runs_of(arms[0], threads), key) for key in ("wall_s", "mapping_s")]
            pair = lambda own, other: f"{times(own[0], other[0])} ({times(own[1], other[1])})"
            rows.append([threads, arm, f"{rates[0]:,.0f}", f"{rates[1]:,.0f}" if rates[1] else "-", pair(rates, alone),
                f"{median(runs, lambda run: cpu_seconds(run) / run['pairs']) * 1e6:.2f}",
                f"{median(runs, 'peak_rss_kib') / 1024:.0f}", pair(rates, first) if arm != arms[0] else ""])
    return f"## {name}\n\n{table(rows)}"


def main():
    options = parse_arguments()
    results, texts = [], []
    with raw_data(options.out) as tell:
        describe_run(options.out, "From one thread to all CPUs", [
            f"{options.repeats} counted runs of each arm after one that warms up, arms in turn; the head of the script",
            "says what the sets are and what is counted. `raw.jsonl` has one line a run, `summary.md` medians.", "",
            f"CPUs, in the order in which they were used: {','.join(map(str, options.cpus))}"],
            [zerohop_commit(), samtools_version(), f"strobealign {output_of(options.strobealign, '--version')}",
                f"bwa {bwa_version(options)}"])
        for name in options.sets:
            results += run_set(options, name, tell)
            texts.append(table_of(results, name, options.all_threads))
            (options.out / "summary.md").write_text("\n".join(texts))
    print("\n".join(texts))


if __name__ == "__main__":
    run_script(main)
