#!/usr/bin/env python3
"""Compares all aligners that `zerohop align --engine` has here: time, memory, where they place reads, and the variants
that bcftools calls from their records.

    python3 bench/aligners.py                                        # E. coli
    python3 bench/aligners.py --data FOLDER --sets ecoli,human,hg002 # and human reads
    python3 bench/aligners.py --engines strobealign,bwa-mem --repeats 5

Sets:
    ecoli   pairs of 2x150 bases simulated from E. coli K-12 with variants put into it
    human   the same with 18 Mb of human sequence (FOLDER/combined/human_mini.fa.gz)
    hg002   real pairs of HG002 from 100 kb of chromosome 20 (FOLDER/human_chr20), whose truth is not known: calls are
            compared with those of bwa; too few reads for times
    ecoli-ont, ecoli-hifi, human-ont, human-hifi
            long reads of the samples of ecoli and human: Nanopore's with 6 % errors and N50 of some 25 kb, HiFi's of
            10 to 20 kb with 0.3 %

Times are those of `zerohop align --engine E` with the index made before; memory is that of zerohop and, if the aligner
is a program of its own, of both.

A read is placed right if its record begins within 20 bases of where it comes from, soft clips counted; surely wrong if
it is placed elsewhere with a mapping quality of 20 to 254 (255 is none). A long read is placed right if its place and
its alignment have a tenth in common of what they cover together. Variants: SNVs
(one of 1,000 bases), insertions and deletions of 1 to 20 bases (one of 5,000), at least 30 bases apart; called by
`bcftools mpileup | bcftools call -mv` (of HiFi reads with -X pacbio-ccs; none of Nanopore's, which bcftools is slow
and bad at), normalised, of quality 20 at least. Results go to
bench/runs/DATE-HOST-aligners/.
"""

import json
import os
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (ECOLI, Failure, call, cpu_seconds, describe_run, make, make_pairs, measure, median,
    median_and_range, output_of, parser_of, raw_data, run_script, shown, stay_on_cpus, table, unpack, with_programs,
    words, write_summary, zerohop_commit)
from truth import begins_there, make_long_reads, make_sample, overlaps, placed, read_fasta

# Aligners of short reads, and what each is given besides its defaults, and why.
SHORT = {
    "strobealign": [],
    "bwa-mem": [],
    "bwa-mem-fast": ["--engine-args=-m 10 -y 0"],  # mates are looked for less often, and seeds fewer times
    "bwa-mem-unlike": ["--engine-args=--fast-unlike-bwa"],  # all shortcuts of the library
    "bwa": [],
    "bwa-mem2": [],
    "minimap2": [],
    "minibwa": [],
    "bowtie2": [],
    "hisat2": ["--dna"],  # no spliced alignments
    "snap": [],
    "gem3": [],
    "bowtie": ["--engine-args=-X 800"],  # pairs are longer than its 250
}
ENGINE_OF = {"bwa-mem-fast": "bwa-mem", "bwa-mem-unlike": "bwa-mem"}
LONG = ["rammap", "minimap2"]
EMBEDDED = {"strobealign", "bwa-mem", "rammap"}
# Of each kind of long reads: the preset of the aligners, and that of bcftools, if variants are called.
PRESETS = {"ont": ("map-ont", None), "hifi": ("map-hifi", "pacbio-ccs")}
SETS = ["ecoli", "human", "hg002", *(f"{sample}-{kind}" for sample in ("ecoli", "human") for kind in PRESETS)]
# With these others are compared where the truth is not known.
STANDARD = "bwa"
READ_LENGTH = 150


