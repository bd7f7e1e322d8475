#!/bin/bash
# Runs every check, from the quick ones to the slow ones, and stops at the first that fails. The last line counts the
# steps: `N passed, N failed, N skipped, N parts skipped`, with the reasons. Nothing is tried twice.
#
# When all is compiled, three lanes run beside each other: the tests of the crates and then scripts; what compiles in a
# folder of its own (loom, Miri, fuzzing) and then scripts, the last ones first; scripts that mostly wait, for time
# limits, hosts and emulated machines, and then others. What a step of the last two says is shown when it has ended.
#
#   scripts/test.sh              the short set: every kind of check (what `make test` runs after the set-up)
#   LONG=1 scripts/test.sh       the long set: every combination, each fuzz target for half an hour (`make test-long`)
#   LONG=1 ONLY=^dist/ scripts/test.sh   what `make dist` made (what `make dist-test` runs after it)
#   ONLY=REGEX scripts/test.sh   the steps whose name matches, e.g. ONLY='fmt|clippy' or ONLY=e2e
#   FUZZ_SECONDS=N               time for each fuzz target; in the short set each runs its seeds alone
#   ZEROHOP_DATA=FOLDER          more real data for the end-to-end tests
set -euo pipefail
source "$(dirname "$0")/env.sh"
# what the step `build` makes: the profile that the unit tests have too
export ZEROHOP="$TARGET/debug/zerohop" ZEROHOP_LAB="$TARGET/debug/zerohop-lab"
export LONG=${LONG-}
[ -z "$LONG" ] || FUZZ_SECONDS=${FUZZ_SECONDS:-1800}
# Cases of a property test; 256 are usual. They are other ones each time.
[ -n "$LONG" ] || export PROPTEST_CASES=${PROPTEST_CASES:-80}

# Lines VERDICT STEP of all lanes, what the steps of the other lanes say, and what was skipped: `part STEP: REASON`, or
# `script ...` for a whole one
REPORTS=$(mktemp -d)
export SKIPPED_PARTS="$REPORTS/skipped"
touch "$REPORTS/verdicts" "$SKIPPED_PARTS"
lanes=() ended=0

verdict() { echo "$*" >> "$REPORTS/verdicts"; }
verdicts() { grep -c "^$1 " "$REPORTS/verdicts" || true; }

summary() {
    local lane
    for lane in "${lanes[@]}"; do
        kill -TERM -- "-$lane" 2> /dev/null || true
        wait "$lane" 2> /dev/null || true
    done
    show_ended
    echo
    local skipped; skipped=$(sort -u "$SKIPPED_PARTS" | sed 's/^part //; s/^script //')
    echo "$(verdicts passed) passed, $(verdicts failed) failed, $(verdicts skipped) skipped," \
        "$(sort -u "$SKIPPED_PARTS" | grep -c '^part ') parts skipped${skipped:+ (${skipped//$'\n'/; })}"
    rm -rf "$REPORTS"
}
trap summary EXIT

# by_itself COMMAND...: its exit status is then $rc, and its CPU time is added to the seconds in $cpu
by_itself() {
    local used; used=$(mktemp)
    set +e
    (trap 'times > "$used"' EXIT; set -e; "$@")
    rc=$?
    set -e
    # lines such as 0m1.234s 0m0.056s
    cpu=$(tr 'ms' '  ' < "$used" |
        awk -v before="$cpu" '{ sum += 60 * ($1 + $3) + $2 + $4 } END { print before + sum }')
    rm "$used"
}

# step NAME COMMAND...: exit status 77 means skipped (the command has said why)
step() {
    local name=$1 start=$SECONDS rc cpu=0; shift
    [[ $name =~ ${ONLY-} ]] || return 0
    echo
    echo "=== $name"
    by_itself "$@"
    local took="$((SECONDS - start)) s, ${cpu%.*} CPU s"
    case $rc in
        0) verdict passed "$name"; echo "--- $name: passed, $took";;
        77) verdict skipped "$name"; echo "--- $name: skipped, $took";;
        *) verdict failed "$name"; echo "--- $name: FAILED with exit status $rc, $took"; exit 1;;
    esac
    [ "$BASHPID" != $$ ] || look_at_other_lanes
}

# lane COMMAND...: its steps, all by `beside`, run beside those that come next here, until `join`
lane() {
    set -m
    (set +m; me=$BASHPID; "$@") < /dev/null & lanes+=($!)
    set +m
}

