"""What the comparisons in this folder share: their options and folders, inputs that are made once, programs that are
run and measured, and what is written into the folder of a run."""

import argparse
import contextlib
import datetime
import gzip
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
DATA = ROOT / "tests" / "data"
ECOLI = DATA / "ecoli" / "GCF_000005845.2_ASM584v2_genomic.fna.gz"


class Failure(Exception):
    """Something that ends the comparison with one line."""


def run_script(main):
    """Runs a script; a failure is one line with its name."""
    try:
        main()
    except Failure as failure:
        sys.exit(f"{Path(sys.argv[0]).name}: {failure}")


# --- options --------------------------------------------------------------------------------------------------


def parser_of(description, results=None, threads=None, repeats=None, of="counted runs of each arm"):
    """A parser of options, with those that most scripts have: --out, if `results` names what the folder of results is
    called by; --threads, if it is a number, of which 0 stands for all CPUs; --repeats, if it is one, `of` what."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if threads is not None:
        parser.add_argument("--threads", type=int, default=threads or len(os.sched_getaffinity(0)),
            help="(default: %(default)s)" if threads else "(default: all CPUs)")
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats, help=f"{of} (default: %(default)s)")
    if results is not None:
        parser.add_argument("--out", type=Path, default=folder_of_run(results), help="folder for results")
    return parser


def words(text):
    """Words with commas between them."""
    return text.split(",")


def folder_of_run(name=""):
    """The folder of the results of a run of today."""
    return ROOT / "bench" / "runs" / "-".join(filter(None, [str(datetime.date.today()), platform.node(), name]))


def with_programs(options, *folder):
    """The options with what they do not say: a folder for large files, in the target folder, and the programs that were
    built there."""
    options.work = (getattr(options, "work", None) or Path(TARGET, "bench-work", *folder)).resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    for name in ("zerohop", "simulate"):
        setattr(options, name, getattr(options, name, None) or TARGET / "release" / name)
    return options


def stay_on_cpus(options):
    """Has this script, and so all that it runs, use as many CPUs as threads: the first ones."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])


# --- inputs: made once, kept in the work folder ---------------------------------------------------------------


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


def make_reference(options, name, bases):
    """A simulated reference."""
    make(options, [name], lambda names: call([options.simulate, "reference", "--bases", bases, "--seed", "1", "--out",
        names[0]]))


def make_pairs(options, reference, names, pairs, length=150, snp="0.001", more=()):
    """Simulated pairs of a reference, in two files; `more` are further options of `simulate pairs`."""
    make(options, names, lambda new: call([
        options.simulate, "pairs", "--reference", options.work / reference, "--pairs", pairs, "--length", length,
        "--insert", "400", "--sd", "50", "--error", "0.002", "--snp", snp, "--seed", "2", *more, "--out1", new[0],
        "--out2", new[1]]))


# --- programs -------------------------------------------------------------------------------------------------


def call(command, stdout=None, cwd=None):
    command = [str(word) for word in command]
    out = open(stdout, "wb") if stdout else subprocess.DEVNULL
    result = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, cwd=cwd)
    if result.returncode:
        raise Failure(
            f"{' '.join(command)}: exit status {result.returncode}\n{result.stderr.decode(errors='replace')[-2000:]}")


def output_of(*command):
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
            cwd=ROOT).stdout.strip()
    except OSError:
        return "not here"


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


def shown(command):
    return " ".join([Path(command[0]).name, *command[1:]])


# --- what came of them ----------------------------------------------------------------------------------------


def seconds(duration):
    """Seconds of a duration in zerohop's JSON."""
    return duration["secs"] + duration["nanos"] / 1e9


def cpu_seconds(run):
    """CPU seconds of what `measure` gave."""
    return run["user_s"] + run["sys_s"]


def median(runs, key):
    """The median of what runs have under a name, or of what a function says of each."""
    return statistics.median(key(run) if callable(key) else run[key] for run in runs)


def median_ratio(own, other, key="wall_s"):
    """The median of the ratios of runs that took turns: a machine that slows down for a while slows both."""
    return statistics.median(one[key] / beside[key] for one, beside in zip(own, other))


def median_and_range(values):
    values = list(values)
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def table(rows):
    """A table in Markdown, whose first row is the head."""
    head, *others = rows
    return "".join("| " + " | ".join(map(str, row)) + " |\n" for row in [head, ["---"] * len(head), *others])


# --- what is written ------------------------------------------------------------------------------------------


def summary_of_pairs(results):
    """A section for each of `results`, with a row for each arm: runs of one round are pairs, and the ratios are the
    median and the range of those to the first arm."""
    def ratios(runs, base, key):
        return median_and_range(key(own) / key(other) for own, other in zip(runs, base))

    text = ""
    for name, arms in results.items():
        rows = [["arm", "wall s: median (range)", "CPU s", "peak MiB", "CPU / first arm, of pairs", "wall / first arm"]]
        base = next(iter(arms.values()))
        for arm, runs in arms.items():
            rows.append([arm, median_and_range(run["wall_s"] for run in runs), f"{median(runs, cpu_seconds):.2f}",
                f"{median(runs, 'peak_rss_kib') / 1024:.0f}", ratios(runs, base, cpu_seconds),
                ratios(runs, base, lambda run: run["wall_s"])])
        text += f"## {name}\n\n{table(rows)}\n"
    return text


@contextlib.contextmanager
def raw_data(out):
    """Makes the folder of a run; gives what writes a result into its raw.jsonl, a line each."""
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "raw.jsonl", "w") as raw:
        def tell(result):
            raw.write(json.dumps(result) + "\n")
            raw.flush()
        yield tell


def write_summary(out, text):
    """Writes summary.md into the folder of a run, and shows it."""
    (out / "summary.md").write_text(text)
    print(text)


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


def samtools_version():
    return output_of("samtools", "--version").split("\n")[0]


def options_line():
    """The options of this run, without the folders of this machine."""
    given = " ".join(Path(word).name if word.startswith("/") else word for word in sys.argv[1:])
    return f"Options of `bench/{Path(sys.argv[0]).name}`: `{given or '(defaults)'}`"


def describe_run(out, title, text, versions, **more):
    """Writes README.md into the folder of a run: its title, its options, `text`, then lists of versions, of the machine
    and, under their titles, of what there is `more`."""
    lines = [f"# {title}", "", options_line(), "", *text, ""]
    for head, items in {"Versions": versions, "Machine": machine(), **more}.items():
        lines += [f"## {head}", "", *[f"- {item}" for item in items], ""]
    (out / "README.md").write_text("\n".join(lines).rstrip() + "\n")


def describe_command(out, title, command, versions, more=""):
    """The same, for scripts whose command is told whole."""
    script = command.split()[1]
    about = [f"# {title}\n\n    {command}\n\nWhat is measured: the head of {script}.{more}\n"]
    about += [f"- {line}" for line in versions + machine()]
    (out / "README.md").write_text("\n".join(about) + "\n")
