#!/usr/bin/env python3
"""Compares `zerohop align` with the strobealign program, its embedded bwa mem with the program bwa, or a build of it
with another: wall time, CPU time and peak memory, arms interleaved.

    make bench                                   # ecoli and sim100M, SAM and BAM, plain, gzip and BGZF input
    make bench BENCH='--reference sim1G --output sam --input plain --repeats 5'
    make bench BENCH='--arms bwa,bwa-mem --reference sim100M --input plain --pairs 200000'
    make bench BENCH='--arms before,zerohop --before OLD/target/release/zerohop'
    python3 bench/compare.py --help

bench/README.md says what is measured and how; results go to bench/runs/DATE-HOST/.
"""

import argparse
import datetime
import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
ECOLI = DATA / "ecoli" / "GCF_000005845.2_ASM584v2_genomic.fna.gz"
LARGER_DATA = Path(os.environ.get("ZEROHOP_DATA", ROOT.parent / "shared" / "data"))
# References with real reads
REAL = {
    "ecoli": (ECOLI, DATA / "ecoli/ecoli_150_{}.fq.gz"),
    "human": (LARGER_DATA / "human_chr20/ucsc.hg19.chr20.unittest.fasta.gz",
        LARGER_DATA / "human_chr20/HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R{}.fq.gz"),
}
READ_LENGTH = 150
# Real reads are few: they are repeated so that a run takes seconds.
REAL_REPEATS = 20


class Failure(Exception):
    """Something that ends the comparison with one line."""


