"""Whether two files of records have the same molecules: compare.py ONE.sam OTHER.sam (standard input of samtools view)"""
import subprocess, sys
def molecules(path):
    out={}
    p=subprocess.Popen(["samtools","view",path],stdout=subprocess.PIPE,text=True)
    for line in p.stdout:
        f=line.rstrip("\n").split("\t")
        if int(f[1])&0x900: continue
        mi=[t[5:] for t in f[11:] if t.startswith("MI:Z:")]
        if mi: out.setdefault(f[0],set()).add(mi[0])
    return out
one,other=map(molecules,sys.argv[1:3])
assert all(len(v)==1 for v in one.values()) and all(len(v)==1 for v in other.values())
print(len(one),"and",len(other),"templates;",len({next(iter(v)) for v in one.values()}),"and",len({next(iter(v)) for v in other.values()}),"molecules and strands")
a,b={}, {}
same=set(one)==set(other)
for n in one:
    if n not in other: continue
    x,y=next(iter(one[n])),next(iter(other[n]))
    # /A and /B may be exchanged?
    if a.setdefault(x,y)!=y or b.setdefault(y,x)!=x: same=False
print("equal" if same else "DIFFERENT", "" if set(one)==set(other) else f"only one: {len(set(one)-set(other))}, only other: {len(set(other)-set(one))}")
