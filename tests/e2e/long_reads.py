"""Long reads, and what becomes of them: for tests/e2e/29-long-reads.sh.

    long_reads.py simulate KIND REFERENCE OUT        KIND is ont, hifi, rna, odd or huge; writes FASTQ
    long_reads.py nasty REFERENCE OUT COUNT SEED     so many short reads that aligners do not like
    long_reads.py sound READS RECORDS                each read has one primary record, and every record fits its read
    long_reads.py mappy PRESET REFERENCE READS SAM   the records have the places, strands, MAPQ, CIGAR, NM and ts that
                                                     mappy finds with the reads' names
    long_reads.py modifications READS BAM [FASTQ]    writes a BAM of reads with base modifications, and with FASTQ the
                                                     same in comments
    long_reads.py modified READS.bam RECORDS [A:B]   base modifications of records are those of their reads, or none; of
                                                     reads that were cut those of the bases in this slice
"""
import array
import random
import re
import sys

PAIRED = str.maketrans("ACGTNacgtn", "TGCANtgcan")


def reverse(bases):
    return bases.translate(PAIRED)[::-1]


def contigs(path):
    name, lines = None, []
    for line in open(path):
        if line[0] == ">":
            if name:
                yield name, "".join(lines)
            name, lines = line[1:].split()[0], []
        else:
            lines.append(line.strip())
    yield name, "".join(lines)


def with_errors(bases, rate):
    out = []
    for base in bases:
        x = random.random() / rate
        other = random.choice("ACGT")
        out.append("" if x < 0.3 else base + other if x < 0.6 else other if x < 1 else base)
    return "".join(out)


