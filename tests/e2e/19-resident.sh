#!/bin/bash
# Indexes that stay in memory (`index --keep`): they are found, give the records of the index file, are not used when
# the index or the reference has changed, and go when they are removed. What is killed while it makes one leaves
# nothing. Where the system allows it, all happens in a /dev/shm of its own.
source "$(dirname "$0")/lib.sh"
if [ -z "${OWN_SHM-}" ] && unshare -m true 2> /dev/null; then
    OWN_SHM=1 exec unshare -m bash -c 'mount -t tmpfs tmpfs /dev/shm && exec bash "$0"' "$0"
fi
command -v gcc > /dev/null || skip "no C compiler"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > 1.fq
gzip -cd "$DATA/ecoli/ecoli_150_2.fq.gz" > 2.fq
COPIES=/dev/shm/zerohop-$(id -u)

# What lies there of this reference, by name
copies() { "$ZEROHOP" cache | grep -F " of $WORK/" || true; }

# origin: where the index of the last run came from
origin() { python3 -c 'import json; print(json.load(open("run.json"))["index"]["origin"]["file"])'; }

# align OUT ARGUMENTS...: what it says is in zerohop.stderr
align() { local out=$1; shift; zerohop align --json run.json -o "$out" "$@" ref.fa 1.fq 2.fq; }

kept() { "$ZEROHOP" index --keep ref.fa > said 2>&1 || fail "index --keep: $(cat said)"; }

# unused WHY OUT: a run that loads the file, says why, and gives the same records
unused() {
    align "$2"
    [ "$(origin)" = ref.fa.r150.zhi ] || fail "$1: $(origin) was used"
    tr '\n' ' ' < zerohop.stderr | tr -s ' ' | grep -q "was not used: $1" || fail "$1: $(cat zerohop.stderr)"
    same_alignments expected.sam "$2"
}

echo "--- kept, found, the same records"
align expected.sam -t 2 --no-index
kept
grep -q "kept after" said || fail "$(cat said)"
[ -e ref.fa.r150.zhi ] || fail "no index was written"
[ "$(copies | wc -l)" -ge 1 ] || fail "cache lists nothing"
copies | grep -qvE "  kept$" && fail "cache: $(copies)"
for threads in 1 2 5; do
    align $threads.sam -t $threads
    case $(origin) in "$COPIES"/strobealign-*) ;; *) fail "-t $threads used $(origin)";; esac
    same_alignments expected.sam $threads.sam
done
! grep -q "not used" zerohop.stderr || fail "$(cat zerohop.stderr)"
align interleaved.sam --pages interleave
[ "$(origin)" = ref.fa.r150.zhi ] || fail "a copy on one node was used where pages shall be elsewhere"
ln -s . same
zerohop align --json run.json -o by-link.sam same/ref.fa 1.fq 2.fq
case $(origin) in "$COPIES"/strobealign-*) ;; *) fail "another way to the same file: $(origin)";; esac
mv ref.fa away.fa
zerohop align --json run.json -o alone.sam ref.fa.r150.zhi 1.fq 2.fq
case $(origin) in "$COPIES"/strobealign-*) ;; *) fail "the index given in place of the reference: $(origin)";; esac
same_alignments expected.sam alone.sam
mv away.fa ref.fa

echo "--- again, and two at once"
kept
grep -q "was there" said || fail "$(cat said)"
zerohop cache --clear --all > /dev/null
[ -z "$(copies)" ] || fail "not removed: $(copies)"
align none.sam
[ "$(origin)" = ref.fa.r150.zhi ] || fail "a copy that was removed was used"
"$ZEROHOP" index --keep ref.fa 2> one & one=$!
"$ZEROHOP" index --keep ref.fa 2> other || fail "$(cat other)"
wait $one || fail "$(cat one)"
[ "$(cat one other | grep -c "kept after")" = "$(copies | wc -l)" ] || fail "two at once: $(cat one other)"

echo "--- in use"
mkfifo slow.fq
"$ZEROHOP" align -q --order any -o slow.sam -r 150 ref.fa slow.fq & run=$!
exec 9> slow.fq
head -n 400 1.fq >&9
for _ in {1..100}; do
    copies | grep -q "  in use$" && break
    sleep 0.1
