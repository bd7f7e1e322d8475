#!/usr/bin/env python3
"""Bisulfite reads: simulated ones whose truth is known, and the rules of their records, step by step.

    bisulfite.py simulate REF.fa OUT KIND PAIRS [SEED]   OUT_1.fq, OUT_2.fq and OUT.json; of a library of this kind:
                                                         directional, pbat or non-directional
    bisulfite.py check REF.fa OUT.sam [pbat]             XR, XG, XM and chimeric reads, by the naive rules
    bisulfite.py places OUT.sam LEAST                    at least so many of a million reads are where they come from
    bisulfite.py conversion OUT.sam OUT.json             methylation by contig and context is that of the simulation
    bisulfite.py extract REF.fa IN.sam PREFIX [--mergeContext]
                                                         what MethylDackel extract --CHG --CHH writes, the naive way
    bisulfite.py report OUT.sam RUN.json [TRUTH.json]    the report of a run (--json) counts what XM says, step by step;
                                                         and what it tells of contigs is that of the simulation

A read is called N:CONTIG:BEGIN-1:BEGIN-2, with places from 0.
"""

import collections
import json
import random
import re
import sys

PAIRED = str.maketrans("ACGTN", "TGCAN")
# Methylated C of each context; contigs whose name begins so have none, or all.
METHYLATED = {"z": 0.7, "x": 0.02, "h": 0.01}
NONE, ALL = "lambda", "puc19"
LENGTH, INSERT, DEVIATION, ERRORS, SNPS, INDELS, MOST_INDEL = 100, 250, 60, 0.001, 0.001, 0.0002, 8
NEAR = 10
LEAST_MATCH, QC_FAIL, PROPER = 0.44, 0x200, 0x2


def read_fasta(path):
    contigs = {}
    for line in open(path):
        if line[0] == ">":
            name = line[1:].split()[0]
            contigs[name] = []
        else:
            contigs[name].append(line.strip().upper())
    return {name: "".join(lines) for name, lines in contigs.items()}


def paired(text):
    return text[::-1].translate(PAIRED)


def context(sequence, at):
    """The context of the C at this place of a strand: z (CpG), x (CHG), h (CHH), or u where a base is not known."""
    near = sequence[at + 1 : at + 3].ljust(2, "N")
    if near[0] == "G":
        return "z"
    if "N" in near or set(near) - set("ACGT"):
        return "u"
    return "x" if near[1] == "G" else "h"


# --- simulation -----------------------------------------------------------------------------------------------


def methylated_places(name, sequence, draw):
    """The C of a strand that are methylated, in all molecules."""
    if name.lower().startswith(NONE):
        return set()
    share = {"z": 1.0} if name.lower().startswith(ALL) else METHYLATED
    places = (at for at, base in enumerate(sequence) if base == "C")
    return {at for at in places if draw.random() < share.get(context(sequence, at), 0)}


def sampled(sequence, draw):
    """A sample of this sequence, with SNPs, insertions and deletions; for each of its bases the place in the sequence,
    and whether it was inserted there."""
    sample, origin, inserted, at = [], [], [], 0
    while at < len(sequence):
        base, chance = sequence[at], draw.random()
        if chance < INDELS and base != "N" and 0 < at < len(sequence) - MOST_INDEL:
            size = draw.randint(1, MOST_INDEL)
            if draw.randrange(2):
                at += size
                continue
            sample += draw.choices("ACGT", k=size)
            origin += [at] * size
            inserted += [True] * size
        sample.append(draw.choice("ACGT") if draw.random() < SNPS and base != "N" else base)
        origin.append(at)
        inserted.append(False)
        at += 1
    return "".join(sample), origin, inserted