# --- what is compared -----------------------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    parser.add_argument("--reference", type=words, default=["ecoli", "sim100M"], metavar="NAME,...",
                        help="ecoli, human (real reads) or simSIZE, e.g. sim100M, sim1G (default: ecoli,sim100M)")
    parser.add_argument("--output", type=words, default=["sam", "bam"], help="sam, bam (default: both)")
    parser.add_argument("--input", type=words, default=["plain", "gz", "bgzf"], help="plain, gz, bgzf (default: all)")
    parser.add_argument("--pairs", type=int, default=500_000, help="simulated pairs (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(default: all CPUs)")
    parser.add_argument("--level", type=level, default=1, metavar="N|own",
        help="BAM compression level of both, or 'own': what each does by itself (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="counted runs of each arm (default: %(default)s)")
    parser.add_argument("--arms", type=words, default=["strobealign", "zerohop"],
        help="two of strobealign, before, zerohop, bwa, bwa-mem; the last is compared with the first")
    parser.add_argument("--zerohop", default=os.environ.get("ZEROHOP", ROOT / "target/release/zerohop"))
    parser.add_argument("--before", default=None, metavar="PROGRAM",
        help="another build of zerohop, for the arm 'before'")
    parser.add_argument("--strobealign", default=os.environ.get("STROBEALIGN",
        ROOT / "target/strobealign/bin/strobealign"))
    parser.add_argument("--bwa", default=os.environ.get("BWA", "bwa"))
    parser.add_argument("--simulate", default=None, help="the simulator (default: beside zerohop)")
    parser.add_argument("--zerohop-options", type=str.split, default=[], help="more options for zerohop align")
    parser.add_argument("--use-indexes", action="store_true",
        help="take zerohop's indexes as they lie in the work folder, where they are made anew otherwise")
    parser.add_argument("--work", type=Path, default=None,
        help="folder for large files (default: bench-work in the target folder)")
    parser.add_argument("--out", type=Path, default=None, help="folder for results (default: bench/runs/DATE-HOST)")
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options.work = (options.work or target / "bench-work").resolve()
    options.simulate = options.simulate or target / "release" / "simulate"
    options.out = options.out or ROOT / "bench" / "runs" / f"{datetime.date.today()}-{platform.node()}"
    check_arguments(parser, options)
    return options


def level(text):
    """A level of compression; None for the default of each program."""
    return None if text == "own" else int(text)


def check_arguments(parser, options):
    for name, known in [("output", {"sam", "bam"}), ("input", {"plain", "gz", "bgzf"}),
            ("arms", {"strobealign", "before", "zerohop", "bwa", "bwa-mem"})]:
        unknown = set(getattr(options, name)) - known
        if unknown:
            parser.error(f"--{name}: what is {', '.join(unknown)}?")
    for reference in options.reference:
        if reference not in REAL and not re.fullmatch(r"sim\d+[kKMG]?", reference):
            parser.error(f"--reference: {reference} is neither {' nor '.join(REAL)} nor simSIZE")
    for arm in options.arms:
        if not shutil.which(str(program(options, arm))):
            parser.error(f"no program {program(options, arm)}: build it, or choose --arms")


def program(options, arm):
    """The program of an arm: bwa-mem is zerohop with its embedded bwa mem."""
    return getattr(options, "zerohop" if arm == "bwa-mem" else arm)


# --- inputs: made once, kept in the work folder ---------------------------------------------------------------


def prepare(options, reference, use_indexes=False):
    """Makes reference, reads in all wanted compressions and both indexes. Returns the names of the reads by input.
    `use_indexes`: takes indexes of zerohop as they lie there."""
    options.work.mkdir(parents=True, exist_ok=True)
    fasta = f"{reference}.fa"
    plain = [f"{read_stem(options, reference)}_{mate}.fq" for mate in (1, 2)]
    if reference in REAL:
        genome, reads = REAL[reference]
        make(options, [fasta], lambda names: unpack(genome, names[0], 1))
        sources = [str(reads).format(mate) for mate in (1, 2)]
        make(options, plain, lambda names: [unpack(*pair, REAL_REPEATS) for pair in zip(sources, names)])
    else:
        make(options, [fasta], lambda names: call([options.simulate, "reference", "--bases", reference[3:], "--seed",
            "1", "--out", names[0]]))
        make(options, plain, lambda names: call([
            options.simulate, "pairs", "--reference", options.work / fasta, "--pairs", options.pairs, "--length",
            READ_LENGTH,
            "--insert", "400", "--sd", "50", "--error", "0.002", "--snp", "0.001", "--seed", "2", "--out1", names[0],
            "--out2", names[1]]))
    inputs = {"plain": plain, "gz": [f"{name}.gz" for name in plain], "bgzf": [f"{name}.bgzf.gz" for name in plain]}
    if "gz" in options.input:
        make(options, inputs["gz"], lambda names: [call(["gzip", "-6", "-n", "-c", options.work / name], stdout=out)
            for name, out in zip(plain, names)])
    if "bgzf" in options.input:
        make(options, inputs["bgzf"], lambda names: [call(["bgzip", "-@", options.threads, "-c", options.work / name],
            stdout=out) for name, out in zip(plain, names)])
    make_indexes(options, fasta, use_indexes)
    return inputs


def read_stem(options, reference):
    return f"{reference}_150" if reference in REAL else f"{reference}_{options.pairs}"


def make_indexes(options, fasta, use_indexes):
    if "strobealign" in options.arms and not (options.work / f"{fasta}.r{READ_LENGTH}.sti").exists():
        call([options.strobealign, "-t", options.threads, "--create-index", "-r", READ_LENGTH, fasta], cwd=options.work)
    if "bwa" in options.arms and not (options.work / f"{fasta}.bwt").exists():
        call([options.bwa, "index", fasta], cwd=options.work)
    if use_indexes:
        return
    if "bwa-mem" in options.arms:
        call([options.zerohop, "index", "--engine", "bwa-mem", fasta], cwd=options.work)
    for arm in ("before", "zerohop"):
        if arm in options.arms:  # each time: the format may have changed
            name = reference_of(arm, fasta)
            if name != fasta and not (options.work / name).exists():
                (options.work / name).symlink_to(fasta)
            call([getattr(options, arm), "index", "-r", READ_LENGTH, name], cwd=options.work)


def reference_of(arm, fasta):
    """The reference as an arm knows it: each build of zerohop has an index of its own beside its reference."""
    return f"before.{fasta}" if arm == "before" else fasta


def make(options, names, action):
    """Runs `action` on temporary names unless all files are there, and renames: a file that exists is whole."""
    if all((options.work / name).exists() for name in names):
        return
    print(f"making {', '.join(names)}", file=sys.stderr)
    temporary = [options.work / f"{name}.new" for name in names]
    action(temporary)
    for new, name in zip(temporary, names):
        new.rename(options.work / name)


def unpack(source, target, times):
    with gzip.open(source, "rb") as packed:
        text = packed.read()
    with open(target, "wb") as out:
        for _ in range(times):
            out.write(text)


def call(command, stdout=None, cwd=None):
    command = [str(word) for word in command]
    out = open(stdout, "wb") if stdout else subprocess.DEVNULL
    result = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, cwd=cwd)
    if result.returncode:
        raise Failure(
            f"{' '.join(command)}: exit status {result.returncode}\n{result.stderr.decode(errors='replace')[-2000:]}")