def parse_arguments():
    parser = parser_of(__doc__, results="aligners", threads=0, repeats=3, of="counted runs of each engine")
    parser.add_argument("--sets", type=words, default=["ecoli"], help=f"of: {', '.join(SETS)} (default: ecoli)")
    parser.add_argument("--engines", type=words, default=None, help="(default: all that are installed)")
    parser.add_argument("--data", type=Path, default=os.environ.get("ZEROHOP_DATA"), help="folder with human data")
    parser.add_argument("--reference", type=Path, default=ECOLI, help="another FASTA.gz for the set ecoli")
    parser.add_argument("--coverage", type=float, default=30, help="of simulated reads (default: %(default)s)")
    parser.add_argument("--work", type=Path, default=None,
        help="folder for large files (default: bench-work in the target folder)")
    parser.add_argument("--zerohop", default=os.environ.get("ZEROHOP"), help="(default: in the target folder)")
    parser.add_argument("--simulate", default=None, help="the simulator (default: in the target folder)")
    options = with_programs(parser.parse_args(), "aligners")
    installed_ones = installed(options)
    here = [name for name in dict.fromkeys([*SHORT, *LONG]) if ENGINE_OF.get(name, name) in installed_ones]
    if options.engines is None:
        options.engines = here
    for name, known in [("engines", set(here)), ("sets", set(SETS))]:
        unknown = set(getattr(options, name)) - known
        if unknown:
            parser.error(f"--{name}: {', '.join(sorted(unknown))} is not known, or not installed")
    for program in ["bcftools", "samtools"]:
        if not shutil.which(program):
            parser.error(f"there is no {program} here")
    if any(not name.startswith("ecoli") for name in options.sets) and not options.data:
        parser.error("--sets human and hg002 need --data")
    return options


def installed(options):
    """Engines that are here, with their versions."""
    lines = output_of(options.zerohop, "engines").split("\n\n")[0].splitlines()[1:]
    return {columns[0]: columns[1] for columns in map(str.split, lines) if columns[1] != "-"}


# --- what is aligned ------------------------------------------------------------------------------------------


def kind_of(name):
    """The kind of the long reads of a set; of pairs, none."""
    return name.partition("-")[2]


def has_variants(name):
    return not kind_of(name) or PRESETS[kind_of(name)][1] is not None


def engines_of(options, name):
    return [engine for engine in options.engines if engine in (LONG if kind_of(name) else SHORT)]


def prepare(options, name):
    """The reference, the reads and, of simulated ones, the truth."""
    of, kind = name.partition("-")[0], kind_of(name)
    source = {"ecoli": options.reference, "human": "combined/human_mini.fa.gz",
        "hg002": "human_chr20/ucsc.hg19.chr20.unittest.fasta.gz"}[of]
    source = source if of == "ecoli" else options.data / source
    # Files that are there already are used: so names tell what is in them.
    stem = of if of != "ecoli" or source == ECOLI else f"other-{source.name.split('.')[0]}"
    fasta, sample, truth = f"{stem}.fa", f"{stem}.sample.fa", f"{stem}.truth.json"
    make(options, [fasta], lambda names: unpack(source, names[0], 1))
    if of == "hg002":
        real = [options.data / "human_chr20" / f"HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R{mate}.fq.gz"
            for mate in (1, 2)]
        reads = [f"{stem}_{mate}.fq" for mate in (1, 2)]
        make(options, reads, lambda names: [unpack(*pair, 1) for pair in zip(real, names)])
        return fasta, reads, None
    make(options, [sample, truth], lambda names: make_sample(options.work / fasta, *names))
    bases = sum(len(sequence) - sequence.count("N") for sequence in read_fasta(options.work / fasta).values())
    if kind:
        reads = [f"{stem}_{options.coverage:g}x_{kind}.fq"]
        make(options, reads,
            lambda names: make_long_reads(options.work / sample, kind, options.coverage * bases, *names))
    else:
        reads = [f"{stem}_{options.coverage:g}x_{mate}.fq" for mate in (1, 2)]
        make_pairs(options, sample, reads, int(options.coverage * bases / (2 * READ_LENGTH)), READ_LENGTH, snp="0")
    return fasta, reads, json.loads((options.work / truth).read_text())


def given(engine, name):
    """The aligner, and what it is given for a set."""
    kind = kind_of(name)
    own = [f"--engine-args=-x {PRESETS[kind][0]}"] if kind else SHORT[engine]
    return ["--engine", ENGINE_OF.get(engine, engine), *own]


