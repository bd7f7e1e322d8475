#!/bin/bash
# Whether the last commit can be released: all artefacts are made and tested in a clean clone of it, from which nothing
# can be missing. Tools that are in .tools already are used there, too. Steps that are skipped are named at the end.
set -euo pipefail
source "$(dirname "$0")/env.sh"

say() { echo "release-check: $*"; }

[ -z "$(git status --porcelain --untracked-files=no)" ] || { say "there are changes that are in no commit"; exit 1; }
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
heading=$(grep -m 1 '^## ' CHANGELOG.md)

mkdir -p "$TARGET" .tools
clone=$TARGET/release-check
rm -rf "$clone"
git clone -q --no-hardlinks "$ROOT" "$clone"
ln -s "$ROOT/.tools" "$clone/.tools"
log=$clone.log
(cd "$clone" && env -u CARGO_TARGET_DIR -u DIST make dist-test) 2>&1 | tee "$log"

echo
sed -n 's/^SKIPPED: /release-check: not checked: /p' "$log"
grep -q '^repository' Cargo.toml ||
    say "to do: no repository in Cargo.toml; crates.io, cargo binstall and packaging/bioconda want its address"
# What only the submitter knows: the repository's address, and an account there
fields=$(grep -rlE 'REPOSITORY|SUBMITTER|owner: submitter' packaging/bioconda pipelines | sort | xargs)
[ -z "$fields" ] || say "to do: REPOSITORY and SUBMITTER stand in $fields"
case $heading in
    "## $version") say "$version can be released";;
    *) say "to do: CHANGELOG.md says '${heading#\#\# }'; for the release it is to say '$version'";;
esac
