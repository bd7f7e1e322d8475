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

Times are those of `zerohop align --engine E` with the index made before; memory is that of zerohop and, if the aligner
is a program of its own, of both.

A read is placed right if its record begins within 20 bases of where it comes from, soft clips counted; surely wrong if
it is placed elsewhere with a mapping quality of 20 to 254 (255 is none). Variants: SNVs
(one of 1,000 bases), insertions and deletions of 1 to 20 bases (one of 5,000), at least 30 bases apart; called by
`bcftools mpileup | bcftools call -mv`, normalised, of quality 20 at least. Results go to
bench/runs/DATE-HOST-aligners/.
"""

import bisect
import json
import os
import random
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (ECOLI, call, cpu_seconds, describe_run, make, make_pairs, measure, median, median_and_range,
    output_of, parser_of, raw_data, run_script, shown, stay_on_cpus, table, unpack, with_programs, words, write_summary,
    zerohop_commit)

# What each is given besides its defaults, and why.
ENGINES = {
    "strobealign": [],
    "bwa-mem": [],
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
EMBEDDED = {"strobealign", "bwa-mem"}
# With these others are compared where the truth is not known.
STANDARD = "bwa"
READ_LENGTH = 150
NEAR = 20
SURE = 20
NO_QUALITY = 255
SNV_RATE, INDEL_RATE, LONGEST_INDEL, APART = 1e-3, 2e-4, 20, 30


def parse_arguments():
    parser = parser_of(__doc__, results="aligners", threads=0, repeats=3, of="counted runs of each engine")
    parser.add_argument("--sets", type=words, default=["ecoli"], help="of: ecoli, human, hg002 (default: ecoli)")
    parser.add_argument("--engines", type=words, default=None, help="(default: all that are installed)")
    parser.add_argument("--data", type=Path, default=os.environ.get("ZEROHOP_DATA"), help="folder with human data")
    parser.add_argument("--reference", type=Path, default=ECOLI, help="another FASTA.gz for the set ecoli")
    parser.add_argument("--coverage", type=float, default=30, help="of simulated pairs (default: %(default)s)")
    parser.add_argument("--work", type=Path, default=None,
        help="folder for large files (default: bench-work in the target folder)")
    parser.add_argument("--zerohop", default=os.environ.get("ZEROHOP"), help="(default: in the target folder)")
    parser.add_argument("--simulate", default=None, help="the simulator (default: in the target folder)")
    options = with_programs(parser.parse_args(), "aligners")
    here = set(installed(options))
    if options.engines is None:
        options.engines = [engine for engine in ENGINES if engine in here]
    for name, known in [("engines", here & set(ENGINES)), ("sets", {"ecoli", "human", "hg002"})]:
        unknown = set(getattr(options, name)) - known
        if unknown:
            parser.error(f"--{name}: {', '.join(sorted(unknown))} is not known, or not installed")
    for program in ["bcftools", "samtools"]:
        if not shutil.which(program):
            parser.error(f"there is no {program} here")
    if set(options.sets) - {"ecoli"} and not options.data:
        parser.error("--sets human and hg002 need --data")
    return options


def installed(options):
    """Engines that are here, with their versions."""
    lines = output_of(options.zerohop, "engines").split("\n\n")[0].splitlines()[1:]
    return {columns[0]: columns[1] for columns in map(str.split, lines) if columns[1] != "-"}


# --- a sample of known truth ----------------------------------------------------------------------------------


def read_fasta(path):
    contigs, name = {}, None
    for line in open(path):
        if line.startswith(">"):
            name = line[1:].split()[0]
            contigs[name] = []
        else:
            contigs[name].append(line.strip().upper())
    return {name: "".join(lines) for name, lines in contigs.items()}


def mutate(sequence, draw):
    """A sample's copy of a contig; its variants (position, bases there, bases instead); and from which base of the copy
    on it runs along with which base of the reference."""
    copy, variants, steps, done = [], [], [(0, 0)], 0
    length = 0
    at = 0
    while True:
        at += APART + int(draw.expovariate(SNV_RATE + INDEL_RATE))
        if at + LONGEST_INDEL + 1 >= len(sequence):
            break
        old, new = variant(sequence, at, draw)
        if set(old + new) - set("ACGT"):
            continue
        copy += [sequence[done:at], new]
        length += at - done + len(new)
        done = at + len(old)
        variants.append((at, old, new))
        steps.append((length, done))
        at = done
    copy.append(sequence[done:])
    return "".join(copy), variants, steps


def variant(sequence, at, draw):
    here = sequence[at]
    if draw.random() < SNV_RATE / (SNV_RATE + INDEL_RATE):
        return here, draw.choice([base for base in "ACGT" if base != here])
    size = min(LONGEST_INDEL, 1 + int(draw.expovariate(0.4)))
    if draw.random() < 0.5:
        return sequence[at : at + size + 1], here
    return here, here + "".join(draw.choice("ACGT") for _ in range(size))


def make_sample(reference, fasta, truth):
    """Writes the sample's sequence, and its truth: variants, and where its bases lie in the reference."""
    draw = random.Random(1)
    all_variants, all_steps = {}, {}
    with open(fasta, "w") as out:
        for name, sequence in read_fasta(reference).items():
            copy, all_variants[name], all_steps[name] = mutate(sequence, draw)
            out.write(f">{name}\n{copy}\n")
    Path(truth).write_text(json.dumps({"variants": all_variants, "steps": all_steps}))