def make_indexes(options, name, fasta, reads):
    for engine in engines_of(options, name):
        if ENGINE_OF.get(engine, engine) in EMBEDDED:
            length = ["-r", READ_LENGTH] if engine == "strobealign" else []
            call([options.zerohop, "index", *given(engine, name), *length, fasta], cwd=options.work)
        else:
            command = align(options, engine, name, fasta, reads, "/dev/null")
            call([*command[:2], "--build-index", "--first", "2000", *command[2:]], cwd=options.work)


def align(options, engine, name, fasta, reads, out):
    return [str(word) for word in [options.zerohop, "align", *given(engine, name), "-t", options.threads, "--json",
        "run.json", "-o", out, fasta, *reads]]


def peak_memory(options):
    """Of zerohop and of the aligner, if that is a process of its own. (What the kernel says of a child is at least what
    this script has.)"""
    report = json.loads((options.work / "run.json").read_text())
    return report["resources"]["peak_memory"] + sum(one["peak_memory"] for one in report["run"]["instances"])


# --- what came of it ------------------------------------------------------------------------------------------


def called(options, name, fasta, sam, ploidy):
    """The variants that bcftools calls from records, normalised."""
    work, bam = options.work, "sorted.bam"
    call(["samtools", "sort", "-@", options.threads, "-o", bam, sam], cwd=work)
    call(["samtools", "index", bam], cwd=work)
    vcf = work / "calls.vcf"
    preset = ["-X", PRESETS[kind_of(name)][1]] if kind_of(name) else []
    script = ('bcftools mpileup "${@:5}" -Ou -f "$1" "$2" | bcftools call -mv -Ou --ploidy "$3" | '
        'bcftools norm -f "$1" -m -any -Ou - | bcftools view -i "QUAL>=20" -Ov -o "$4"')
    call(["bash", "-o", "pipefail", "-c", script, "bash", fasta, bam, ploidy, vcf, *preset], cwd=work)
    return variants_in(vcf)


def variants_in(vcf):
    rows = [line.split("\t", 5) for line in open(vcf) if line[0] != "#"]
    return {(contig, int(position), old, new) for contig, position, _, old, new, _ in rows}


def true_variants(options, fasta, truth):
    """The truth, normalised as calls are."""
    vcf, contigs = options.work / "truth.vcf", read_fasta(options.work / fasta)
    with open(vcf, "w") as out:
        out.write("##fileformat=VCFv4.2\n")
        for name, sequence in contigs.items():
            out.write(f"##contig=<ID={name},length={len(sequence)}>\n")
        out.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for name, variants in truth["variants"].items():
            out.writelines(f"{name}\t{at + 1}\t.\t{old}\t{new}\t.\t.\t.\n" for at, old, new in variants)
    normalised = options.work / "truth.norm.vcf"
    call(["bcftools", "norm", "-f", fasta, "-Ov", "-o", normalised, vcf], cwd=options.work)
    return variants_in(normalised)


def is_snv(variant):
    return len(variant[2]) == len(variant[3]) == 1


def counts_of(calls, truth):
    """Of SNVs, and of insertions and deletions: right, missed and false ones."""
    counts = {}
    for kind, wanted in (("snv", True), ("indel", False)):
        of_kind = lambda variants: {variant for variant in variants if is_snv(variant) == wanted}
        ours, theirs = of_kind(calls), of_kind(truth)
        counts[kind] = {"right": len(ours & theirs), "missed": len(theirs - ours), "false": len(ours - theirs)}
    return counts


