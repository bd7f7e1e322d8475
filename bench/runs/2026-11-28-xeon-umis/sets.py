"""Sets of pairs with UMIs that are hard to group, with their molecules in the names.

    sets.py REFERENCE KIND NAME    writes NAME_1.fq and NAME_2.fq, with RX in the comments

KIND: many    200 places of 60 molecules each, of both strands, UMIs of 8 + 8 bases, 1 % of them wrong, 3 % with N
      lengths 200 places of 20 molecules, UMIs of 5 to 9 bases, some with a base more or less
      deep    one place of 500,000 templates, each with a UMI of its own of 12 bases
"""
import random
import sys

BASES = "ACGT"
reference, kind, name = sys.argv[1:]
random.seed(kind)
contig = "".join(line.strip() for line in open(reference) if line[0] != ">").upper()


def reverse(bases):
    return bases[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def umi(length):
    return "".join(random.choice(BASES) for _ in range(length))


def changed(bases):
    out = "".join(base if random.random() > 0.01 else random.choice(BASES) for base in bases)
    if random.random() < 0.03:
        at = random.randrange(len(out))
        out = out[:at] + "N" + out[at + 1:]
    if kind == "lengths" and random.random() < 0.05:
        at = random.randrange(len(out))
        out = out[:at] + random.choice(BASES) * random.choice((0, 2)) + out[at + 1:]
    return out


templates = []
if kind == "deep":
    at = 100_000
    insert = contig[at:at + 300]
    templates = [(insert, umi(12)) for _ in range(500_000)]
else:
    for _ in range(200):
        at, length = random.randrange(1000, len(contig) - 1000), random.randrange(200, 400)
        insert = contig[at:at + length]
        for _ in range(60 if kind == "many" else 20):
            one, two = umi(8), umi(8)
            single = umi(random.randrange(5, 10))
            for _ in range(1 + int(random.expovariate(0.2))):
                if kind == "lengths":
                    templates.append((insert, changed(single)))
                elif random.random() < 0.5:
                    templates.append((insert, changed(one) + "-" + changed(two)))
                else:
                    templates.append((reverse(insert), changed(two) + "-" + changed(one)))
    random.shuffle(templates)
with open(f"{name}_1.fq", "w") as first, open(f"{name}_2.fq", "w") as second:
    for number, (insert, tag) in enumerate(templates):
        for file, read in ((first, insert[:100]), (second, reverse(insert)[:100])):
            file.write(f"@m:1:f:1:{number % 7}:{number}:{number} RX:Z:{tag}\n{read}\n+\n{'I' * len(read)}\n")
