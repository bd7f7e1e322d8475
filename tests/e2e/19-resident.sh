#!/bin/bash
# Indexes that stay in memory (`index --keep`), of each engine whose index can: they are found, give the records of the
# index file, are not used when the index or the reference has changed, and go when they are removed. What is killed
# while it makes one leaves nothing. Where the system allows it, all happens in a /dev/shm of its own. ONLY=ENGINE: of
# one engine; PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
if [ -z "${OWN_SHM-}" ] && unshare -m true 2> /dev/null; then
    OWN_SHM=1 exec unshare -m bash -c 'mount -t tmpfs tmpfs /dev/shm && exec bash "$0"' "$0"
fi
command -v gcc > /dev/null || skip "no C compiler"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ecoli.fa
gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > 1.fq
gzip -cd "$DATA/ecoli/ecoli_150_2.fq.gz" > 2.fq
COPIES=/dev/shm/zerohop-$(id -u)
# Whoever writes with it takes 5 s.
cat > slow.c << 'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
ssize_t pwrite64(int file, const void *from, size_t bytes, off_t at) {
    sleep(5);
    return ((ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64"))(file, from, bytes, at);
}
C
gcc -shared -fPIC -o slow.so slow.c -ldl

# What lies there of this reference, by name
copies() { "$ZEROHOP" cache | grep -F " of $WORK/" || true; }

# origin: where the index of the last run came from
origin() { python3 -c 'import json; print(json.load(open("run.json"))["index"]["origin"]["file"])'; }
# attached WHAT: the last run read a copy
attached() { case $(origin) in "$COPIES/$engine"-*) ;; *) fail "$1: $(origin) was used";; esac; }
# loaded WHAT: it read the file
loaded() { [ "$(origin)" = "$index" ] || fail "$1: $(origin) was used"; }

# align OUT ARGUMENTS...: what it says is in zerohop.stderr
align() { local out=$1; shift; zerohop align "${options[@]}" --json run.json -o "$out" "$@" ref.fa 1.fq 2.fq; }

# keep: what it says is on stdout and stderr; kept: in the file said
keep() { "$ZEROHOP" index --keep "${options[@]}" "$@" ref.fa; }
kept() { keep > said 2>&1 || fail "index --keep: $(cat said)"; }
removed() { "$ZEROHOP" cache --clear --all > /dev/null; }

# unused WHY OUT: a run that loads the file, says why, and gives the same records
unused() {
    align "$2"
    loaded "$1"
    tr '\n' ' ' < zerohop.stderr | tr -s ' ' | grep -q "was not used: $1" || fail "$1: $(cat zerohop.stderr)"
    same_alignments expected.sam "$2"
}

# Kept, found, the same records
found() {
    kept
    grep -q "kept after" said || fail "$(cat said)"
    [ -e "$index" ] || fail "no index was written"
    [ "$(copies | wc -l)" -ge 1 ] || fail "cache lists nothing"
    copies | grep -qvE "  kept$" && fail "cache: $(copies)"
    align expected.sam -t 2 --pages interleave
    loaded "a copy on one node was used where pages shall be elsewhere"
    for threads in 1 2 5; do
        align $threads.sam -t $threads
        attached "-t $threads"
        same_alignments expected.sam $threads.sam
    done
    ! grep -q "not used" zerohop.stderr || fail "$(cat zerohop.stderr)"
    ln -sfn . same
    zerohop align "${options[@]}" --json run.json -o by-link.sam same/ref.fa 1.fq 2.fq
    attached "another way to the same file"
    mv ref.fa away.fa
    if [ $engine = strobealign ]; then
        zerohop align --json run.json -o alone.sam "$index" 1.fq 2.fq
        attached "the index given in place of the reference"
    else
        zerohop align "${options[@]}" --json run.json -o alone.sam ref.fa 1.fq 2.fq
        attached "without the reference"
    fi
    same_alignments expected.sam alone.sam
    mv away.fa ref.fa
}

