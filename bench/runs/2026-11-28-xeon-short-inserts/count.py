"""count.py SAM: reads of simulate.py with mapping quality 30 or more, by whether they touch the place they are from."""

import collections
import re
import sys

found = collections.Counter()
for line in open(sys.argv[1]):
    columns = line.split("\t")
    if line[0] == "@" or int(columns[1]) & 0x904 or int(columns[4]) < 30:
        continue
    _, at, length, _ = columns[0].split("_")
    start = int(columns[3]) - 1
    end = start + sum(int(length) for length, kind in re.findall(r"(\d+)([MDX=])", columns[5]))
    found["right" if start < int(at) + int(length) and end > int(at) else "elsewhere"] += 1
print(dict(found))
