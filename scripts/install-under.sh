#!/bin/bash
# install-under.sh PREFIX [PROGRAMS LICENCES [SAYING]]: zerohop and zerohop-lab out of the folder PROGRAMS, their manual
# pages, completions and texts, as they lie under /usr. The programs in SAYING, of this machine's architecture, say what
# is in the pages. By default all is what 'make build licences' made; `make install` runs it.
set -euo pipefail
source "$(dirname "$0")/env.sh"

prefix=$1 programs=${2-$TARGET/release} licences=${3-$TARGET/release/LICENCES.txt}
saying=${4-$programs}
doc=$prefix/share/doc/zerohop bash=$prefix/share/bash-completion/completions man=$prefix/share/man/man1
zsh=$prefix/share/zsh/site-functions fish=$prefix/share/fish/vendor_completions.d

# commands PROGRAM: those that its help lists
commands() { "$saying/$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help; }

for file in "$programs/zerohop" "$programs/zerohop-lab" "$licences"; do
    [ -e "$file" ] || { echo "there is no $file: run 'make build licences' first" >&2; exit 1; }
done
mkdir -p "$prefix/bin" "$doc" "$bash" "$zsh" "$fish" "$man"
install -m 755 "$programs/zerohop" "$programs/zerohop-lab" "$prefix/bin/"
install -m 644 README.md CHANGELOG.md "$doc/"
install -m 644 "$licences" "$doc/LICENCES.txt"
umask 022
for program in zerohop zerohop-lab; do
    "$saying/$program" completions bash > "$bash/$program"
    "$saying/$program" completions zsh > "$zsh/_$program"
    "$saying/$program" completions fish > "$fish/$program.fish"
    "$saying/$program" man > "$man/$program.1"
    for command in $(commands "$program"); do
        "$saying/$program" man "$command" > "$man/$program-$command.1"
    done
done
# commands of a command
for command in build check; do
    "$saying/zerohop" man db "$command" > "$man/zerohop-db-$command.1"
done