def lift(steps, position):
    """Where base `position` of the sample lies in the reference."""
    copy, reference = steps[bisect.bisect_right(steps, [position, float("inf")]) - 1]
    return reference + position - copy


# --- what is aligned ------------------------------------------------------------------------------------------


def prepare(options, name):
    """The reference, the reads and, of simulated ones, the truth."""
    source = {"ecoli": options.reference, "human": "combined/human_mini.fa.gz",
        "hg002": "human_chr20/ucsc.hg19.chr20.unittest.fasta.gz"}[name]
    source = source if name == "ecoli" else options.data / source
    # Files that are there already are used: so names tell what is in them.
    stem = name if name != "ecoli" or source == ECOLI else f"other-{source.name.split('.')[0]}"
    fasta, reads = f"{stem}.fa", [f"{stem}_{options.coverage:g}x_{mate}.fq" for mate in (1, 2)]
    make(options, [fasta], lambda names: unpack(source, names[0], 1))
    if name == "hg002":
        real = [options.data / "human_chr20" / f"HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R{mate}.fq.gz"
            for mate in (1, 2)]
        make(options, reads, lambda names: [unpack(*pair, 1) for pair in zip(real, names)])
        return fasta, reads, None
    make(options, [f"{stem}.sample.fa", f"{stem}.truth.json"], lambda names: make_sample(options.work / fasta, *names))
    bases = sum(len(sequence) - sequence.count("N") for sequence in read_fasta(options.work / fasta).values())
    pairs = int(options.coverage * bases / (2 * READ_LENGTH))
    make_pairs(options, f"{stem}.sample.fa", reads, pairs, READ_LENGTH, snp="0")
    return fasta, reads, json.loads((options.work / f"{stem}.truth.json").read_text())


def make_indexes(options, fasta, reads):
    for engine in options.engines:
        if engine in EMBEDDED:
            given = ["-r", READ_LENGTH] if engine == "strobealign" else ["--engine", engine]
            call([options.zerohop, "index", *given, fasta], cwd=options.work)
        else:
            command = align(options, engine, fasta, reads, "/dev/null")
            call([*command[:2], "--build-index", "--first", "2000", *command[2:]], cwd=options.work)


def align(options, engine, fasta, reads, out):
    return [str(word) for word in [options.zerohop, "align", "--engine", engine, *ENGINES[engine], "-t",
        options.threads, "--json", "run.json", "-o", out, fasta, *reads]]


def peak_memory(options):
    """Of zerohop and of the aligner, if that is a process of its own. (What the kernel says of a child is at least what
    this script has.)"""
    report = json.loads((options.work / "run.json").read_text())
    return report["resources"]["peak_memory"] + sum(one["peak_memory"] for one in report["run"]["instances"])


# --- what came of it ------------------------------------------------------------------------------------------


