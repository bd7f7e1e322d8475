"""Records of zerohop and of bwameth.py that differ in fields 2 to 9, by what differs and by the scores of both.

    python3 classify.py ref.fa zerohop.sam bwameth.sam
"""
import collections, re, sys

def fasta(path):
    contigs = {}
    for line in open(path):
        if line[0] == ">": name = line[1:].split()[0]; contigs[name] = []
        else: contigs[name].append(line.strip().upper())
    return {name: "".join(lines) for name, lines in contigs.items()}

def primaries(path):
    found = {}
    for line in open(path):
        if line[0] == "@": continue
        f = line.rstrip("\n").split("\t")
        if int(f[1]) & 0x900: continue
        found[f[0], bool(int(f[1]) & 0x80)] = f
    return found

def score(record, contigs, second):
    """With converted bases, as bwa aligns them for bwameth.py (-B 2 -L 10), and with those of the read."""
    flags = int(record[1])
    if flags & 4: return None
    top = bool(flags & 16) == second
    sequence, at, read, bases = contigs[record[2]], int(record[3]) - 1, 0, record[9].upper()
    converted = own = 0
    for length, op in re.findall(r"(\d+)([MIDNSH])", record[5]):
        length = int(length)
        if op == "M":
            for k in range(length):
                b, r = bases[read + k], sequence[at + k]
                fold = {"C": "T"} if top else {"G": "A"}
                converted += 1 if fold.get(b, b) == fold.get(r, r) else -2
                free = (r, b) == (("C", "T") if top else ("G", "A"))
                own += 1 if b == r or free else -2
        elif op in "ID": converted -= 6 + length; own -= 6 + length
        elif op == "S": converted -= 10; own -= 10
        if op in "MIS": read += length
        if op in "MDN": at += length
    return converted, own

contigs, ours, theirs = fasta(sys.argv[1]), primaries(sys.argv[2]), primaries(sys.argv[3])
classes, same = collections.Counter(), 0
for key, one in ours.items():
    other = theirs[key]
    if one[1:9] == other[1:9]: same += 1; continue
    if (int(one[1]) ^ int(other[1])) & 4: classes["mapped by zerohop alone" if int(other[1]) & 4 else "mapped by bwameth.py alone"] += 1; continue
    if one[2:4] == other[2:4] and one[5] == other[5]:
        if one[4] != other[4] and one[1] == other[1] and one[6:9] == other[6:9]: classes["MAPQ alone"] += 1
        else: classes["its mate lies elsewhere, or is paired otherwise"] += 1
        continue
    what = "another place" if one[2:4] != other[2:4] else "another CIGAR"
    if int(one[1]) & 4: classes["not mapped, and placed beside another mate"] += 1; continue
    a, b = score(one, contigs, key[1]), score(other, contigs, key[1])
    how = ["lower", "the same", "higher"]
    rank = lambda n: how[(a[n] > b[n]) - (a[n] < b[n]) + 1]
    classes[f"{what}: zerohop's score of the read's own bases is {rank(1)}, of converted bases {rank(0)}"] += 1
print(f"{same} of {len(ours)} are the same")
for name, count in classes.most_common(): print(f"{count}\t{name}")