def simulate(reference, out, kind, pairs, seed=1):
    draw, counts = random.Random(seed), {}
    contigs = read_fasta(reference)
    names, sizes = list(contigs), [len(sequence) for sequence in contigs.values()]
    # Of each strand: its bases in the reference and in the sample, where these are in the reference and which are not,
    # and which C are methylated.
    strands = {}
    for name, sequence in contigs.items():
        sample, origin, inserted = sampled(sequence, draw)
        turned = [len(sequence) - 1 - at for at in reversed(origin)]
        both = [(sequence, sample, origin, inserted), (paired(sequence), paired(sample), turned, inserted[::-1])]
        strands[name] = [(*strand, methylated_places(name, strand[1], draw)) for strand in both]
        counts[name] = {kind: [0, 0] for kind in METHYLATED}
    with open(f"{out}_1.fq", "w") as first, open(f"{out}_2.fq", "w") as second:
        for number in range(pairs):
            name = draw.choices(names, sizes)[0]
            bottom = draw.randrange(2)
            reference_strand, strand, origin, inserted, methylated = strands[name][bottom]
            size = min(max(LENGTH, int(draw.gauss(INSERT, DEVIATION))), len(strand))
            begin = draw.randrange(len(strand) - size + 1)
            template = "".join("T" if strand[at] == "C" and at not in methylated else strand[at]
                for at in range(begin, begin + size))
            for at in [*range(begin, begin + LENGTH), *range(begin + size - LENGTH, begin + size)]:
                is_called = not inserted[at] and reference_strand[origin[at]] == strand[at] == "C"
                if is_called and (kind_of := context(reference_strand, origin[at])) != "u":
                    counts[name][kind_of][0] += at in methylated
                    counts[name][kind_of][1] += 1
            mates = [template[:LENGTH], paired(template)[:LENGTH]]
            ends = [begin, begin + size - LENGTH]
            # where a mate begins on the strand of the reference: of the bottom one with its last base
            places = [len(reference_strand) - 1 - origin[at + LENGTH - 1] if bottom else origin[at] for at in ends]
            if kind == "pbat" or kind == "non-directional" and draw.randrange(2):
                mates, places = mates[::-1], places[::-1]
            for file, mate in zip((first, second), mates):
                mate = "".join(draw.choice("ACGT") if draw.random() < ERRORS else base for base in mate)
                file.write(f"@{number}:{name}:{places[0]}:{places[1]}\n{mate}\n+\n{'I' * LENGTH}\n")
    json.dump(counts, open(f"{out}.json", "w"))


# --- records --------------------------------------------------------------------------------------------------


def records(path):
    for line in open(path):
        if line[0] != "@":
            fields = line.rstrip("\n").split("\t")
            tags = {field[:2]: field[5:] for field in fields[11:]}
            cigar = [(int(length), op) for length, op in re.findall(r"(\d+)([MIDNSHP=X])", fields[5])]
            yield fields, int(fields[1]), cigar, tags


def calls(sequence, bases, begin, cigar, is_top):
    """XM: of each base of a record what it says of the C of its strand (Bismark's letters)."""
    letters, read, at = ["."] * len(bases), 0, begin
    for length, op in cigar:
        if op in "M=X":
            for k in range(length):
                place, base = at + k, bases[read + k]
                if sequence[place] != ("C" if is_top else "G"):
                    continue
                near = sequence[place : place + 3] if is_top else paired(sequence[max(0, place - 2) : place + 1])
                kind = context(near, 0)
                if base == ("C" if is_top else "G"):
                    letters[read + k] = kind.upper()
                elif base == ("T" if is_top else "A"):
                    letters[read + k] = kind
        read += length if op in "MIS=X" else 0
        at += length if op in "MDN=X" else 0
    return "".join(letters)


def is_chimeric(cigar):
    bases = sum(length for length, op in cigar if op in "MISH=X")
    return max((length for length, op in cigar if op == "M"), default=0) < LEAST_MATCH * bases


def check(reference, sam, kind="directional"):
    contigs, fragments, checked, failed = read_fasta(reference), collections.defaultdict(list), 0, 0
    for fields, flags, cigar, tags in records(sam):
        second = bool(flags & 0x80) != (kind == "pbat")
        assert tags["XR"] == ("GA" if second else "CT"), fields
        if flags & 4:
            assert "XG" not in tags and "XM" not in tags, fields
        else:
            # The first mate is of the strand that it lies on, the second of the other one.
            is_top = bool(flags & 16) == second
            assert tags["XG"] == ("CT" if is_top else "GA"), fields
            if fields[9] != "*":
                wanted = calls(contigs[fields[2]], fields[9], int(fields[3]) - 1, cigar, is_top)
                assert tags["XM"] == wanted, (fields, wanted)
                checked += 1
            if is_chimeric(cigar):
                assert int(fields[4]) <= 1, fields
        fragments[fields[0]].append((flags, not flags & 4 and is_chimeric(cigar)))
    for name, found in fragments.items():
        fails = any(chimeric for _, chimeric in found)
        failed += fails
        for flags, _ in found:
            assert bool(flags & QC_FAIL) == fails and not (fails and flags & PROPER), (name, found)
    print(f"{checked} records have XM as it should be, {failed} reads or pairs are chimeric")
    assert checked > 0


