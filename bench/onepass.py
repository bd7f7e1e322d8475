#!/usr/bin/env python3
"""What trimming and UMIs cost inside `zerohop align`, beside the same run without them, and beside the chains of
programs that they replace.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/onepass.py --sets trim,umis

Arms of the set trim, reads of 150 bases without adapters, indexes made before:

    marked    zerohop align --sort --mark-duplicates
    trim      the same with --trim
    report    the same with --trim --fastp-json
    gz        fastp to gzip, then marked
    pipe      fastp | zerohop align -p --sort --mark-duplicates

Of the set umis, a panel: about 13 reads of each of many molecules, with UMIs of 8 bases in both reads:

    without   zerohop align --read-structure 8M+T twice, --sort --mark-duplicates
    umis      the same with --umi adjacency
    grouped   zerohop align ... --sort=template-coordinate --mark-duplicates --umi adjacency
    chain     fgumi extract; fgumi fastq | strobealign | fgumi zipper | fgumi sort | fgumi group

Of the set molecules, the same at as many places as there are molecules: all reads of a place have one UMI, without
errors, so both arms mark the same duplicates:

    without, umis

Every round runs all arms, so runs of a round are pairs: ratios are of these. Results go to
bench/runs/DATE-HOST-onepass/.
"""

import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import prepare
from running import (ROOT, describe_run, measure, output_of, parser_of, raw_data, run_script, summary_of_pairs,
    with_programs, words, write_summary, zerohop_commit)

ARMS = {
    "trim": ["marked", "trim", "report", "gz", "pipe"],
    "umis": ["without", "umis", "grouped", "chain"],
    "molecules": ["without", "umis"],
}


