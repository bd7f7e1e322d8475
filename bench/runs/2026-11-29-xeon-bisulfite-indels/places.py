#!/usr/bin/env python3
"""Right places of simulated bisulfite reads, of two programs.

    python3 places.py THEIRS.sam OURS.sam [exchanged]   exchanged: in THEIRS the mates were given the other way round
"""

import collections
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests/e2e"))
import bisulfite


def found(sam, exchanged):
    reads = {}
    for fields, flags, cigar, _ in bisulfite.records(sam):
        if flags & 0x900:
            continue
        _, contig, *begins = fields[0].rsplit(":", 3)
        clip = cigar[0][0] if cigar and cigar[0][1] == "S" else 0
        second = bool(flags & 0x80) != exchanged
        begin = int(fields[3]) - 1 - clip
        is_right = fields[2] == contig and abs(begin - int(begins[second])) <= bisulfite.NEAR
        reads[fields[0], second] = (is_right, int(fields[4]), fields[5])
    return reads


theirs, ours = found(sys.argv[1], "exchanged" in sys.argv), found(sys.argv[2], False)
for name, reads in ("theirs", theirs), ("ours", ours):
    right = sum(is_right for is_right, *_ in reads.values())
    wrong = sum(not is_right and quality >= 20 for is_right, quality, _ in reads.values())
    print(f"{name}: {100 * right / len(reads):.3f} % of {len(reads)} right; wrong with MAPQ >= 20: {wrong}")
for read in theirs:
    if any(not is_right and quality >= 20 for is_right, quality, _ in (theirs[read], ours[read])):
        print(read, "theirs", theirs[read], "ours", ours[read])
kinds = collections.Counter((theirs[read][0], ours[read][0]) for read in theirs)
print(f"right in theirs alone: {kinds[True, False]}, in ours alone: {kinds[False, True]}")
qualities = collections.Counter((theirs[r][1], ours[r][1]) for r in theirs if theirs[r][0] != ours[r][0])
print("their mapping qualities (theirs, ours):", dict(qualities))
