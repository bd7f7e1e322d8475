"""What is known of simulated reads: the sample that they come from, its variants, and where each read lies."""

import bisect
import json
import random
import re
from pathlib import Path

# A short read is placed right if it begins so near to where it comes from.
NEAR = 20
# A long one, if so much of what its place and its alignment cover together is in both (paftools mapeval of minimap2).
OVERLAP = 0.1
SURE = 20
NO_QUALITY = 255
SNV_RATE, INDEL_RATE, LONGEST_INDEL, APART = 1e-3, 2e-4, 20, 30
# Errors per base, of which as many are deletions as the first part, substitutions as far as the second, and the rest
# insertions; and lengths, those of ont with N50 of some 25 kb.
ERRORS = {"ont": 0.06, "hifi": 0.003}
DELETED, CHANGED = 0.3, 0.7
LENGTHS = {
    "ont": lambda draw: int(draw.lognormvariate(9.3, 0.9)),
    "hifi": lambda draw: draw.randrange(10_000, 20_000),
}
QUALITIES = {"ont": "5", "hifi": "I"}
PAIRED = str.maketrans("ACGT", "TGCA")


# --- the sample -----------------------------------------------------------------------------------------------


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


# --- long reads -----------------------------------------------------------------------------------------------


def make_long_reads(fasta, kind, bases, out):
    """FASTQ of reads of a kind, so many bases, from all places of a sample that are known; called
    KIND.NUMBER:CONTIG:FIRST:LAST, of bases from 1."""
    draw, made, number = random.Random(3), 0, 0
    contigs = {name: sequence for name, sequence in read_fasta(fasta).items() if sequence}
    names, sizes = list(contigs), [len(sequence) for sequence in contigs.values()]
    with open(out, "w") as file:
        while made < bases:
            name = draw.choices(names, sizes)[0]
            length = max(1, LENGTHS[kind](draw))
            start = draw.randrange(max(1, len(contigs[name]) - length))
            text = contigs[name][start : start + length]
            if text.count("N") > len(text) // 10:
                continue
            origin = f"{kind}.{number}:{name}:{start + 1}:{start + len(text)}"
            read = with_errors(text if draw.random() < 0.5 else text[::-1].translate(PAIRED), ERRORS[kind], draw)
            file.write(f"@{origin}\n{read}\n+\n{QUALITIES[kind] * len(read)}\n")
            made, number = made + len(read), number + 1


def with_errors(text, rate, draw):
    """Errors are as far apart as those of a coin that is thrown for each base."""
    parts, at = [], 0
    while True:
        step = int(draw.expovariate(rate))
        if at + step >= len(text):
            parts.append(text[at:])
            return "".join(parts)
        parts.append(text[at : at + step])
        kind, base = draw.random(), draw.choice("ACGT")
        parts.append("" if kind < DELETED else base if kind < CHANGED else text[at + step] + base)
        at += step + 1


# --- places ---------------------------------------------------------------------------------------------------


def placed(sam, truth, is_right):
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
        if is_right(truth["steps"], name, flag, contig, int(position) - 1, cigar):
            counts["right"] += 1
        elif SURE <= int(quality) < NO_QUALITY:
            counts["surely_wrong"] += 1
    return counts


def begins_there(steps, name, flag, contig, position, cigar):
    """Whether a short read begins where it comes from. It is called sim.N:CONTIG:POS:STRAND:POS:STRAND, where CONTIG
    may have colons."""
    from_contig, first, _, second, _ = name.split(":", 1)[1].rsplit(":", 4)
    start = int(second if flag & 0x80 else first) - 1
    clip = re.match(r"(\d+)S", cigar)
    found = position - (int(clip.group(1)) if clip else 0)
    return contig == from_contig and abs(found - lift(steps[contig], start)) <= NEAR


def overlaps(steps, name, flag, contig, position, cigar):
    """Whether the alignment of a long read overlaps the place that it comes from."""
    from_contig, first, last = name.split(":", 1)[1].rsplit(":", 2)
    if contig != from_contig:
        return False
    start, end = lift(steps[contig], int(first) - 1), lift(steps[contig], int(last) - 1) + 1
    found_end = position + sum(int(length) for length in re.findall(r"(\d+)[MDN=X]", cigar))
    shared = min(end, found_end) - max(start, position)
    return shared >= OVERLAP * (max(end, found_end) - min(start, position))