# --- one run --------------------------------------------------------------------------------------------------


def commands(options, arm, fasta, reads, output, out):
    """The commands of a pipeline."""
    threads = str(options.threads)
    if arm in ("before", "zerohop", "bwa-mem"):
        own = output != "bam" or options.level is None
        level = [] if own else ["--level", str(options.level)]
        engine = ["--engine", "bwa-mem"] if arm == "bwa-mem" else []
        return [[str(program(options, arm)), "align", *engine, "-t", threads, *options.zerohop_options, "--format",
            output, *level, "-o", out, reference_of(arm, fasta), *reads]]
    align = [str(options.strobealign), "--use-index", "-t", threads]
    if arm == "bwa":
        # the cohorts of zerohop: with other ones some records are others
        align = [str(options.bwa), "mem", "-v", "1", "-K", "10000000", "-t", threads]
    if output == "sam":
        return [[*align, "-o", out, fasta, *reads]]
    level = [] if options.level is None else ["--output-fmt-option", f"level={options.level}"]
    return [[*align, fasta, *reads], ["samtools", "view", "-@", threads, "-b", *level, "-o", out, "-"]]


def measure(pipeline, options, log):
    """Runs the commands joined by pipes; returns seconds, CPU seconds and KiB, with os.wait4."""
    processes = []
    with open(log, "wb") as errors:
        start = time.perf_counter()
        for number, command in enumerate(pipeline):
            last = number == len(pipeline) - 1
            before = processes[-1].stdout if processes else subprocess.DEVNULL
            processes.append(subprocess.Popen(
                command, cwd=options.work, stdin=before, stdout=subprocess.DEVNULL if last else subprocess.PIPE,
                stderr=errors))
            if number:
                before.close()
        ends = [os.wait4(process.pid, 0) for process in processes]
        wall = time.perf_counter() - start
    for process, (_, status, _) in zip(processes, ends):
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise Failure(
                f"{' '.join(process.args)}: exit status {process.returncode}\n"
                f"{Path(log).read_text(errors='replace')[-2000:]}")
    usages = [usage for _, _, usage in ends]
    return {
        "wall_s": round(wall, 4),
        "user_s": round(sum(usage.ru_utime for usage in usages), 3),
        "sys_s": round(sum(usage.ru_stime for usage in usages), 3),
        "peak_rss_kib": sum(usage.ru_maxrss for usage in usages),
        "peak_rss_kib_each": [usage.ru_maxrss for usage in usages],
    }


def digest(path):
    """Digest of the records and of the header without @HD, which bwa does not write, and @PG: the same for the same
    alignments in the same order."""
    view = subprocess.Popen(["samtools", "view", "-h", "--no-PG", str(path)], stdout=subprocess.PIPE)
    result = hashlib.sha256()
    for line in view.stdout:
        if not line.startswith((b"@HD", b"@PG")):
            result.update(line)
    if view.wait():
        raise Failure(f"samtools cannot read {path}")
    return result.hexdigest()