# Again, and two at once
again() {
    kept
    grep -q "was there" said || fail "$(cat said)"
    removed
    [ -z "$(copies)" ] || fail "not removed: $(copies)"
    align none.sam
    loaded "a copy that was removed was used"
    keep 2> one & one=$!
    keep 2> other || fail "$(cat other)"
    wait $one || fail "$(cat one)"
    [ "$(cat one other | grep -c "kept after")" = "$(copies | wc -l)" ] || fail "two at once: $(cat one other)"
}

in_use() {
    kept
    rm -f slow.fq
    mkfifo slow.fq
    local length=()
    [ $engine != strobealign ] || length=(-r 150)
    "$ZEROHOP" align -q "${options[@]}" --order any -o slow.sam "${length[@]}" ref.fa slow.fq & run=$!
    exec 9> slow.fq
    # the first bases tell the length of the reads
    head -n 40000 1.fq >&9
    for _ in {1..100}; do
        copies | grep -q "  in use$" && break
        sleep 0.1
    done
    copies | grep -q "  in use$" || fail "not in use: $(copies)"
    removed
    copies | grep -q "  in use$" || fail "a copy in use was removed"
    # many runs read it at the same time
    for i in 1 2 3; do
        "$ZEROHOP" align -q "${options[@]}" -t 1 -o at-once.$i.sam ref.fa 1.fq 2.fq & runs[i]=$!
    done
    for i in 1 2 3; do wait ${runs[i]} || fail "run $i"; same_alignments expected.sam at-once.$i.sam; done
    tail -n +40001 1.fq >&9
    exec 9>&-
    wait $run || fail "the run that had it in use"
    "$ZEROHOP" cache --clear > /dev/null
    copies | grep -q "  kept$" || fail "it was not kept: $(copies)"
}

stale() {
    kept
    cp "$index" same.index
    mv same.index "$index"
    unused "it is not a copy of the index as it is now" moved.sam
    kept
    grep -q "kept after" said || fail "the stale one was not replaced: $(cat said)"
    touch "$index"
    unused "it is not a copy of the index as it is now" touched.sam
    kept
    # other contents, with everything else as it was
    cp "$described" good.description
    touch -r "$described" times
    python3 - "$described" << 'P'
import sys
with open(sys.argv[1], 'r+b') as index:
    text = index.read(3000)
    start = text.index(b'"reference"')
    index.seek(start)
    index.write(b'"Reference"')
P
    touch -r times "$described"
    ! "$ZEROHOP" align "${options[@]}" -o x.sam ref.fa 1.fq 2.fq 2> stderr || fail "a damaged index was used"
    grep -q "$description_is_damaged" stderr || fail "$(cat stderr)"
    cat good.description > "$described"
    kept
    echo ACGT >> ref.fa
    ! "$ZEROHOP" align "${options[@]}" -o x.sam ref.fa 1.fq 2.fq 2> stderr || fail "of another reference"
    grep -q "made from another reference" stderr || fail "$(cat stderr)"
    ! keep 2> stderr || fail "an index of another reference was kept"
    grep -q "made from another reference" stderr || fail "$(cat stderr)"
    head -c -5 ref.fa > before.fa
    mv before.fa ref.fa
    align back.sam  # the FASTA is read, for it has another time
    attached "back again"
    same_alignments expected.sam back.sam
}

