#!/bin/bash
# The archives: what is in them, what the programs need of the system, and that they give the records of strobealign and
# bwa on the oldest x86-64, on the CPU of this machine, and on aarch64 (QEMU in user mode).
source "$(dirname "$0")/lib.sh"
for program in qemu-x86_64-static qemu-aarch64-static objdump bwa samtools; do
    command -v $program > /dev/null || skip "no $program here (scripts/setup.sh dist)"
done
cd "$WORK"
version=$(workspace_version)

echo "--- sums"
(cd "$DIST" && sha256sum -c --quiet SHA256SUMS)
for target in x86_64 aarch64; do
    archive=$(artefact "zerohop-*-$target-unknown-linux-gnu.tar.gz")
    tar -xzf "$archive"
    ln -s "zerohop-$version-$target-unknown-linux-gnu" "$target"
    echo "--- $target: $(stat -c %s "$archive") bytes; programs $(stat -c %s $target/bin/* | paste -sd ' ') bytes"

    for file in README.md CHANGELOG.md LICENCES.txt; do
        [ -s "$target/share/doc/zerohop/$file" ] || fail "no $file in $archive"
    done
    for file in man/man1/zerohop.1 man/man1/zerohop-align.1 man/man1/zerohop-db-build.1 man/man1/zerohop-lab.1 \
        bash-completion/completions/zerohop zsh/site-functions/_zerohop fish/vendor_completions.d/zerohop.fish; do
        [ -s "$target/share/$file" ] || fail "no $file in $archive"
    done
    python3 - "$(artefact "zerohop-*-$target-unknown-linux-gnu.cdx.json")" "$version" << 'PYTHON'
import json, sys
bill = json.load(open(sys.argv[1]))
assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", sys.argv[2])
names = {component["name"] for component in bill["components"]}
assert {"strobealign", "mimalloc", "bwa-mem3-sys", "hts-sys", "libstdc++"} <= names, names
# libgomp is not in the programs, see below
assert "libgomp" not in names, names
PYTHON
    ! grep libgomp $target/share/doc/zerohop/LICENCES.txt || fail "LICENCES.txt names libgomp, which is not linked"

    for program in $target/bin/*; do
        objdump -p "$program" > headers 2> /dev/null || "$target-linux-gnu-objdump" -p "$program" > headers
        awk '$1 == "NEEDED" { print $2 }' headers |
            { ! grep -vxE 'lib(c|m|dl|rt|pthread)\.so\.[0-9]+|ld-linux-.*'; } || fail "$program needs more than libc"
        grep -oE 'GLIBC_[0-9.]+' headers | sort -uV | tail -n 1 > newest
        printf '%s\n' "$(cat newest)" GLIBC_2.31 | sort -CV || fail "$program needs $(cat newest)"
        echo "$program needs $(cat newest) or newer"
        # htslib keeps the flags of its compiler
        ! strings -a "$program" | grep -F "$ROOT" | grep -v -e '-O3 .*hts-sys' ||
            fail "$program has a path of this checkout in it"
        # the messages of that library
        ! grep -qaF 'libgomp: ' "$program" || fail "libgomp is linked into $program"
        ! grep -q '\.symtab' <(objdump -h "$program" 2> /dev/null) || fail "$program is not stripped"
    done
done

few_reads .
ZEROHOP=x86_64/bin/zerohop
strobealign -t 1 ref.fa 1.fq 2.fq > strobealign.sam
bwa index ref.fa 2> log || { cat log >&2; fail "bwa index"; }
bwa mem -K 10000000 ref.fa 1.fq 2.fq > bwa.sam 2> log

# same NAME COMMAND...: the records of strobealign; and sorted, marked CRAM
same() {
    local name=$1; shift
    echo "--- $name"
    "$@" align -q -t 1 --no-index -o out.sam ref.fa 1.fq 2.fq
    same_alignments strobealign.sam out.sam
    "$@" align -q -t 2 --no-index --sort --mark-duplicates -o out.cram ref.fa 1.fq 2.fq
    samtools quickcheck out.cram
}

# The index of bwa-mem is made by the program itself
same_bwa_mem() {
    rm -f ref.fa.bwt.2bit* ref.fa.bwa-mem.*
    "$@" index -q --engine bwa-mem ref.fa
    "$@" align -q -t 1 --engine bwa-mem -o out.sam ref.fa 1.fq 2.fq
    cmp <(grep -v '^@' bwa.sam) <(grep -v '^@' out.sam) || fail "bwa-mem: other records than those of bwa"
}

samtools faidx ref.fa
same "this CPU" x86_64/bin/zerohop
if grep -qw avx2 /proc/cpuinfo; then same_bwa_mem x86_64/bin/zerohop; fi
# core2duo has SSSE3, qemu64 SSE3; x86-64 of 2003 had SSE2
for cpu in qemu64,-sse3 core2duo; do
    same "x86-64, CPU $cpu" qemu-x86_64-static -cpu "$cpu" x86_64/bin/zerohop
done
echo "--- bwa-mem on a CPU with AVX2; without it refused in words"
same_bwa_mem qemu-x86_64-static -cpu max x86_64/bin/zerohop
for cpu in core2duo Nehalem; do
    rc=0
    qemu-x86_64-static -cpu $cpu x86_64/bin/zerohop align -q --engine bwa-mem ref.fa 1.fq 2.fq > log 2>&1 || rc=$?
    [ $rc = 1 ] && grep -q "needs a processor with AVX2" log || fail "$cpu: exit status $rc: $(cat log)"
done
same "aarch64" qemu-aarch64-static -L "$DEBIAN_11/arm64" aarch64/bin/zerohop
same_bwa_mem qemu-aarch64-static -L "$DEBIAN_11/arm64" aarch64/bin/zerohop