def placed(sam, truth):
    """Counts of reads: all, placed, placed right, and placed wrong though the aligner is sure."""
    counts = dict.fromkeys(["reads", "placed", "right", "surely_wrong"], 0)
    for line in open(sam):
        if line[0] == "@":
            continue
        name, flag, contig, position, quality, cigar, _ = line.split("\t", 6)
        flag = int(flag)
        if flag & 0x900:
            continue
        counts["reads"] += 1
        if flag & 4:
            continue
        counts["placed"] += 1
        _, from_contig, first, _, second, _ = origin(name)
        start = int(second if flag & 0x80 else first) - 1
        clip = re.match(r"(\d+)S", cigar)
        found = int(position) - 1 - (int(clip.group(1)) if clip else 0)
        if contig == from_contig and abs(found - lift(truth["steps"][contig], start)) <= NEAR:
            counts["right"] += 1
        elif SURE <= int(quality) < NO_QUALITY:
            counts["surely_wrong"] += 1
    return counts


def origin(name):
    """The parts of sim.N:CONTIG:POS:STRAND:POS:STRAND, where CONTIG may have colons."""
    number, rest = name.split(":", 1)
    return [number, *rest.rsplit(":", 4)]


def called(options, fasta, sam, ploidy):
    """The variants that bcftools calls from records, normalised."""
    work, bam = options.work, "sorted.bam"
    call(["samtools", "sort", "-@", options.threads, "-o", bam, sam], cwd=work)
    call(["samtools", "index", bam], cwd=work)
    vcf = work / "calls.vcf"
    script = ('bcftools mpileup -Ou -f "$1" "$2" | bcftools call -mv -Ou --ploidy "$3" | '
        'bcftools norm -f "$1" -m -any -Ou - | bcftools view -i "QUAL>=20" -Ov -o "$4"')
    call(["bash", "-o", "pipefail", "-c", script, "bash", fasta, bam, ploidy, vcf], cwd=work)
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
    make_indexes(options, fasta, reads)
    results, calls = [], {}
    tell = lambda result: (write(result), results.append(result))
    for repetition in range(options.repeats + 1 if truth else 1):  # number 0 warms up, and its records are looked at
        shift = repetition % len(options.engines)
        for engine in options.engines[shift:] + options.engines[:shift]:
            command = align(options, engine, fasta, reads, "out.sam")
            result = {"set": name, "engine": engine, "repetition": repetition, "command": shown(command),
                **measure([command], options, options.work / "stderr.log"), "peak_bytes": peak_memory(options)}
            del result["peak_rss_kib"], result["peak_rss_kib_each"]
            print(f"{name:8} {engine:12} run {repetition}: {result['wall_s']:8.2f} s", file=sys.stderr)
            if repetition == 0:
                calls[engine] = called(options, fasta, "out.sam", 1 if truth else 2)
                if truth:
                    result["reads"] = placed(options.work / "out.sam", truth)
            tell(result)
    wanted = true_variants(options, fasta, truth) if truth else calls.get(STANDARD)
    if wanted is not None:
        for engine in options.engines:
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
        for engine in options.engines:
            own = [result for result in of_set if result["engine"] == engine]
            variants = next((result["variants"] for result in own if "variants" in result), None)
            row = [engine]
            if simulated:
                row += times([result for result in own if result.get("repetition")])
                reads = next(result["reads"] for result in own if "reads" in result)
                row += [percent(reads["right"], reads["reads"]),
                    f"{1e6 * reads['surely_wrong'] / reads['reads']:.0f}", quality(variants["snv"]),
                    quality(variants["indel"])]
            elif variants:
                row += [str(sum(kind[key] for kind in variants.values())) for key in ("right", "missed", "false")]
            rows.append(row)
        text += f"## {name}\n\n{table(rows)}\n"
    return text


def describe(options):
    versions = [zerohop_commit()]
    versions += [output_of(program, "--version").split("\n")[0] for program in ("samtools", "bcftools")]
    versions += [f"{engine} {version}" for engine, version in installed(options).items() if engine in options.engines]
    describe_run(options.out, "All aligners, side by side", [
        f"{options.threads} threads on {options.threads} CPUs, {options.repeats} counted runs of each aligner after",
        "one that warms up, aligners in turn; indexes made before.",
        "`raw.jsonl` has one line a run, and one for each aligner's variants; the head of the script says what is "
        "counted."], versions)


def main():
    options = parse_arguments()
    stay_on_cpus(options)
    results = []
    with raw_data(options.out) as write:
        describe(options)
        for name in options.sets:
            results += run_set(options, name, write)
            (options.out / "summary.md").write_text(summary(options, results))
    write_summary(options.out, summary(options, results))


if __name__ == "__main__":
    run_script(main)