# A step of another lane: what it says is kept until it has ended. (Left of `||`, no -e would hold in all that the step
# calls.)
beside() {
    local rc
    set +e
    (set -e; step "$@") > "$REPORTS/running.$me" 2>&1
    rc=$?
    set -e
    mv "$REPORTS/running.$me" "$REPORTS/ended.$me.$((++ended))"
    [ $rc = 0 ] || exit $rc
}

show_ended() {
    local report
    for report in $(ls -v "$REPORTS"); do
        [[ $report != ended.* ]] || { cat "$REPORTS/$report"; rm "$REPORTS/$report"; }
    done
}

look_at_other_lanes() {
    show_ended
    [ "$(verdicts failed)" = 0 ] || exit 1
}

join() {
    local rc ended lane left
    while [ ${#lanes[@]} -gt 0 ]; do
        rc=0 ended=
        wait -n -p ended "${lanes[@]}" || rc=$?
        left=()
        for lane in "${lanes[@]}"; do [ "$lane" = "$ended" ] || left+=("$lane"); done
        lanes=("${left[@]}")
        look_at_other_lanes
        # killed, or no room for its reports
        [ $rc = 0 ] || { verdict failed lane; echo "a lane ended with exit status $rc"; exit 1; }
    done
}

skip() {
    echo "SKIPPED: $*"
    echo "script $*" >> "$SKIPPED_PARTS"
    exit 77
}

# Runs tests chosen by a filter; a filter that matches no test is a failure.
some_tests() {
    local log; log=$(mktemp)
    "$@" 2>&1 | tee "$log" || { rm -f "$log"; return 1; }
    if ! grep -qE 'test result: ok\. [1-9]' "$log"; then rm -f "$log"; echo "no test ran: $*"; return 1; fi
    rm -f "$log"
}

# The programs without the engine that needs a C++ compiler; with LONG=1 they pass all that does not need it.
without_cpp() {
    local programs=(-p zerohop-cli -p zerohop-lab --no-default-features --locked) script
    cargo clippy -q "${programs[@]}" -- -D warnings
    [ -n "$LONG" ] || return 0
    cargo build -q "${programs[@]}" --target-dir "$TARGET/without-c++"
    for script in tests/e2e/[0-9]*.sh; do
        ZEROHOP="$TARGET/without-c++/debug/zerohop" ZEROHOP_LAB="$TARGET/without-c++/debug/zerohop-lab" LONG= \
            env --default-signal bash "$script" || [ $? = 77 ] || { echo "$script: failed"; return 1; }
    done
}

licences() { cargo xtask licences > /dev/null; }

docs() { RUSTDOCFLAGS="-D warnings" cargo doc -q --workspace --no-deps --locked; }

# Fat link-time optimisation would only cost time here.
loom() {
    export RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
    export LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3}
    some_tests cargo test -q -p zerohop-runtime -p zerohop-lab-locks --release --locked \
        --target-dir "$TARGET/loom" --lib loom
}

miri() {
    has_nightly && cargo +nightly miri --version >/dev/null 2>&1 || skip "no nightly Rust with Miri here"
    some_tests cargo +nightly miri test -q -p zerohop-runtime --locked --target-dir "$TARGET/miri" --lib spsc
}

# Each fuzz target with its seeds, as an ordinary program.
seeds() {
    local target
    for target in fuzz/fuzz_targets/*.rs; do
        "$TARGET/debug/$(basename "$target" .rs)"
    done
}

fuzz() {
    has_nightly || skip "no nightly Rust here"
    cargo +nightly fuzz --version >/dev/null 2>&1 || skip "no cargo-fuzz here"
    cargo +nightly fuzz build --dev --target-dir "$TARGET/fuzz"
    local target
    for target in $(cargo +nightly fuzz list); do fuzz_one "$target"; done
}

# New inputs go to the target folder; fuzz/seeds/TARGET is only read.
fuzz_one() {
    local target=$1 corpus=$TARGET/fuzz/corpus/$1 seeds=fuzz/seeds/$1 rc=0
    mkdir -p "$corpus" "$TARGET/fuzz/artifacts"
    [ -d "$seeds" ] || seeds=
    local limit=-max_total_time=$FUZZ_SECONDS
    echo "fuzz target $target, $limit"
    cargo +nightly fuzz run --dev --target-dir "$TARGET/fuzz" "$target" "$corpus" $seeds -- \
        $limit -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$TARGET/fuzz/artifacts/$target-" > "$TARGET/fuzz/$target.log" 2>&1 || rc=$?
    if [ $rc != 0 ]; then tail -n 60 "$TARGET/fuzz/$target.log"; return $rc; fi
    grep -E 'number_of_executed_units|peak_rss_mb' "$TARGET/fuzz/$target.log" || true
}

# Among the end-to-end tests: what mostly waits; what clears index copies in /dev/shm; and what is breadth alone, for
# LONG=1
WAITING="60-faults 97-slurm"
CLEARING="80-external 82-run-cache 85-external-faults"
BREADTH="06-tutorial 18-strobealign-options"
# What clears gets a /dev/shm of its own, so that it runs beside what has copies there. Where the system does not allow
# that, or has the files of the tests there, it runs before, in the first lane.
OWN_SHM='mount -t tmpfs tmpfs /dev/shm && exec "$@"'
files_of_tests=("$PWD" "$TARGET" "$REPORTS" ${ZEROHOP_DATA:+"$ZEROHOP_DATA"})
unshare -m bash -c "$OWN_SHM" own-shm ls "${files_of_tests[@]}" > /dev/null 2>&1 || OWN_SHM=

# scripts_in FOLDER RUNNER WHICH...: has RUNNER (step, beside) run the scripts for which the command WHICH, given their
# name, is true. (Who starts this in the background without job control has SIGINT ignored in it and in all that it
# starts, and tests send that.)
scripts_in() {
    local folder=$1 runner=$2 script name place; shift 2
    for script in $(ls "$folder"/[0-9]*.sh ${BACKWARDS:+-r}); do
        name=$(basename "$script" .sh)
        place=()
        [ -z "$OWN_SHM" ] || ! is_one_of "$CLEARING" "$name" || place=(unshare -m bash -c "$OWN_SHM" own-shm)
        ! "$@" "$name" ||
            $runner "$(basename "$folder")/$name" "${place[@]}" env --default-signal bash "$script"
    done
}
is_one_of() { [[ " $1 " == *" $2 "* ]]; }
waits() { is_one_of "$WAITING" "$1"; }
computes() { ! waits "$1" && { [ -n "$LONG" ] || ! is_one_of "$BREADTH" "$1"; }; }
# Those that no other lane has begun
is_left() { computes "$1" && mkdir "$REPORTS/begun.$1" 2> /dev/null; }
clears() { is_one_of "$CLEARING" "$1" && is_left "$1"; }

# Of the tests of artefacts those that need none (tests/dist/lib.sh), and of those on emulated machines the first, with
# LONG=1 all
for_now() { [ -n "$LONG" ] || [[ $1 == 1[0-9]-* ]]; }

when_cleared() {
    until [ -n "$OWN_SHM" ] || [ -e "$REPORTS/cleared" ]; do sleep 1; done
}

compilers_and_scripts() {
    beside loom loom
    [ -z "$LONG" ] || beside miri miri
    [ "${FUZZ_SECONDS:-0}" = 0 ] || beside fuzz fuzz
    when_cleared
    BACKWARDS=1 scripts_in tests/e2e beside is_left
}

waiting_scripts() {
    scripts_in tests/hosts beside true
    scripts_in tests/e2e beside waits
    scripts_in tests/lab beside for_now
    [ -z "$OWN_SHM" ] || scripts_in tests/e2e beside clears
    when_cleared
    scripts_in tests/e2e beside is_left
}

step fmt cargo fmt --all --check
step lines scripts/lines.sh
step links scripts/links.py
step clippy cargo clippy -q --workspace --all-targets --locked -- -D warnings
step without-c++ without_cpp
step graph cargo xtask graph
step licences licences
# One command for programs and tests: with the same features no crate is compiled twice.
step build cargo build -q --workspace --bins --tests --locked
lane compilers_and_scripts
lane waiting_scripts
step tests cargo test -q --workspace --locked
[ -z "$LONG" ] || step docs docs
step seeds seeds
[ -n "$OWN_SHM" ] || scripts_in tests/e2e step clears
touch "$REPORTS/cleared"
scripts_in tests/e2e step is_left
join
scripts_in tests/dist step for_now
[ -s "$REPORTS/verdicts" ] || { echo "no step's name matches '${ONLY-}'"; exit 1; }