def run_set(options, name, write):
    fasta, reads, truth = prepare(options, name)
    make_indexes(options, name, fasta, reads)
    results, calls, engines = [], {}, engines_of(options, name)
    tell = lambda result: (write(result), results.append(result))
    for repetition in range(options.repeats + 1 if truth else 1):  # number 0 warms up, and its records are looked at
        shift = repetition % len(engines)
        for engine in engines[shift:] + engines[:shift]:
            command = align(options, engine, name, fasta, reads, "out.sam")
            result = {"set": name, "engine": engine, "repetition": repetition, "command": shown(command),
                **measure([command], options, options.work / "stderr.log"), "peak_bytes": peak_memory(options)}
            del result["peak_rss_kib"], result["peak_rss_kib_each"]
            print(f"{name:8} {engine:12} run {repetition}: {result['wall_s']:8.2f} s", file=sys.stderr)
            if repetition == 0:
                if has_variants(name):
                    calls[engine] = called(options, name, fasta, "out.sam", 1 if truth else 2)
                if truth:
                    result["reads"] = placed(options.work / "out.sam", truth,
                        overlaps if kind_of(name) else begins_there)
            tell(result)
    wanted = true_variants(options, fasta, truth) if truth else calls.get(STANDARD)
    if wanted is not None and has_variants(name):
        for engine in engines:
            tell({"set": name, "engine": engine, "variants": counts_of(calls[engine], wanted)})
    return results


# --- what is written ------------------------------------------------------------------------------------------


def percent(part, whole):
    return f"{100 * part / whole:.3f}" if whole else "-"


def quality(counts):
    """Precision and recall in percent."""
    right, missed, false = counts["right"], counts["missed"], counts["false"]
    return f"{percent(right, right + false)} / {percent(right, right + missed)}"


def times(runs):
    return [median_and_range(run["wall_s"] for run in runs), f"{median(runs, cpu_seconds):.2f}",
        f"{median(runs, 'peak_bytes') / 2**20:.0f}"]


def summary(options, results):
    text = ""
    for name in dict.fromkeys(result["set"] for result in results):
        of_set = [result for result in results if result["set"] == name]
        simulated = any("reads" in result for result in of_set)
        head = ["aligner"] + (["wall s: median (range)", "CPU s", "peak MiB", "right %", "surely wrong of a million",
            "SNVs: precision / recall %", "indels: precision / recall %"] if simulated else
            [f"variants as with {STANDARD}", f"with {STANDARD} alone", "with it alone"])
        rows = [head]
        for engine in engines_of(options, name):
            own = [result for result in of_set if result["engine"] == engine]
            variants = next((result["variants"] for result in own if "variants" in result), None)
            row = [engine]
            if simulated:
                row += times([result for result in own if result.get("repetition")])
                reads = next(result["reads"] for result in own if "reads" in result)
                row += [percent(reads["right"], reads["reads"]),
                    f"{1e6 * reads['surely_wrong'] / reads['reads']:.0f}",
                    *(quality(variants[kind]) if variants else "-" for kind in ("snv", "indel"))]
            elif variants:
                row += [str(sum(kind[key] for kind in variants.values())) for key in ("right", "missed", "false")]
            rows.append(row)
        text += f"## {name}\n\n{table(rows)}\n"
    return text


def describe(options):
    versions = [zerohop_commit()]
    versions += [output_of(program, "--version").split("\n")[0] for program in ("samtools", "bcftools")]
    versions += [f"{engine} {version}" for engine, version in installed(options).items()
        if engine in {ENGINE_OF.get(name, name) for name in options.engines}]
    describe_run(options.out, "All aligners, side by side", [
        f"{options.threads} threads on {options.threads} CPUs, {options.repeats} counted runs of each aligner after",
        "one that warms up, aligners in turn; indexes made before.",
        "`raw.jsonl` has one line a run, and one for each aligner's variants; the head of the script says what is "
        "counted."], versions)


def main():
    options = parse_arguments()
    stay_on_cpus(options)
    for name in options.sets:
        if not engines_of(options, name):
            raise Failure(f"--engines has none for the set {name}")
    results = []
    with raw_data(options.out) as write:
        describe(options)
        for name in options.sets:
            results += run_set(options, name, write)
            (options.out / "summary.md").write_text(summary(options, results))
    write_summary(options.out, summary(options, results))


if __name__ == "__main__":
    run_script(main)