def run_case(options, case, inputs, raw):
    fasta, reads = f"{case['reference']}.fa", inputs[case["input"]]
    for name in [fasta, *reads]:  # into the page cache
        with open(options.work / name, "rb") as file:
            while file.read(1 << 24):
                pass
    results = []
    for repetition in range(options.repeats + 1):  # number 0 warms up and does not count
        order = options.arms if repetition % 2 else options.arms[::-1]
        for arm in order:
            out = f"out.{arm}.{case['output']}"
            (options.work / out).unlink(missing_ok=True)
            pipeline = commands(options, arm, fasta, reads, case["output"], out)
            result = {**case, "arm": arm, "repetition": repetition, **measure(pipeline, options,
                options.work / "stderr.log")}
            result["mapping_s"] = mapping_seconds(options.work / "stderr.log")
            result["output_bytes"] = (options.work / out).stat().st_size
            if repetition == 0:
                result["digest"] = digest(options.work / out)
            result["command"] = " | ".join(shown(command) for command in pipeline)
            raw.write(json.dumps(result) + "\n")
            raw.flush()
            results.append(result)
            print(f"{case_name(case):24} {arm:12} run {repetition}: {result['wall_s']:8.2f} s", file=sys.stderr)
    for arm in options.arms:
        (options.work / f"out.{arm}.{case['output']}").unlink(missing_ok=True)
    return results


def mapping_seconds(log):
    """Seconds without the loading of the index, as the program says them; None if it does not."""
    found = re.search(r"Mapping:\s+([\d.]+) s|([\d.]+) s mapping", log.read_text(errors="replace"))
    return found and float(found[1] or found[2])


def shown(command):
    return " ".join([Path(command[0]).name, *command[1:]])


def case_name(case):
    return f"{case['reference']} {case['input']} {case['output']}"


# --- what is written ------------------------------------------------------------------------------------------


def output_of(*command):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
            cwd=ROOT).stdout.strip()
    except OSError:
        return "not here"


def machine():
    wanted = re.compile(
        r"^(Architecture|CPU\(s\)|Model name|Thread\(s\)|Core\(s\)|Socket\(s\)|NUMA node.*|L2 cache|L3 cache|"
        r"Hypervisor.*)\s*:")
    lines = [re.sub(r"\s{2,}", " ", line.strip()) for line in output_of("lscpu").splitlines()
        if wanted.match(line.strip())]
    thp = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    return lines + [
        f"Memory: {int(memory.group(1)) / 2**20:.1f} GiB",
        f"Kernel: {platform.release()}",
        f"Transparent huge pages: {thp.read_text().strip() if thp.exists() else 'none'}",
    ]


def zerohop_commit():
    changes = " with changes" if output_of("git", "status", "--porcelain") else ""
    return f"zerohop commit: {output_of('git', 'rev-parse', 'HEAD') or 'none'}{changes}"


def describe_run(out, text, **sections):
    """Writes README.md into the folder of a run: `text`, then a list under each title."""
    lines = list(text)
    for title, items in sections.items():
        lines += [f"## {title}", "", *[f"- {item}" for item in items], ""]
    (out / "README.md").write_text("\n".join(lines).rstrip() + "\n")


def versions(options):
    lines = [zerohop_commit()]
    for arm in options.arms:
        lines.append(f"{arm}: {output_of(program(options, arm), '--version') or bwa_version(options)}")
    lines.append(output_of("samtools", "--version").split("\n")[0])
    return lines


def bwa_version(options):
    """bwa has no option for it."""
    said = subprocess.run([options.bwa], capture_output=True, text=True).stderr
    return " ".join(re.findall(r"Version: (\S+)", said)) or "unknown"


