"""simulate.py: reads of short inserts of ref.fa, as 1.fq and 2.fq, with their places in their names."""

import random

random.seed(4)
GENOME = "".join(line.strip() for line in open("ref.fa") if line[0] != ">").upper()
ADAPTERS = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT"


def reverse(bases):
    return bases[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def noise(length):
    return "".join(random.choice("ACGT") for _ in range(length))


with open("1.fq", "w") as first, open("2.fq", "w") as second:
    for number in range(60000):
        length, at = max(40, int(random.gauss(180, 60))), random.randrange(len(GENOME) - 1000)
        insert = GENOME[at:at + length]
        insert = "".join(base if random.random() > 0.003 else random.choice("ACGT") for base in insert)
        if number % 2:
            insert = reverse(insert)
        reads = [(bases + adapter + noise(200))[:150] for bases, adapter in zip((insert, reverse(insert)), ADAPTERS)]
        for file, read in zip((first, second), reads):
            file.write(f"@p{number}_{at}_{length}_{number % 2}\n{read}\n+\n{'I' * 150}\n")
