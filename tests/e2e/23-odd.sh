#!/bin/bash
# What is odd of reads is told when a run ends, with its figure, in `notes` of --json, too; and usual reads get no note.
source "$(dirname "$0")/lib.sh"
cd "$WORK"

# reads KIND: 1,500 pairs of 100 bases, of fragments of 300 bases of ref.fa, as KIND_1.fq and KIND_2.fq
reads() {
    python3 - "$1" << 'PYTHON'
import os, random, sys
kind = sys.argv[1]
random.seed(5)
genome = "".join(random.choice("ACGT") for _ in range(60_000))
if not os.path.exists("ref.fa"):
    with open("ref.fa", "w") as file:
        file.write(f">ref\n{genome}\n")
def complement(bases):
    return bases[::-1].translate(str.maketrans("ACGT", "TGCA"))
def random_bases():
    return "".join(random.choice("ACGT") for _ in range(100))
pairs = []
for number in range(1500):
    start = random.randrange(len(genome) - 300)
    if kind == "copies":
        start = 500 * (number % 100)
    left, right = genome[start:start + 100], genome[start + 200:start + 300]
    pair = left, complement(right)
    if kind == "foreign" and number % 10:
        pair = random_bases(), random_bases()
    elif kind == "outward":
        pair = complement(left), right
    elif kind == "same":
        pair = left, right
    pairs.append(pair if number % 2 else pair[::-1])
if kind == "apart":
    # The second file lacks its first read, and has one more at its end.
    seconds = [pair[1] for pair in pairs]
    pairs = [(first, second) for (first, _), second in zip(pairs, seconds[1:] + seconds[:1])]
for mate in (0, 1):
    with open(f"{kind}_{mate + 1}.fq", "w") as file:
        for number, pair in enumerate(pairs):
            file.write(f"@r{number}\n{pair[mate]}\n+\n{'I' * 100}\n")
PYTHON
}

# check KIND NOTE OPTIONS...: this note, and no other; "" for none
check() {
    local kind=$1 note=$2 notes
    shift 2
    reads "$kind"
    zerohop align -t 2 --json run.json --mqc run_mqc.json -o out.bam "$@" ref.fa "${kind}_1.fq" "${kind}_2.fq"
    notes=$(python3 -c "import json; print('\n'.join(json.load(open('run.json'))['notes']))")
    grep -qxE -- "$note" <<< "$notes" || fail "$kind $*: notes are: $notes"
    [ -z "$note" ] || grep -qF -- "$notes" zerohop.stderr || fail "$kind: not told: $(cat zerohop.stderr)"
}

check usual "" --sort --mark-duplicates
check usual "" --engine bwa-mem --build-index
check foreign 'Only 1[0-9]\.[0-9]+ % of the reads were aligned \(usual: 20 % at least\): is ref.fa their reference, .*'
check copies '9[0-9]\.[0-9]+ % of the aligned reads are duplicates \(usual: 80 % at most\): .*' --sort --mark-duplicates
check copies "" --sort
check outward 'In (9.|100)\.[0-9]+ % of the pairs the mates point away from each other \(RF\) .*'
bwa_mem=(--engine bwa-mem --build-index)
check same 'In (9.|100)\.[0-9]+ % of the pairs the mates lie on the same strand \(FF\) .*' "${bwa_mem[@]}"
check usual 'The reads have 100 bases in the mean, and the index is for reads of 250: .*' -r 250

# Mates of other fragments lie anywhere: on many contigs, on different ones.
reads apart
python3 - << 'PYTHON'
text = open("ref.fa").read().split("\n")[1]
with open("parted.fa", "w") as file:
    for number in range(0, len(text), 6000):
        file.write(f">c{number}\n{text[number:number + 6000]}\n")
PYTHON
mv parted.fa ref.fa
rm -f ref.fa.*
check apart 'In [89][0-9]\.[0-9]+ % of the pairs with both mates aligned these lie on different contigs, .*'

python3 - << 'PYTHON'
import json
columns = {name: column for entry in json.load(open("run_mqc.json"))["pconfig"] for name, column in entry.items()}
assert columns["zerohop_mapped"]["cond_formatting_rules"] == {"fail": [{"lt": 20.0}]}, columns
assert columns["zerohop_duplicates"]["cond_formatting_rules"] == {"fail": [{"gt": 80.0}]}, columns
PYTHON
echo "what is odd is told, what is usual is not"
