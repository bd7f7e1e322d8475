"""Reads with UMIs, and what becomes of them: for tests/e2e/27-umis.sh.

    umis.py simulate REFERENCE NAME [--structure]    writes NAME_1.fq, NAME_2.fq
    umis.py split NAME STRUCTURE_1 STRUCTURE_2 OUT   writes OUT_1.fq, OUT_2.fq, with RX and QX in comments
    umis.py check RULE RECORDS [METRICS]             RECORDS are SAM, of one run; RULE is exact, edit, adjacency, paired

The check goes by the rules of fgbio GroupReadsByUmi 4.1, step by step.
"""
import collections
import random
import re
import sys

BASES = "ACGT"


def reverse(bases):
    return bases[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def changed(bases, rate):
    return "".join(base if random.random() > rate else random.choice(BASES) for base in bases)


def simulate(reference, name, structure):
    """Molecules at few places, some of both strands, with errors in their UMIs; or, with `structure`, in reads."""
    random.seed(5)
    contig = "".join(line.strip() for line in open(reference) if line[0] != ">").upper()
    lengths = (6, 5)
    fragments = []
    for _ in range(60):
        at, length = random.randrange(1000, len(contig) - 1000), random.randrange(160, 350)
        for _ in range(1 + int(random.expovariate(0.2))):
            umi = ["".join(random.choice(BASES) for _ in range(length)) for length in lengths]
            for strand in (0, 1):
                for _ in range(int(random.expovariate(0.25))):
                    bases, one, two = changed(contig[at:at + length], 0.002), *(changed(half, 0.03) for half in umi)
                    if random.random() < 0.03:
                        one = one[:2] + "N" + one[3:]
                    # A read that was cut shorter begins where it did.
                    fragments.append((reverse(bases), two, one) if strand and not structure else (bases, one, two))
    for _ in range(30):
        fragments.append(("".join(random.choice(BASES) for _ in range(200)), "ACGTAC", "ACGTA"))
    random.shuffle(fragments)
    with open(f"{name}_1.fq", "w") as first, open(f"{name}_2.fq", "w") as second:
        for number, (bases, one, two) in enumerate(fragments):
            # Some mates are nowhere, and some are missing qualities.
            other = reverse(bases) if number % 37 else "".join(random.choice(BASES) for _ in range(150))
            if number % 29 == 3:
                # Of two places: the other one gets a supplementary record.
                bases = bases[:70] + reverse(contig[2000 + number:2080 + number])
            tag = "" if structure or number % 101 == 7 else f" RX:Z:{one}-{two}"
            for file, read, umi in ((first, bases, one), (second, other, two)):
                read = read[:random.randrange(80, 150)]
                if structure:
                    read = umi + "TT" * (file is first) + read
                quality = "".join(random.choice("#5?I") for _ in read)
                file.write(f"@m:1:f:1:{number % 7}:{number}:{number * 3}{tag}\n{read}\n+\n{quality}\n")


def split(name, structures, out):
    """Takes the barcodes of reads, one segment after the other."""
    files = [open(f"{name}_{mate}.fq").read().split("\n") for mate in (1, 2)]
    with open(f"{out}_1.fq", "w") as first, open(f"{out}_2.fq", "w") as second:
        for at in range(0, len(files[0]) - 1, 4):
            kept, umis = [], []
            for lines, structure in zip(files, structures):
                bases, quality = lines[at + 1], lines[at + 3]
                parts = re.findall(r"(\d+|\+)([A-Z])", structure)
                rest = len(bases) - sum(int(length) for length, _ in parts if length != "+")
                start, template = 0, ("", "")
                for length, kind in parts:
                    end = start + (rest if length == "+" else int(length))
                    if kind == "M":
                        umis.append((bases[start:end], quality[start:end]))
                    if kind == "T":
                        template = bases[start:end], quality[start:end]
                    start = end
                kept.append(template)
            bases, quality = zip(*umis)
            tags = f"RX:Z:{'-'.join(bases)}\tQX:Z:{' '.join(quality)}"
            for file, lines, (bases, quality) in zip((first, second), files, kept):
                file.write(f"{lines[at].split()[0]} {tags}\n{bases}\n+\n{quality}\n")


class Record:
    """A record of SAM."""

    def __init__(self, line):
        columns = line.rstrip("\n").split("\t")
        self.name, self.flags, self.contig, self.at, self.mapq = columns[0], int(columns[1]), *columns[2:5]
        self.at, self.mapq, self.quality = int(self.at), int(self.mapq), columns[10]
        self.cigar = [(int(length), letter) for length, letter in re.findall(r"(\d+)([MIDNSHP=X])", columns[5])]
        self.tags = {field[:2]: field[5:] for field in columns[11:]}

    def end(self):
        """Where the read began before clipping, and whether it is reverse; behind all others if it is not mapped."""
        if self.flags & 4:
            return ("~", 1 << 40, True)
        clipped = lambda cigar: sum(length for length, letter in cigar if letter in "SH")
        if self.flags & 16:
            span = sum(length for length, letter in self.cigar if letter in "MDN=X")
            return (self.contig, self.at + span - 1 + clipped(self.cigar[-1:]), True)
        return (self.contig, self.at - clipped(self.cigar[:1]), False)


def distance(one, other):
    return sum(a != b for a, b in zip(one, other))


def joined(counts, near, limit):
    """Which UMI each one belongs to: breadth first, the most frequent ones first."""
    order = sorted(counts, key=lambda umi: (-counts[umi], umi))
    found = {}
    for root in order:
        if root in found:
            continue
        found[root], queue = root, [root]
        while queue:
            one = queue.pop(0)
            hits = [umi for umi in order if umi not in found and counts[umi] <= limit(counts[one]) and near(one, umi)]
            found.update((umi, root) for umi in hits)
            queue += hits
    return found


def groups_of(rule, templates):
    """For each template that is grouped, what its molecule is, and its strand."""
    edits = 0 if rule == "exact" else 1
    limit = (lambda count: count // 2 + 1) if rule in ("adjacency", "paired") else (lambda count: 1 << 60)
    turned = lambda umi: "-".join(reversed(umi.split("-")))
    places = collections.defaultdict(list)
    for name, reads in templates.items():
        ends = [reads[mate].end() for mate in (1, 2)]
        umi, strands = reads[1].tags["RX"], [end[2] and end[0] != "~" for end in ends]
        key = (tuple(sorted(ends)), tuple(strands) if rule != "paired" else None)
        is_lower = ends[0] <= ends[1]
        if rule == "paired":
            one, two = umi.split("-")
            umi = f"a:{one}-b:{two}" if is_lower else f"b:{one}-a:{two}"
        places[key].append((name, umi))
    found = {}
    for key, members in places.items():
        same = (lambda umi: min(umi, turned(umi))) if rule == "paired" else (lambda umi: umi)
        counts = collections.Counter(same(umi) for _, umi in members)
        roots = joined(counts, lambda one, other: distance(one, other) <= edits, limit)
        for name, umi in members:
            strand = None
            if rule == "paired":
                root = roots[same(umi)]
                direct, other = distance(root, umi), distance(root, turned(umi))
                strand = "A" if direct < other else "B"
                # As the lower end is named a or b.
                strand = strand if root.startswith("a:") else {"A": "B", "B": "A"}[strand]
            found[name] = (key, roots[same(umi)], strand)
    return found


def check(rule, path, metrics):
    primary, others = collections.defaultdict(dict), collections.defaultdict(list)
    for line in open(path):
        if line[0] == "@":
            continue
        record = Record(line)
        others[record.name].append(record)
        if not record.flags & 0x900:
            primary[record.name][2 if record.flags & 128 else 1] = record
    dropped, grouped = collections.Counter(), {}
    for name, reads in primary.items():
        mapped = [read for read in reads.values() if not read.flags & 4]
        umi = reads[1].tags.get("RX")
        why = "without" if umi is None else "poor" if not mapped or any(read.mapq < 1 for read in mapped) else \
            "N" if "N" in umi else None
        if why:
            dropped[why] += 2
        else:
            grouped[name] = reads
    wanted = groups_of(rule, grouped)
    molecules, families = collections.defaultdict(set), collections.defaultdict(list)
    for name, records in others.items():
        tags = {record.tags.get("MI") for record in records}
        assert len(tags) == 1, f"{name}: {tags}"
        tag = tags.pop()
        assert (tag is not None) == (name in wanted), f"{name}: {tag}"
        if tag is None:
            assert not any(record.flags & 1024 for record in records), name
            continue
        number, _, strand = tag.partition("/")
        assert strand == (wanted[name][2] or ""), f"{name}: {tag}, {wanted[name]}"
        molecules[number].add(wanted[name][:2])
        families[tag].append(name)
        assert len({record.flags & 1024 for record in records}) == 1, f"{name}: not all records are marked"
    assert all(len(of) == 1 for of in molecules.values()), "templates of several molecules have one MI"
    assert len(molecules) == len({of[:2] for of in wanted.values()}), "one molecule has several MI"
    score = lambda name: sum(ord(quality) - 33 for read in grouped[name].values() for quality in read.quality
        if not read.flags & 4 and ord(quality) - 33 >= 15)
    for family in families.values():
        stays = [name for name in family if not others[name][0].flags & 1024]
        assert stays == [min(family, key=lambda name: (-score(name), name))], (family, stays)
    sizes = collections.Counter(len(family) for family in families.values())
    if metrics:
        rows = [line.split("\t")[:2] for line in open(f"{metrics}.family_sizes.txt")][1:]
        assert {int(size): int(count) for size, count in rows} == dict(sizes), rows
        counts = open(f"{metrics}.grouping_metrics.txt").read().split("\n")[1].split("\t")
        assert counts == [str(2 * len(grouped)), "0", str(dropped["poor"]), str(dropped["N"]), "0"], counts
    assert len(sizes) > 3 and dropped["N"] and dropped["poor"], (sizes, dropped)
    print(f"{rule}: {len(molecules)} molecules of {len(grouped)} templates")


if __name__ == "__main__":
    if sys.argv[1] == "simulate":
        simulate(sys.argv[2], sys.argv[3], "--structure" in sys.argv)
    elif sys.argv[1] == "split":
        split(sys.argv[2], sys.argv[3:5], sys.argv[5])
    else:
        check(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None)
