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

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (DATA, ECOLI, ROOT, Failure, call, cpu_seconds, describe_run, make, make_pairs, make_reference,
    measure, median, median_and_range, output_of, parser_of, raw_data, run_script, samtools_version, shown,
    stay_on_cpus, table, unpack, with_programs, words, zerohop_commit)

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


# What the simulator is told with --indels.
INDELS = {"snp": "0.0009", "more": ["--error-at-end", "0.01", "--indels", "0.0001"]}

# --- what is compared -----------------------------------------------------------------------------------------


def parse_arguments():
    parser = parser_of(__doc__, results="", threads=0, repeats=5)
    parser.add_argument("--reference", type=words, default=["ecoli", "sim100M"], metavar="NAME,...",
                        help="ecoli, human (real reads) or simSIZE, e.g. sim100M, sim1G (default: ecoli,sim100M)")
    parser.add_argument("--output", type=words, default=["sam", "bam"], help="sam, bam (default: both)")
    parser.add_argument("--input", type=words, default=["plain", "gz", "bgzf"], help="plain, gz, bgzf (default: all)")
    parser.add_argument("--pairs", type=int, default=500_000, help="simulated pairs (default: %(default)s)")
    parser.add_argument("--indels", action="store_true", help="simulated reads whose errors rise from 0.2 to 1 %% "
        "along the read, from a sample with an insertion or a deletion behind each 10,000th base")
    parser.add_argument("--level", type=level, default=1, metavar="N|own",
        help="BAM compression level of both, or 'own': what each does by itself (default: %(default)s)")
    parser.add_argument("--arms", type=words, default=["strobealign", "zerohop"],
        help="of strobealign, before, zerohop, bwa, bwa-mem; the last is compared with the first")
    parser.add_argument("--zerohop", default=os.environ.get("ZEROHOP"),
        help="(default: in the target folder)")
    parser.add_argument("--before", default=None, metavar="PROGRAM",
        help="another build of zerohop, for the arm 'before'")
    parser.add_argument("--strobealign", default=os.environ.get("STROBEALIGN",
        ROOT / "target/strobealign/bin/strobealign"))
    parser.add_argument("--bwa", default=os.environ.get("BWA", "bwa"))
    parser.add_argument("--simulate", default=None, help="the simulator (default: in the target folder)")
    parser.add_argument("--zerohop-options", type=str.split, default=[], help="more options for zerohop align")
    parser.add_argument("--use-indexes", action="store_true",
        help="take zerohop's indexes as they lie in the work folder, where they are made anew otherwise")
    parser.add_argument("--work", type=Path, default=None,
        help="folder for large files (default: bench-work in the target folder)")
    options = with_programs(parser.parse_args())
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
    fasta = f"{reference}.fa"
    plain = [f"{read_stem(options, reference)}_{mate}.fq" for mate in (1, 2)]
    if reference in REAL:
        genome, reads = REAL[reference]
        make(options, [fasta], lambda names: unpack(genome, names[0], 1))
        sources = [str(reads).format(mate) for mate in (1, 2)]
        make(options, plain, lambda names: [unpack(*pair, REAL_REPEATS) for pair in zip(sources, names)])
    else:
        make_reference(options, fasta, reference[3:])
        make_pairs(options, fasta, plain, options.pairs, READ_LENGTH, **(INDELS if with_indels(options) else {}))
    inputs = {"plain": plain, "gz": [f"{name}.gz" for name in plain], "bgzf": [f"{name}.bgzf.gz" for name in plain]}
    if "gz" in options.input:
        make(options, inputs["gz"], lambda names: [call(["gzip", "-6", "-n", "-c", options.work / name], stdout=out)
            for name, out in zip(plain, names)])
    if "bgzf" in options.input:
        make(options, inputs["bgzf"], lambda names: [call(["bgzip", "-@", options.threads, "-c", options.work / name],
            stdout=out) for name, out in zip(plain, names)])
    make_indexes(options, fasta, use_indexes)
    return inputs


def with_indels(options):
    """Whether simulated reads have indels: not every script that takes inputs from here has the option."""
    return getattr(options, "indels", False)


def read_stem(options, reference):
    simulated = f"{reference}_{options.pairs}" + ("_indels" if with_indels(options) else "")
    return f"{reference}_150" if reference in REAL else simulated


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