refused() {
    removed
    cp "$index" good.index
    printf '\377\377\377' | dd of="$index" bs=1 seek=9000000 conv=notrunc 2> /dev/null
    ! keep 2> stderr || fail "a damaged index was kept"
    grep -q "$is_damaged" stderr || fail "$(cat stderr)"
    [ -z "$(copies)" ] && ! ls "$COPIES/$engine"-* > /dev/null 2>&1 || fail "left: $(ls "$COPIES")"
    head -c 9000000 good.index > "$index"
    ! keep 2> stderr || fail "a truncated index was kept"
    grep -q "$index: " stderr || fail "$(cat stderr)"
    mv good.index "$index"
    [ -n "${OWN_SHM-}" ] || return 0
    export -f keep
    unshare -m bash -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm; ! keep 2> stderr &&
        ! ls /dev/shm/zerohop-*/*-* > /dev/null 2>&1' || fail "no room: $(cat stderr)"
    grep -q "/dev/shm is too small for the index" stderr || fail "$(cat stderr)"
}

# Killed while it is made
killed() {
    removed
    for signal in KILL TERM HUP; do
        LD_PRELOAD=$PWD/slow.so "$ZEROHOP" index --keep "${options[@]}" -t 1 ref.fa 2> /dev/null & run=$!
        for _ in {1..50}; do
            ls "$COPIES/$engine"-*/"$index" > /dev/null 2>&1 && break
            sleep 0.1
        done
        ls "$COPIES/$engine"-*/"$index" > /dev/null 2>&1 || fail "it was not begun"
        align early.sam -t 1
        loaded "a copy that is being made"
        kill -$signal $run
        wait $run 2> /dev/null && fail "SIG$signal: it ended well"
        for _ in {1..50}; do
            ls "$COPIES/$engine"-* > /dev/null 2>&1 || break
            sleep 0.1
        done
        ! ls "$COPIES/$engine"-* > /dev/null 2>&1 || fail "SIG$signal left $(ls "$COPIES")"
    done
    same_alignments expected.sam early.sam
}

# ALT contigs: the list of them is of the index, too; -j passes over them, with the same copy
alternates() {
    [ $engine = bwa-mem ] || return 0
    { cat ecoli.fa; echo ">twin"; sed -n 2,4000p ecoli.fa; } > ref.fa
    zerohop index "${options[@]}" ref.fa
    align without.sam
    kept
    printf 'twin\t0\tNC_000913.3\t1\t60\t*\t*\t0\t0\t*\t*\n' > ref.fa.alt
    for arguments in -Y -j; do align loaded$arguments.sam "--engine-args=$arguments"; loaded ".alt has come"; done
    kept
    for arguments in -Y -j; do
        align kept$arguments.sam "--engine-args=$arguments"
        attached "$arguments"
        same_alignments loaded$arguments.sam kept$arguments.sam
    done
    ! cmp -s <(grep -v ^@ loaded-Y.sam) <(grep -v ^@ loaded-j.sam) || fail "ALT contigs make no difference"
    same_alignments without.sam kept-j.sam
    rm ref.fa.alt
}

# of_engine NAME INDEX DESCRIBED DAMAGED DESCRIPTION-DAMAGED: INDEX is the file of the index, DESCRIBED that with its
# description
of_engine() {
    engine=$1 index=$2 described=$3 is_damaged=$4 description_is_damaged=$5
    [[ $engine =~ ${ONLY-} ]] || return 0
    options=(--engine "$engine")
    cp ecoli.fa ref.fa
    # the first part makes what the others compare with
    for name in found again in_use stale refused killed alternates; do
        [[ $name =~ ${PART-} ]] || [ $name = found ] || continue
        echo "--- $engine: $name"
        part $name
    done
    removed
}

of_engine strobealign ref.fa.r150.zhi ref.fa.r150.zhi "damaged between bytes" "its description is damaged"
if "$ZEROHOP" engines | grep -q '^bwa-mem '; then
    of_engine bwa-mem ref.fa.bwt.2bit.64 ref.fa.bwa-mem.digests "its digest is not that in" "it is damaged"
    if [[ bisulfite =~ ${ONLY-} ]]; then
        echo "--- bisulfite reads: found"
        head -n 9000 ecoli.fa > ref.fa
        python3 "$DATA/../e2e/bisulfite.py" simulate ref.fa converted directional 6000
        mv converted_1.fq 1.fq
        mv converted_2.fq 2.fq
        engine=bwa-mem index=ref.fa.meth.bwt.2bit.64 options=(--engine bwa-mem --meth)
        part found
        removed
    fi
fi
if "$ZEROHOP" engines | grep -q '^rammap '; then
    ! "$ZEROHOP" index --keep --engine rammap ref.fa 2> stderr || fail "rammap"
    grep -q "cannot be kept in memory" stderr || fail "$(cat stderr)"
    ! ls ref.fa.k15w10.zhi > /dev/null 2>&1 || fail "an index was made all the same"
fi
echo "kept indexes: found, the same records, stale ones not used, nothing left"
