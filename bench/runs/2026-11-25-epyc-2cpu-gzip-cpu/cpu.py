#!/usr/bin/env python3
"""CPU time of dealing alone: python3 cpu.py ZEROHOP REF.fa R1.fq.gz R2.fq.gz R1.bgzf.gz R2.bgzf.gz > raw.jsonl

`zerohop align --engine null` maps nothing. Arms: plain gzip by the workers; the same through pipes, which a thread for
each inflates; BGZF. With 1, 2, 4 and 8 workers, five runs of each, in turn; the first of six warms up.
"""
import json, os, subprocess, sys

zerohop, ref, *reads = sys.argv[1:]
gz, bgzf = reads[:2], reads[2:]
arms = {"gzip": gz, "pipes": [f"<(cat {path})" for path in gz], "bgzf": bgzf}
for repeat in range(6):
    for threads in (1, 2, 4, 8):
        for arm, files in arms.items():
            command = f"{zerohop} align -q --engine null -t {threads} -o /dev/null {ref} {' '.join(files)}"
            before, started = os.times(), os.times().elapsed
            subprocess.run(["bash", "-c", f"exec {command}"], check=True)
            after = os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            line = {"arm": arm, "threads": threads, "run": repeat, "wall_s": round(after.elapsed - started, 3),
                "cpu_s": round(cpu, 3)}
            print(json.dumps(line), flush=True)