def run_case(options, case, inputs, tell):
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
            tell(result)
            results.append(result)
            print(f"{case_name(case):24} {arm:12} run {repetition}: {result['wall_s']:8.2f} s", file=sys.stderr)
    for arm in options.arms:
        (options.work / f"out.{arm}.{case['output']}").unlink(missing_ok=True)
    return results


def mapping_seconds(log):
    """Seconds without the loading of the index, as the program says them; None if it does not."""
    found = re.search(r"Mapping:\s+([\d.]+) s|([\d.]+) s mapping", log.read_text(errors="replace"))
    return found and float(found[1] or found[2])


def case_name(case):
    return f"{case['reference']} {case['input']} {case['output']}"


# --- what is written ------------------------------------------------------------------------------------------


def versions(options, arms):
    lines = [f"{arm}: {output_of(program(options, arm), '--version') or bwa_version(options)}" for arm in arms]
    return [zerohop_commit(), *lines, samtools_version()]


def bwa_version(options):
    """bwa has no option for it."""
    said = subprocess.run([options.bwa], capture_output=True, text=True).stderr
    return " ".join(re.findall(r"Version: (\S+)", said)) or "unknown"


def describe(options):
    other = {"strobealign": "the strobealign program", "bwa": "bwa"}.get(options.arms[0], "an earlier build")
    text = [f"{options.threads} threads on {options.threads} CPUs, {options.repeats} counted runs of each arm after "
        f"one that warms up, arms in turn.",
        "`raw.jsonl` has one line a run, `summary.md` the medians; `bench/README.md` says how it is measured."]
    describe_run(options.out, f"Comparison of zerohop with {other}", text, versions(options, options.arms),
        Commands=[f"`{line}`" for line in example_commands(options)])


def example_commands(options):
    for output in options.output:
        for arm in options.arms:
            yield " | ".join(shown(command) for command in commands(options, arm, "REF.fa", ["R1", "R2"], output,
                f"OUT.{output}"))


def summary_rows(results, arms):
    counted = [result for result in results if result["repetition"]]
    rows = []
    for name in dict.fromkeys(case_name(result) for result in results):
        of_arm = {arm: [result for result in counted if case_name(result) == name and result["arm"] == arm]
            for arm in arms}
        digests = {result["digest"] for result in results if case_name(result) == name and "digest" in result}
        for arm in arms:
            runs = of_arm[arm]
            row = [name, arm, median_and_range(run["wall_s"] for run in runs), f"{median(runs, cpu_seconds):.2f}",
                mapping_column(runs), f"{median(runs, 'peak_rss_kib') / 1024:.0f}",
                f"{runs[0]['output_bytes'] / 1e6:.1f}"]
            is_compared = arm == arms[-1] and arms[0] != arm
            row += ratios(of_arm[arms[0]], runs, digests) if is_compared else [""] * 5
            rows.append(row)
    return rows


def mapping_of(run):
    return run["mapping_s"] or 0


def mapping_column(runs):
    seconds = median(runs, mapping_of)
    return f"{seconds:.2f}" if seconds else ""


def ratios(other, own, digests):
    wall = median(other, "wall_s") / median(own, "wall_s")
    rss = median(own, "peak_rss_kib") / median(other, "peak_rss_kib")
    mapping = [median(runs, mapping_of) for runs in (other, own)]
    faster = f"{mapping[0] / mapping[1]:.2f}x" if all(mapping) else ""
    less_cpu = f"{median(other, cpu_seconds) / median(own, cpu_seconds):.2f}x"
    return [f"{wall:.2f}x", less_cpu, faster, f"{rss:.2f}x", "yes" if len(digests) == 1 else "NO"]


def summary(options, results):
    return table([["case", "arm", "wall s: median (range)", "CPU s", "mapping s", "peak MiB", "output MB", "faster",
        "less CPU", "mapping faster", "memory", "same records"], *summary_rows(results, options.arms)])


def main():
    options = parse_arguments()
    stay_on_cpus(options)
    results = []
    with raw_data(options.out) as tell:
        describe(options)
        for reference in options.reference:
            inputs = prepare(options, reference, options.use_indexes)
            for output in options.output:
                for name in options.input:
                    case = {"reference": reference, "input": name, "output": output, "threads": options.threads}
                    results += run_case(options, case, inputs, tell)
                    (options.out / "summary.md").write_text(summary(options, results))
    print(summary(options, results))


if __name__ == "__main__":
    run_script(main)
