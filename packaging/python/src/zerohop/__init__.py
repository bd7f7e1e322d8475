"""Run zerohop from Python: align reads, look at the summary of a run as tables.

    import zerohop

    run = zerohop.align("ref.fa", "reads_1.fq.gz", "reads_2.fq.gz", out="out.bam", threads=8)
    run["figures"]["mapped"]            # the summary is a mapping: what `zerohop align --json` writes
    pandas.DataFrame([run.row()])       # and gives tables

The package has the program zerohop; Python only starts it. Errors of the program are exceptions (Error).
"""

from zerohop.alignment import align
from zerohop.error import Error
from zerohop.program import program, run
from zerohop.summary import Summary, load
from zerohop.topology import Topology, topology

__all__ = ["Error", "Summary", "Topology", "align", "load", "program", "run", "topology"]