done
copies | grep -q "  in use$" || fail "not in use: $(copies)"
"$ZEROHOP" cache --clear --all > /dev/null
copies | grep -q "  in use$" || fail "a copy in use was removed"
# many runs read it at the same time
for i in 1 2 3; do "$ZEROHOP" align -q -t 1 -o at-once.$i.sam ref.fa 1.fq 2.fq & runs[i]=$!; done
for i in 1 2 3; do wait ${runs[i]} || fail "run $i"; same_alignments expected.sam at-once.$i.sam; done
tail -n +401 1.fq >&9
exec 9>&-
wait $run || fail "the run that had it in use"
"$ZEROHOP" cache --clear > /dev/null
copies | grep -q "  kept$" || fail "it was not kept: $(copies)"

echo "--- stale"
cp ref.fa.r150.zhi same.zhi
mv same.zhi ref.fa.r150.zhi
unused "the index has changed" moved.sam
kept
grep -q "kept after" said || fail "the stale one was not replaced: $(cat said)"
touch ref.fa.r150.zhi
unused "the index has changed" touched.sam
# other contents, with everything else as it was
kept
touch -r ref.fa.r150.zhi times
python3 - << 'P'
with open('ref.fa.r150.zhi', 'r+b') as index:
    index.seek(24)
    text = index.read(200)
    index.seek(24)
    index.write(text.replace(b'strobealign', b'strobeAlign', 1))
P
touch -r times ref.fa.r150.zhi
! "$ZEROHOP" align -o x.sam ref.fa 1.fq 2.fq 2> stderr || fail "a damaged index was used"
grep -q "its description is damaged" stderr || fail "$(cat stderr)"
rm ref.fa.r150.zhi
kept
echo ACGT >> ref.fa
! "$ZEROHOP" align -o x.sam ref.fa 1.fq 2.fq 2> stderr || fail "a copy of another reference was used"
grep -q "made from another reference" stderr || fail "$(cat stderr)"
! "$ZEROHOP" index --keep ref.fa 2> stderr || fail "an index of another reference was kept"
grep -q "made from another reference" stderr || fail "$(cat stderr)"
head -c -5 ref.fa > before.fa
mv before.fa ref.fa
align back.sam  # the FASTA is read, for it has another time
case $(origin) in "$COPIES"/strobealign-*) ;; *) fail "back again: $(origin)";; esac
same_alignments expected.sam back.sam

echo "--- refused"
! "$ZEROHOP" index --keep --engine bwa-mem ref.fa 2> stderr || fail "bwa-mem"
grep -q "cannot be kept in memory" stderr || fail "$(cat stderr)"
[ ! -e ref.fa.bwt.2bit.64 ] || fail "an index was made all the same"
zerohop cache --clear --all > /dev/null
cp ref.fa.r150.zhi good.zhi
printf '\377\377\377' | dd of=ref.fa.r150.zhi bs=1 seek=9000000 conv=notrunc 2> /dev/null
! "$ZEROHOP" index --keep ref.fa 2> stderr || fail "a damaged index was kept"
grep -q "damaged between bytes" stderr || fail "$(cat stderr)"
[ -z "$(copies)" ] && ! ls "$COPIES"/strobealign-* > /dev/null 2>&1 || fail "left: $(ls "$COPIES")"
mv good.zhi ref.fa.r150.zhi
if [ -n "${OWN_SHM-}" ]; then
    unshare -m bash -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm; ! "$ZEROHOP" index --keep ref.fa 2> stderr &&
        ! ls /dev/shm/zerohop-*/strobealign-* > /dev/null 2>&1' || fail "no room: $(cat stderr)"
    grep -q "/dev/shm is too small for the index" stderr || fail "$(cat stderr)"
fi

echo "--- killed while it is made"
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
for signal in KILL TERM HUP; do
    LD_PRELOAD=$PWD/slow.so "$ZEROHOP" index --keep -t 1 ref.fa 2> /dev/null & run=$!
    for _ in {1..50}; do
        ls "$COPIES"/strobealign-*/ref.fa.r150.zhi > /dev/null 2>&1 && break
        sleep 0.1
    done
    ls "$COPIES"/strobealign-*/ref.fa.r150.zhi > /dev/null 2>&1 || fail "it was not begun"
    align early.sam -t 1
    [ "$(origin)" = ref.fa.r150.zhi ] || fail "a copy that is being made was used"
    kill -$signal $run
    wait $run 2> /dev/null && fail "SIG$signal: it ended well"
    for _ in {1..50}; do
        ls "$COPIES"/strobealign-* > /dev/null 2>&1 || break
        sleep 0.1
    done
    ! ls "$COPIES"/strobealign-* > /dev/null 2>&1 || fail "SIG$signal left $(ls "$COPIES")"
done
same_alignments expected.sam early.sam
echo "kept indexes: found, the same records, stale ones not used, nothing left"
