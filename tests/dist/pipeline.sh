# What the tests of the files in pipelines/ share: zerohop on the PATH, from its archive, the genome and reads of
# E. coli, and what the program makes of them when it is run directly. Their programs come from
# scripts/setup.sh dist-test.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$WORK"
mkdir direct
tar -xzf "$(artefact "zerohop-*-$(uname -m)-unknown-linux-gnu.tar.gz")" --strip-components=1
ZEROHOP=$WORK/bin/zerohop
export PATH="$WORK/bin:$PATH"
PIPELINES=$ROOT/pipelines
reads=("$DATA"/ecoli/ecoli_150_{1,2}.fq.gz)
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > genome.fa

# needs PROGRAM...: they are in .tools, or the script is skipped
needs() {
    local program
    for program in "$@"; do
        [ -e "$ROOT/.tools/$program" ] || skip "no .tools/$program (scripts/setup.sh dist-test installs it)"
    done
}

# quietly COMMAND...: what it says is shown only when it fails
quietly() {
    "$@" > "$WORK/quietly.log" 2>&1 || { cat "$WORK/quietly.log" >&2; fail "exit status $? of $1"; }
}

# records FILE: the records, and the lines of the header that do not name files
records() { samtools view -h --no-PG -T "$WORK/genome.fa" "$1" | grep -vE '^@(PG|SQ)'; }

# same_records FILE NAME OPTIONS...: those of direct/NAME, which zerohop makes with these options where it is not there
same_records() {
    local file=$1 direct=$WORK/direct/$2; shift 2
    [ -e "$direct" ] || zerohop align -q -t 2 "$@" -o "$direct" "$WORK/genome.fa" "${reads[@]}"
    cmp <(records "$file") <(records "$direct") || fail "$file has other records than ${direct#"$WORK/"}"
    [ "$(records "$file" | grep -vc '^@')" -gt 0 ] || fail "$file has no records"
}

# protein_search: a database db, queries q.fa, and direct.tsv, the hits of a search by the program
protein_search() {
    command -v diamond > /dev/null || skip "diamond is not on the PATH"
    cp "$DATA/protein/queries.faa" q.fa
    zerohop db build -q --engine diamond --partitions 2 -o db "$DATA/protein/subjects.faa" > /dev/null
    zerohop search -q -t 2 --db db -o direct.tsv q.fa
    [ -s direct.tsv ] || fail "no hits"
}
