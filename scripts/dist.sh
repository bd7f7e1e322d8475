#!/bin/bash
# Makes what people install, in target/dist: for x86-64 and aarch64 a tar.gz of the programs, a Debian package, a wheel
# and an SBOM; the crates as crates.io gets them; what PyPI gets (scripts/wheel.sh); SHA256SUMS of all.
# `scripts/setup.sh dist` installs what this needs.
#
#   scripts/dist.sh             all
#   scripts/dist.sh TARGET...   only x86_64-unknown-linux-gnu, or only aarch64-unknown-linux-gnu
#
# The programs need nothing but glibc 2.31 or newer, and run on the oldest CPUs of their architecture
# (scripts/portable.sh).
set -euo pipefail
source "$(dirname "$0")/env.sh"

VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
# Files carry the time of the commit: the same commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
BUILD=$TARGET/dist-build

say() { echo "dist: $*"; }

# compile TARGET: both programs, as $BUILD/TARGET/release/zerohop and zerohop-lab
compile() {
    say "compiling for $1 (minutes)"
    scripts/portable.sh "$1" "$BUILD"
}

# install_under PREFIX TARGET: the programs, and what belongs to them, as they lie under /usr
install_under() {
    scripts/install-under.sh "$1" "$BUILD/$2/release" "$BUILD/$2/LICENCES.txt" "$BUILD/$HERE/release"
    chmod -R u=rwX,go=rX "$1"
}

# archive TARGET: zerohop-VERSION-TARGET.tar.gz
archive() {
    local name=zerohop-$VERSION-$1 work
    work=$(mktemp -d)
    install_under "$work/$name" "$1"
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
        gzip -9n > "$DIST/$name.tar.gz"
    rm -r "$work"
}

# debian_package TARGET ARCHITECTURE: zerohop_VERSION_ARCHITECTURE.deb
debian_package() {
    local root doc maintainer date; root=$(mktemp -d)
    maintainer=$(git log -1 --format='%an <%ae>')
    date=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
    install_under "$root/usr" "$1"
    doc=$root/usr/share/doc/zerohop
    # The text of our licence is part of Debian's form; those of what is linked into the programs are beside it.
    { cat packaging/debian/copyright; sed -e 1,4d -e 's/^$/./' -e 's/^/ /' LICENSE; } > "$doc/copyright"
    # Debian's own form, which refers to ours
    sed -e "s/@VERSION@/$VERSION/" -e "s/@MAINTAINER@/$maintainer/" -e "s/@DATE@/$date/" \
        packaging/debian/changelog > "$doc/changelog"
    gzip -9n "$root"/usr/share/man/man1/*.1 "$doc"/{changelog,CHANGELOG.md,LICENCES.txt}
    chmod -R u=rwX,go=rX "$root/usr"
    mkdir "$root/DEBIAN"
    sed -e "s/@VERSION@/$VERSION/" -e "s/@ARCHITECTURE@/$2/" -e "s/@MAINTAINER@/$maintainer/" \
        -e "s/@SIZE@/$(du -sk "$root/usr" | cut -f 1)/" packaging/debian/control > "$root/DEBIAN/control"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
    chmod 755 "$root"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$DIST/zerohop_${VERSION}_$2.deb" > /dev/null
    rm -r "$root"
}

# The files that cargo would upload
crates() {
    say "packaging the crates"
    local published
    published=$(cargo metadata --format-version 1 --no-deps --offline |
        python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != []: print("-p", package["name"])')
    rm -rf "$BUILD/crates/package"
    cargo package -q $published --locked --no-verify --allow-dirty --target-dir "$BUILD/crates"
    mkdir -p "$DIST/crates"
    mv "$BUILD"/crates/package/*.crate "$DIST/crates/"
}

architecture() {
    case $1 in
        x86_64-unknown-linux-gnu) echo amd64;;
        aarch64-unknown-linux-gnu) echo arm64;;
        *) echo "dist: there is nothing for $1" >&2; exit 2;;
    esac
}

TARGETS=("$@")
[ $# -gt 0 ] || TARGETS=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)
for target in "${TARGETS[@]}"; do architecture "$target" > /dev/null; done

rm -rf "$DIST"
mkdir -p "$DIST"
for target in "${TARGETS[@]}"; do compile "$target"; done
HERE=$(rustc -vV | sed -n 's/^host: //p')
[[ " ${TARGETS[*]} " == *" $HERE "* ]] || compile "$HERE"
for target in "${TARGETS[@]}"; do
    say "packing for $target"
    cargo xtask licences "$target" > "$BUILD/$target/LICENCES.txt"
    cargo xtask sbom "$target" > "$DIST/zerohop-$VERSION-$target.cdx.json"
    archive "$target"
    debian_package "$target" "$(architecture "$target")"
done
crates
say "making wheels"
scripts/wheel.sh "${TARGETS[@]}"
(cd "$DIST" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS)
say "$(cd "$DIST" && ls | wc -l) entries in ${DIST#"$ROOT/"}"
