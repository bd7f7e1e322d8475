#!/bin/bash
# The Debian package: lintian has no error and no warning; apt installs it in a bare Debian 12; one alignment there, the
# manual, and its removal.
source "$(dirname "$0")/lib.sh"
debian_12

package=$(artefact "zerohop_*_amd64.deb")
if command -v lintian > /dev/null; then
    for file in "$package" "$(artefact "zerohop_*_arm64.deb")"; do
        lintian --fail-on error,warning --allow-root "$file" || fail "lintian is not content with $file"
    done
else
    skip_part "no lintian (scripts/setup.sh dist installs it)"
fi
echo "--- what apt knows of it"
dpkg-deb --field "$package" Package Version Architecture Depends Maintainer
[ "$(dpkg-deb --field "$(artefact "zerohop_*_arm64.deb")" Architecture)" = arm64 ] || fail "the other one is not arm64"

cp "$package" "$SYSTEM/tmp/zerohop.deb"
few_reads "$SYSTEM/data"
inside apt-get install -y --no-install-recommends /tmp/zerohop.deb
echo "--- an alignment"
inside sh -c 'cd /data && zerohop align -q -o out.sam ref.fa 1.fq 2.fq && zerohop-lab --version'
strobealign "$SYSTEM/data/ref.fa" "$SYSTEM/data/1.fq" "$SYSTEM/data/2.fq" > "$WORK/expected.sam"
same_alignments "$WORK/expected.sam" "$SYSTEM/data/out.sam"
[ -s "$SYSTEM/usr/share/bash-completion/completions/zerohop" ] || fail "no completions"
inside dpkg --verify zerohop
inside apt-get remove -y zerohop
[ ! -e "$SYSTEM/usr/bin/zerohop" ] || fail "the program stays after removal"
