#!/bin/bash
# deny.toml: licences, sources and versions of all crates. With LONG=1 advisories, too: from the network, or from a
# clone of RustSec's advisory-db that ADVISORY_DB names.
source "$(dirname "$0")/lib.sh"
cd "$ROOT"
cargo deny --version > /dev/null 2>&1 || skip "no cargo-deny here (scripts/setup.sh dist installs it)"

# It reads all crates of the lock, those for other systems, too, which nothing else has fetched.
cargo fetch -q --locked || skip "crates for other systems cannot be fetched"
cargo deny --offline check licenses bans sources
[ -n "$LONG" ] || exit 0

if [ -n "${ADVISORY_DB-}" ]; then
    # where cargo-deny looks for that database, among others
    mkdir "$WORK/databases"
    git clone -q "$ADVISORY_DB" "$WORK/databases/advisory-db-3157b0e258782691"
    sed "s#^\[advisories\]#&\ndb-path = \"$WORK/databases\"#" deny.toml > "$WORK/deny.toml"
    echo "advisories of $(git -C "$ADVISORY_DB" log -1 --format=%cs)"
    cargo deny --offline --config "$WORK/deny.toml" check advisories
elif timeout 120 cargo deny fetch db > "$WORK/fetch.log" 2>&1; then
    cargo deny check --disable-fetch advisories
else
    skip "the advisories: RustSec's database cannot be reached, and ADVISORY_DB names no clone"
fi