def simulate(kind, reference, out):
    random.seed(9)
    all_contigs = list(contigs(reference))

    def piece(length):
        _, bases = random.choice(all_contigs)
        length = min(length, len(bases))
        start = random.randrange(len(bases) - length + 1)
        text = bases[start:start + length].upper()
        return reverse(text) if random.random() < 0.5 else text

    reads = []
    if kind == "ont":
        for _ in range(120):
            length = int(random.lognormvariate(8, 1))
            bases = piece(length) + (piece(3000) if random.random() < 0.2 else "")
            reads.append(with_errors(bases, random.choice([0.02, 0.08, 0.15])))
    elif kind == "hifi":
        for _ in range(60):
            bases = piece(random.randrange(3000, 15000)) + (piece(4000) if random.random() < 0.2 else "")
            reads.append(with_errors(bases, 0.003))
    elif kind == "rna":
        for _ in range(80):
            _, bases = random.choice(all_contigs)
            at, exons = random.randrange(len(bases) - 60000), []
            for _ in range(random.randrange(1, 8)):
                length = random.randrange(40, 600)
                exons.append(bases[at:at + length].upper())
                at += length + random.randrange(70, 5000)
            text = "".join(exons)
            reads.append(with_errors(reverse(text) if random.random() < 0.5 else text, random.choice([0.01, 0.06])))
    elif kind == "odd":
        for _ in range(80):
            text = list(with_errors(piece(random.randrange(30, 3000)), 0.05))
            for _ in range(len(text) // 50):
                text[random.randrange(len(text))] = random.choice("NRYKMSWBDHVU")
            reads.append("".join(text))
        unit = piece(171)
        reads += [piece(length) for length in (1, 14, 15, 16, 40)] + ["N" * 500, "ACGT" * 400, "A" * 3000]
        reads += [with_errors(unit * 30, 0.1), reverse(piece(2000)) + piece(2000)]
        # An inversion.
        one = piece(9000)
        reads.append(one[:3500] + reverse(one[3500:5000]) + one[5000:])
    elif kind == "huge":
        reads = [with_errors(piece(length), 0.1) for length in (1_000_000, 300_000, 700_000)]
    with open(out, "w") as file:
        for number, bases in enumerate(reads):
            qualities = "".join(random.choice("#+5?I") for _ in bases)
            file.write(f"@{kind}:{number}/{random.randrange(9)} of {len(bases)}\n{bases}\n+\n{qualities}\n")


def nasty(reference, out, count, seed):
    """Repeats, palindromes, runs, letters that are no base, hardly a base, or hardly one that is right."""
    random.seed(int(seed))
    bases = "".join(text for _, text in contigs(reference)).upper()
    anything = lambda length, letters="ACGT": "".join(random.choice(letters) for _ in range(length))

    def some(most):
        start = random.randrange(len(bases) - most)
        return bases[start:start + random.randrange(1, most)]

    kinds = [
        lambda: anything(random.randrange(1, 400)),
        lambda: anything(random.randrange(1, 200), "ACGTNRYKMSWBDHVU"),
        lambda: (anything(random.randrange(1, 7)) * 400)[:random.randrange(1, 800)],
        lambda: (some(60) * 40)[:random.randrange(1, 1900)],
        lambda: (lambda one: one + reverse(one))(some(500)),
        lambda: with_errors(some(600), random.choice([0.2, 0.4, 0.6])),
        lambda: some(100) + "N" * random.randrange(1, 300) + some(100),
        lambda: some(30),
        lambda: (lambda one: one[:200] + reverse(one[200:500]) + one[500:])(some(900)),
        lambda: "".join(some(25) for _ in range(random.randrange(1, 30))),
    ]
    with open(out, "w") as file:
        for number in range(int(count)):
            read = random.choice(kinds)() or "A"
            file.write(f"@n{number}\n{read}\n+\n{'I' * len(read)}\n")


def sound(reads, sam):
    lines = open(reads).read().split("\n")
    lengths = {lines[at][1:]: len(lines[at + 1]) for at in range(0, len(lines) - 3, 4)}
    limits = {line.split("\t")[1][3:]: int(line.split("\t")[2][3:]) for line in open(sam) if line.startswith("@SQ")}
    seen = set()
    for fields in records(sam):
        name, flags, contig, start, cigar, bases = *(fields[at] for at in (0, 1, 2, 3, 5)), fields[9]
        if not int(flags) & 0x900:
            if name in seen:
                sys.exit(f"{name} has two primary records")
            seen.add(name)
        if int(flags) & 4:
            continue
        parts = [(int(length), letter) for length, letter in re.findall(r"(\d+)([MIDNSHP=X])", cigar)]
        of = lambda letters: sum(length for length, letter in parts if letter in letters)
        if of("MIS=XH") != lengths[name] or bases != "*" and of("MIS=X") != len(bases):
            sys.exit(f"{name}: {cigar} does not fit a read of {lengths[name]} bases")
        if int(start) < 1 or int(start) - 1 + of("MDN=X") > limits[contig]:
            sys.exit(f"{name}: {cigar} from {start} on does not fit {contig}")
    if seen != set(lengths):
        sys.exit(f"{len(lengths)} reads, {len(seen)} primary records")


def records(sam):
    return [line.rstrip("\n").split("\t") for line in open(sam) if line[0] != "@"]


def with_mappy(preset, reference, reads, sam):
    import mappy
    aligner = mappy.Aligner(reference, preset=preset)
    ours = {}
    for fields in records(sam):
        if int(fields[1]) & 4:
            continue
        tags = dict((tag[:2], tag[5:]) for tag in fields[11:])
        cigar = re.sub(r"^\d+[SH]|\d+[SH]$", "", fields[5])
        strand = -1 if int(fields[1]) & 16 else 1
        transcript = {"+": 1, "-": -1}.get(tags.get("ts"), 0)
        ours.setdefault(fields[0], []).append(
            (fields[2], int(fields[3]) - 1, strand, int(fields[4]), cigar, int(tags["NM"]), transcript))
    count = 0
    for name, bases, _ in mappy.fastx_read(reads):
        # It looks at a read as the program does: U is T.
        bases = bases.replace("U", "T").replace("u", "t")
        theirs = [(hit.ctg, hit.r_st, hit.strand, hit.mapq, hit.cigar_str, hit.NM, hit.trans_strand)
                  for hit in aligner.map(bases, name=name)]
        if sorted(theirs) != sorted(ours.get(name, [])):
            sys.exit(f"{preset}, {name}: mappy has {theirs}, zerohop {ours.get(name)}")
        count += len(theirs)
    print(f"{preset}: {count} alignments as in mappy {mappy.__version__}")


def modifications(reads, bam, fastq=None):
    import pysam
    random.seed(2)
    group = {"ID": "run1", "SM": "s", "PL": "ONT", "DS": "basecall_model=none"}
    header = {"HD": {"VN": "1.6", "SO": "unknown"}, "RG": [group], "PG": [{"ID": "basecaller", "PN": "basecaller"}]}
    text = open(fastq, "w") if fastq else None
    with pysam.AlignmentFile(bam, "wb", header=header) as out, pysam.FastxFile(reads) as file:
        for read in file:
            record = pysam.AlignedSegment(out.header)
            record.query_name, record.flag = read.name, 4
            record.query_sequence = read.sequence
            record.query_qualities = pysam.qualitystring_to_array(read.quality)
            places, values = "", 0
            for letter, kinds in ("C", "hm?"), ("A", "a."):
                count = read.sequence.count(letter)
                picked = sorted(random.sample(range(count), count // 5))
                steps = [at - before - 1 for before, at in zip([-1] + picked, picked)]
                places += f"{letter}+{kinds}" + "".join(f",{step}" for step in steps) + ";"
                values += len(steps) * (len(kinds) - 1)
            record.set_tag("RG", "run1")
            record.set_tag("MM", places)
            # Those of one place are no more than 1 together.
            record.set_tag("ML", array.array("B", [random.randrange(128) for _ in range(values)]))
            record.set_tag("MN", len(read.sequence))
            record.set_tag("qs", 12.5, "f")
            # Kinetics, as PacBio has them
            record.set_tag("fi", array.array("B", [len(read.sequence) % 251] * 9))
            out.write(record)
            if text:
                tags = "\t".join(record.to_string().split("\t")[11:])
                text.write(f"@{read.name}\t{tags}\n{read.sequence}\n+\n{read.quality}\n")


def modified(reads, sam, kept=None):
    import pysam
    of_reads = {read.query_name: read for read in pysam.AlignmentFile(reads, check_sq=False)}
    counts = {True: 0, False: 0}
    for record in pysam.AlignmentFile(sam, check_sq=False):
        read = of_reads[record.query_name]
        for tag in ("RG", "qs", "fi"):
            if record.get_tag(tag) != read.get_tag(tag):
                sys.exit(f"{record.query_name}: {tag} is {record.get_tag(tag)}")
        has = record.has_tag("MM")
        counts[has] += 1
        start, end = (int(at) if at else None for at in kept.split(":")) if kept else (0, None)
        bases = read.query_sequence[start:end]
        whole = record.query_sequence is not None and len(record.query_sequence) == len(bases)
        if not (has == record.has_tag("ML") == record.has_tag("MN") == whole):
            sys.exit(f"{record.query_name}, {record.flag}, {record.cigarstring}: MM {has}")
        if has:
            ours = {key: sorted(value) for key, value in record.modified_bases_forward.items()}
            theirs = {key: sorted((at - start, value) for at, value in values if start <= at < start + len(bases))
                      for key, values in read.modified_bases_forward.items()}
            if ours != theirs or record.get_tag("MN") != len(bases) or record.get_forward_sequence() != bases:
                sys.exit(f"{record.query_name}, {record.flag}: other bases are modified than in the read")
    print(f"{counts[True]} records with base modifications, {counts[False]} without")


if __name__ == "__main__":
    run = {"simulate": simulate, "nasty": nasty, "sound": sound, "mappy": with_mappy, "modifications": modifications,
           "modified": modified}
    run[sys.argv[1]](*sys.argv[2:])
