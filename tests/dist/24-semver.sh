#!/bin/bash
# The library `align` against its last release: no change that would break programs which use it, unless the version
# says so. Before the first release there is nothing to compare with: then it is compared with itself, so that the check
# is known to run when it is needed.
source "$(dirname "$0")/lib.sh"
cd "$ROOT"
cargo semver-checks --version > /dev/null 2>&1 || skip "no cargo-semver-checks here (scripts/setup.sh dist installs it)"
last=$(git tag --list 'v[0-9]*' --sort=-version:refname | head -n 1)
[ -n "$last" ] || echo "there is no release yet: compared with itself"
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/semver \
    cargo semver-checks -p zerohop-align --default-features --baseline-rev "${last:-HEAD}"