def places(sam, least):
    right = reads = surely_wrong = 0
    for fields, flags, cigar, _ in records(sam):
        if flags & 0x900:
            continue
        _, contig, *begins = fields[0].rsplit(":", 3)
        reads += 1
        clip = cigar[0][0] if cigar and cigar[0][1] == "S" else 0
        is_right = fields[2] == contig and abs(int(fields[3]) - 1 - clip - int(begins[bool(flags & 0x80)])) <= NEAR
        right += is_right
        surely_wrong += not is_right and not flags & 4 and int(fields[4]) >= 20
    print(f"{right} of {reads} reads are where they come from, {surely_wrong} are surely elsewhere")
    assert right * 1_000_000 >= int(least) * reads, "too few are right"


def conversion(sam, truth):
    wanted = json.load(open(truth))
    found = {name: {kind: [0, 0] for kind in METHYLATED} for name in wanted}
    for fields, flags, _, tags in records(sam):
        if not flags & 0x904 and int(fields[4]) >= 10:
            for letter, count in collections.Counter(tags["XM"]).items():
                if letter.lower() in METHYLATED:
                    own = found[fields[2]][letter.lower()]
                    own[0] += count * letter.isupper()
                    own[1] += count
    for name, kinds in wanted.items():
        for kind, (methylated, all_of_them) in kinds.items():
            if all_of_them > 20_000:
                share, own = methylated / all_of_them, found[name][kind][0] / found[name][kind][1]
                assert abs(share - own) < 0.001, (name, kind, share, own)
                print(f"{name} {kind}: {100 * own:.2f} %, simulated {100 * share:.2f} %")


def extract(reference, sam, prefix, *options):
    """What MethylDackel extract writes, with --CHG --CHH and, if it is among the options, --mergeContext; one cytosine
    after the other."""
    contigs, merged = read_fasta(reference), "--mergeContext" in options
    bases = collections.defaultdict(lambda: collections.defaultdict(list))
    for fields, flags, cigar, tags in records(sam):
        if flags & 0xF04 or int(fields[4]) < 10 or flags & 1 and flags & 0xA != PROPER:
            continue
        is_top, at, read = tags["XG"] == "CT", int(fields[3]) - 1, 0
        for length, op in cigar:
            for k in range(length if op in "M=X" else 0):
                if contigs[fields[2]][at + k] == ("C" if is_top else "G"):
                    base = [fields[9][read + k], ord(fields[10][read + k]) - 33]
                    bases[fields[2], at + k][fields[0]].append(base)
            read += length if op in "MIS=X" else 0
            at += length if op in "MDN=X" else 0
    lines = {context: [] for context in ("CpG", "CHG", "CHH")}
    for (contig, at), names in bases.items():
        sequence = contigs[contig]
        is_top = sequence[at] == "C"
        near = sequence[at : at + 3] if is_top else paired(sequence[max(0, at - 2) : at + 1])
        context = "CpG" if near[1:2] == "G" else "CHG" if near[2:3] == "G" else "CHH"
        counts = [0, 0]
        for mates in names.values():
            if len(mates) == 2:
                # as overlaps.c does it
                one, other = mates
                high, low = (one, other) if one[1] > other[1] else (other, one)
                if one[0] == other[0]:
                    high[1], low[1] = int(1.2 * high[1]), 0
                elif high[1] > low[1] and high[0] != "N":
                    high[1], low[1] = high[1] - low[1], 0
                else:
                    high[1] = low[1] = 0
            for base, quality in mates:
                if quality >= 5 and base in ("CT" if is_top else "GA"):
                    counts["CT".index(base) if is_top else "GA".index(base)] += 1
        if sum(counts):
            width = {"CpG": 2, "CHG": 3, "CHH": 1}[context] if merged else 1
            lines[context].append((list(contigs).index(contig), at if is_top else at - width + 1, width, counts))
    for context, sites in lines.items():
        with open(f"{prefix}_{context}.bedGraph", "w") as out:
            merging = " merged" if merged else ""
            out.write(f'track type="bedGraph" description="{prefix} {context}{merging} methylation levels"\n')
            both = collections.defaultdict(lambda: [0, 0])
            for number, at, width, counts in sites:
                for n in (0, 1):
                    both[number, at, width][n] += counts[n]
            for (number, at, width), (methylated, converted) in sorted(both.items()):
                share = int(100 * methylated / (methylated + converted))
                contig = list(contigs)[number]
                out.write(f"{contig}\t{at}\t{at + width}\t{share}\t{methylated}\t{converted}\n")


