#!/bin/bash
# Runs every check, from the quick ones to the slow ones, and stops at the first that fails. The last line counts the
# steps: `N passed, N failed, N skipped`. A script that meets killed processes, networks and emulated machines is run once
# more when it fails, and named at the end if it passes then: that is a defect, of it or of zerohop, for somebody to mend.
#
#   scripts/test.sh           all (what `make test` runs after the set-up)
#   ONLY=REGEX scripts/test.sh   the steps whose name matches, e.g. ONLY='fmt|clippy' or ONLY=e2e
#   FUZZ_SECONDS=N            time for each fuzz target; by default each runs its seeds alone
#   ZEROHOP_DATA=FOLDER       more real data for the end-to-end tests
set -euo pipefail
source "$(dirname "$0")/env.sh"
# what the step `build` makes: the profile that the unit tests have too
export ZEROHOP="$TARGET/debug/zerohop" ZEROHOP_LAB="$TARGET/debug/zerohop-lab"

passed=0 failed=0 skipped=0 unsteady=
summary() {
    echo
    [ -z "$unsteady" ] || echo "FAILED ONCE, passed when run again, see above:$unsteady"
    echo "$passed passed, $failed failed, $skipped skipped"
}
trap summary EXIT

# by_itself COMMAND...: its exit status is then $rc
by_itself() {
    set +e
    (set -e; "$@")
    rc=$?
    set -e
}

# step GOES NAME COMMAND...: exit status 77 means skipped (the command has said why); with 2 GOES, a failure is looked at twice
step() {
    local goes=$1 name=$2 start=$SECONDS rc; shift 2
    [[ $name =~ ${ONLY-} ]] || return 0
    echo
    echo "=== $name"
    by_itself "$@"
    if [ $goes -gt 1 ] && [ $rc != 0 ] && [ $rc != 77 ]; then
        echo "--- $name: failed with exit status $rc, and is run again"
        by_itself "$@"
        [ $rc != 0 ] || unsteady+=" $name"
    fi
    case $rc in
        0) passed=$((passed + 1)); echo "--- $name: passed, $((SECONDS - start)) s";;
        77) skipped=$((skipped + 1)); echo "--- $name: skipped, $((SECONDS - start)) s";;
        *) failed=$((failed + 1)); echo "--- $name: FAILED with exit status $rc, $((SECONDS - start)) s"; exit 1;;
    esac
}

skip() { echo "SKIPPED: $*"; exit 77; }

# Runs tests chosen by a filter; a filter that matches no test is a failure.
some_tests() {
    local log; log=$(mktemp)
    "$@" 2>&1 | tee "$log" || { rm -f "$log"; return 1; }
    if ! grep -qE 'test result: ok\. [1-9]' "$log"; then rm -f "$log"; echo "no test ran: $*"; return 1; fi
    rm -f "$log"
}

docs() { RUSTDOCFLAGS="-D warnings" cargo doc -q --workspace --no-deps --locked; }

# Fat link-time optimisation would only cost time here.
loom() {
    export RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
    export LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3}
    some_tests cargo test -q -p zerohop-runtime --release --locked --target-dir "$TARGET/loom" --lib loom
}

miri() {
    has_nightly && cargo +nightly miri --version >/dev/null 2>&1 || skip "no nightly Rust with Miri here"
    some_tests cargo +nightly miri test -q -p zerohop-runtime --locked --target-dir "$TARGET/miri" --lib spsc
}

fuzz() {
    has_nightly || skip "no nightly Rust here"
    cargo +nightly fuzz --version >/dev/null 2>&1 || skip "no cargo-fuzz here"
    [ -f fuzz/Cargo.toml ] || skip "no fuzz targets"
    cargo +nightly fuzz build --target-dir "$TARGET/fuzz"
    local target
    for target in $(cargo +nightly fuzz list); do fuzz_one "$target"; done
}

# New inputs go to the target folder; fuzz/seeds/TARGET is only read.
fuzz_one() {
    local target=$1 corpus=$TARGET/fuzz/corpus/$1 seeds=fuzz/seeds/$1 rc=0
    mkdir -p "$corpus" "$TARGET/fuzz/artifacts"
    [ -d "$seeds" ] || seeds=
    local limit=-runs=0
    [ "${FUZZ_SECONDS:-0}" = 0 ] || limit=-max_total_time=$FUZZ_SECONDS
    echo "fuzz target $target, $limit"
    cargo +nightly fuzz run --target-dir "$TARGET/fuzz" "$target" "$corpus" $seeds -- \
        $limit -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$TARGET/fuzz/artifacts/$target-" > "$TARGET/fuzz/$target.log" 2>&1 || rc=$?
    if [ $rc != 0 ]; then tail -n 60 "$TARGET/fuzz/$target.log"; return $rc; fi
    grep -E 'number_of_executed_units|peak_rss_mb' "$TARGET/fuzz/$target.log" || true
}

# Who starts this in the background without job control has SIGINT ignored in it and in all that it starts, and tests send that.
scripts_in() {
    local script
    for script in "$1"/*.sh; do
        [ "$(basename "$script")" = lib.sh ] || [ ! -f "$script" ] || step 2 "$(basename "$1")/$(basename "$script" .sh)" env --default-signal=INT bash "$script"
    done
}

step 1 fmt cargo fmt --all --check
step 1 clippy cargo clippy -q --workspace --all-targets --locked -- -D warnings
step 1 graph cargo xtask graph
step 1 tests cargo test -q --workspace --locked
step 1 docs docs
step 1 loom loom
step 1 miri miri
step 1 fuzz fuzz
step 1 build cargo build -q --locked
scripts_in tests/e2e
scripts_in tests/hosts
scripts_in tests/lab