def write_readme(options):
    arguments = " ".join(Path(word).name if word.startswith("/") else word for word in sys.argv[1:]) or "(defaults)"
    commands_seen = [f"`{line}`" for line in example_commands(options)]
    other = {"strobealign": "the strobealign program", "bwa": "bwa"}.get(options.arms[0], "an earlier build")
    text = [f"# Comparison of zerohop with {other}", "", f"Options of `bench/compare.py`: `{arguments}`", "",
            f"{options.threads} threads on {options.threads} CPUs, {options.repeats} counted runs of each arm after "
            f"one that warms up, arms in turn.",
            "`raw.jsonl` has one line a run, `summary.md` the medians; `bench/README.md` says how it is measured.", ""]
    describe_run(options.out, text, Versions=versions(options), Machine=machine(), Commands=commands_seen)


def example_commands(options):
    for output in options.output:
        for arm in options.arms:
            yield " | ".join(shown(command) for command in commands(options, arm, "REF.fa", ["R1", "R2"], output,
                f"OUT.{output}"))


def median(results, key):
    return statistics.median(key(result) for result in results)


def summary_rows(results, arms):
    counted = [result for result in results if result["repetition"]]
    cpu = lambda result: result["user_s"] + result["sys_s"]
    rows = []
    for name in dict.fromkeys(case_name(result) for result in results):
        of_arm = {arm: [result for result in counted if case_name(result) == name and result["arm"] == arm]
            for arm in arms}
        digests = {result["digest"] for result in results if case_name(result) == name and "digest" in result}
        for arm in arms:
            runs = of_arm[arm]
            walls = [run["wall_s"] for run in runs]
            row = [name, arm, f"{statistics.median(walls):.2f} ({min(walls):.2f}-{max(walls):.2f})",
                f"{median(runs, cpu):.2f}", mapping_column(runs),
                   f"{median(runs, lambda run: run['peak_rss_kib']) / 1024:.0f}",
                   f"{runs[0]['output_bytes'] / 1e6:.1f}"]
            is_compared = arm == arms[-1] and arms[0] != arm
            row += ratios(of_arm[arms[0]], runs, cpu, digests) if is_compared else [""] * 5
            rows.append(row)
    return rows


def mapping_of(run):
    return run["mapping_s"] or 0


def mapping_column(runs):
    seconds = median(runs, mapping_of)
    return f"{seconds:.2f}" if seconds else ""


def ratios(other, own, cpu, digests):
    wall = median(other, lambda run: run["wall_s"]) / median(own, lambda run: run["wall_s"])
    rss = median(own, lambda run: run["peak_rss_kib"]) / median(other, lambda run: run["peak_rss_kib"])
    mapping = [median(runs, mapping_of) for runs in (other, own)]
    faster = f"{mapping[0] / mapping[1]:.2f}x" if all(mapping) else ""
    less_cpu = f"{median(other, cpu) / median(own, cpu):.2f}x"
    return [f"{wall:.2f}x", less_cpu, faster, f"{rss:.2f}x", "yes" if len(digests) == 1 else "NO"]


def write_summary(options, results):
    head = ["case", "arm", "wall s: median (range)", "CPU s", "mapping s", "peak MiB", "output MB", "faster",
        "less CPU", "mapping faster", "memory",
        "same records"]
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *summary_rows(results, options.arms)]]
    text = "\n".join(lines) + "\n"
    (options.out / "summary.md").write_text(text)
    return text


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])  # and so that of all arms
    options.out.mkdir(parents=True, exist_ok=True)
    write_readme(options)
    results = []
    with open(options.out / "raw.jsonl", "w") as raw:
        for reference in options.reference:
            inputs = prepare(options, reference, options.use_indexes)
            for output in options.output:
                for name in options.input:
                    case = {"reference": reference, "input": name, "output": output, "threads": options.threads}
                    results += run_case(options, case, inputs, raw)
                    text = write_summary(options, results)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"compare.py: {failure}")