def counted(sam):
    """By contig and context, and by strand, mate, cycle and context: methylated, converted; where mates overlap, those
    of the first one."""
    contigs = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    cycles = collections.defaultdict(lambda: [0, 0])
    covered, twice = collections.defaultdict(set), 0
    # First mates come before second ones.
    for fields, flags, cigar, tags in sorted(records(sam), key=lambda record: bool(record[1] & 0x80)):
        if flags & 0xF04 or int(fields[4]) < 10 or flags & 1 and flags & 0xA != PROPER:
            continue
        at, read, mate = int(fields[3]) - 1, 0, bool(flags & 0x80)
        for length, op in cigar:
            for k in range(length if op in "M=X" else 0):
                place, letter = (fields[2], at + k), tags["XM"][read + k]
                if not mate:
                    covered[fields[0]].add(place)
                if letter == "." or ord(fields[10][read + k]) - 33 < 5:
                    continue
                if mate and place in covered[fields[0]]:
                    twice += 1
                    continue
                cycle = len(fields[9]) - 1 - read - k if flags & 16 else read + k
                for counts in (
                    contigs[fields[2]][letter.lower()],
                    cycles[tags["XG"] == "GA", mate, cycle, letter.lower()],
                ):
                    counts[letter.islower()] += 1
            read += length if op in "MIS=X" else 0
            at += length if op in "MDN=X" else 0
    return contigs, cycles, twice


def report(sam, run, truth=None):
    found = json.load(open(run))["run"]["methylation"]
    contigs, cycles, twice = counted(sam)
    names = {"z": "CpG", "x": "CHG", "h": "CHH", "u": "CN"}
    pair = lambda told: [told["methylated"], told["converted"]]
    told = {contig["name"]: {one["context"]: one for one in contig["contexts"]} for contig in found["contigs"]}
    assert set(told) == set(contigs), (set(told), set(contigs))
    for name, kinds in contigs.items():
        for kind, counts in kinds.items():
            one = told[name][names[kind]]
            share = 100 * counts[0] / sum(counts)
            assert pair(one["cytosines"]) == counts and abs(one["methylated_percent"] - share) < 1e-9, (one, counts)
            assert one["interval_percent"][0] <= share <= one["interval_percent"][1], one
        every = [sum(counts[n] for counts in kinds.values()) for n in (0, 1)]
        assert pair(told[name]["C"]["cytosines"]) == every, name
    ours = {}
    for strand, mates in enumerate(found["cycles"]):
        for mate, of_mate in enumerate(mates):
            for cycle, counts in enumerate(of_mate):
                ours |= {(strand, mate, cycle, k): pair(one) for k, one in zip("zxhu", counts) if pair(one) != [0, 0]}
    assert ours == dict(cycles), "other cycles"
    assert found["covered_twice"] == twice > 0, (found["covered_twice"], twice)
    controls = [contig["name"] for contig in found["contigs"] if contig["is_control"]]
    print(f"the report counts what XM says; {twice} are covered twice; controls: {' '.join(controls)}")
    for name, kinds in json.load(open(truth)).items() if truth else ():
        for kind, (methylated, every) in kinds.items():
            if every > 20_000:
                own, wanted = told[name][names[kind]]["methylated_percent"], 100 * methylated / every
                assert abs(own - wanted) < 0.1, (name, kind, own, wanted)
                print(f"{name} {names[kind]}: {own:.2f} %, simulated {wanted:.2f} %")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "simulate":
        simulate(*rest[:3], *map(int, rest[3:]))
    else:
        commands = {"check": check, "places": places, "conversion": conversion, "report": report, "extract": extract}
        commands[command](*rest)