def parse_arguments():
    parser = parser_of(__doc__, results="onepass", threads=0, repeats=9)
    parser.add_argument("--sets", type=words, default=list(ARMS), help="(default: all)")
    parser.add_argument("--only", type=words, default=None, help="only these arms")
    parser.add_argument("--reference", default="sim10M", help="as in compare.py (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=500_000, help="(default: %(default)s)")
    parser.add_argument("--zerohop", default=None, help="(default: in the target folder)")
    parser.add_argument("--strobealign", default=ROOT / "target/strobealign/bin/strobealign")
    parser.add_argument("--fastp", default="fastp")
    parser.add_argument("--fgumi", default="fgumi")
    options = with_programs(parser.parse_args())
    options.input, options.arms = ["plain"], ["zerohop", "strobealign"]
    return options


def panel(folder, fasta, pairs, is_one_a_place):
    """Reads of molecules at few places, or one at each, with UMIs before them."""
    name = "molecules" if is_one_a_place else "panel"
    names = [folder / f"{name}_{mate}.fq" for mate in (1, 2)]
    if all(name.exists() for name in names):
        return [name.name for name in names]
    random.seed(12)
    genome = "".join(line.strip() for line in open(folder / fasta) if line[0] != ">").upper()
    reverse = lambda bases: bases[::-1].translate(str.maketrans("ACGT", "TGCA"))
    changed = lambda bases, rate: "".join(base if random.random() > rate else random.choice("ACGT") for base in bases)
    fragments = []
    while len(fragments) < pairs:
        at, length = random.randrange(1000, len(genome) - 1000), random.randrange(160, 350)
        wrong = 0 if is_one_a_place else 0.005
        for _ in range(1 if is_one_a_place else 1 + int(random.expovariate(0.4))):
            umi = ["".join(random.choice("ACGT") for _ in range(8)) for _ in range(2)]
            for _ in range(1 + int(random.expovariate(0.25))):
                fragments.append((changed(genome[at:at + length], 0.002), *(changed(half, wrong) for half in umi)))
    random.shuffle(fragments)
    output_of("samtools", "dict", "-o", folder / fasta.replace(".fa", ".dict"), folder / fasta)
    with open(names[0], "w") as first, open(names[1], "w") as second:
        for number, (bases, one, two) in enumerate(fragments[:pairs]):
            for file, umi, read in ((first, one, bases), (second, two, reverse(bases))):
                read = umi + read[:142]
                file.write(f"@A1:1:H:1:{number % 999}:{number % 32000}:{number}\n{read}\n+\n{'F' * len(read)}\n")
    return [name.name for name in names]


def command(options, arm, fasta, reads):
    """A line of shell that does all of an arm."""
    threads, out = options.threads, f"onepass-{arm}.bam"
    one, two = reads
    align = f"{options.zerohop} align -q -t {threads} -r 150 -o {out}"
    marked = f"{align} --sort --mark-duplicates"
    taken = "--read-structure 8M+T --read-structure 8M+T"
    fgumi = options.fgumi
    return {
        "marked": f"{marked} {fasta} {one} {two}",
        "trim": f"{marked} --trim {fasta} {one} {two}",
        "report": f"{marked} --trim --fastp-json onepass.fastp.json {fasta} {one} {two}",
        "gz": f"{options.fastp} -w {threads} -i {one} -I {two} -o t_1.fq.gz -O t_2.fq.gz -j t.json -h t.html 2> t.log"
            f" && {marked} {fasta} t_1.fq.gz t_2.fq.gz",
        "pipe": f"{options.fastp} -w {threads} -i {one} -I {two} --stdout -j t.json -h t.html 2> t.log |"
            f" {marked} -p {fasta} -",
        "without": f"{marked} {taken} {fasta} {one} {two}",
        "umis": f"{marked} --umi adjacency {taken} {fasta} {one} {two}",
        "grouped": f"{align} --sort=template-coordinate --mark-duplicates --umi adjacency {taken}"
            f" -R '@RG\\tID:A\\tSM:s\\tLB:l' {fasta} {one} {two}",
        "chain": f"{fgumi} extract -i {one} {two} -r 8M+T 8M+T --sample s --library l -o x.bam 2> t.log &&"
            f" {fgumi} fastq -i x.bam 2>> t.log |"
            f" {options.strobealign} -t {threads} -r 150 --use-index --interleaved {fasta} - 2>> t.log |"
            f" {fgumi} zipper -t {threads} -u x.bam -r {fasta} -o - 2>> t.log |"
            f" {fgumi} sort --order template-coordinate -@ {threads} -i /dev/stdin -o y.bam 2>> t.log &&"
            f" {fgumi} group -s adjacency -e 1 -i y.bam -o {out} 2>> t.log",
    }[arm]


def shown_command(options, arm):
    """The same without the folders of this machine."""
    line = command(options, arm, "REF.fa", ["R1", "R2"])
    for program in (options.zerohop, options.strobealign, options.fastp, options.fgumi):
        line = line.replace(str(program), Path(program).name)
    return line


def main():
    options = parse_arguments()
    results, shown = {}, []
    with raw_data(options.out) as tell:
        plain, fasta = prepare(options, options.reference)["plain"], f"{options.reference}.fa"
        for name in options.sets:
            reads = plain if name == "trim" else panel(options.work, fasta, options.pairs, name == "molecules")
            chosen = [arm for arm in ARMS[name] if not options.only or arm in options.only]
            arms = results[name] = {arm: [] for arm in chosen}
            shown += chosen
            for repeat in range(options.repeats + 1):
                for arm in chosen:
                    line = ["bash", "-o", "pipefail", "-c", command(options, arm, fasta, reads)]
                    found = measure([line], options, options.work / "onepass.log")
                    print(f"{name:5} {arm:9} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                    tell({"set": name, "arm": arm, "repetition": repeat, **found})
                    if repeat > 0:
                        arms[arm].append(found)
    write_summary(options.out, summary_of_pairs(results))
    describe_run(options.out, "What trimming and UMIs cost", [
        f"{options.threads} threads, {options.pairs} pairs on {options.reference}, {options.repeats} counted runs of",
        "each arm after one that warms up, arms in turn; the head of the script says what they are. Ratios are of runs",
        "of the same round."],
        [zerohop_commit(), output_of(options.strobealign, "--version"),
            *(f"`{shown_command(options, arm)}`" for arm in shown)])


if __name__ == "__main__":
    run_script(main)
