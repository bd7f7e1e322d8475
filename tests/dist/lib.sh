# What the tests of artefacts share, over what the end-to-end tests share. They get DIST, the folder of the artefacts
# that `make dist` makes, and test what lies there, not what lies in the checkout. 10 to 19 need no artefact and little
# time: `make test` runs them. The others are for `make dist-test` and `make test-long`.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
: "${DIST:?}"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# artefact PATTERN: the one file in DIST whose name matches
artefact() {
    local found
    mapfile -t found < <(compgen -G "$DIST/$1")
    case ${#found[@]} in
        1) echo "${found[0]}";;
        0) fail "there is no $1 in $DIST: run make dist";;
        *) fail "more than one $1 in $DIST: ${found[*]}";;
    esac
}

workspace_version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml"; }
