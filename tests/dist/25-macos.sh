#!/bin/bash
# All of zerohop but the built-in bwa mem compiles for macOS on ARM, without a word of clippy, and is linked to a
# program that needs libraries of macOS alone. It is not run: there is no macOS here. zig compiles the C libraries.
source "$(dirname "$0")/lib.sh"
cd "$ROOT"
target=aarch64-apple-darwin
rustup target list --installed 2> /dev/null | grep -qx $target || skip "no Rust for $target (scripts/setup.sh dist)"
[ -x "$ZIG_TOOLS/cargo-zigbuild" ] || skip "no cargo-zigbuild here (scripts/setup.sh dist)"
folder=${CARGO_TARGET_DIR:-target}/macos

# zig COMMAND OPTION...: a command of cargo, with zig as the compiler of C and the linker
zig() {
    local command=$1; shift
    PATH=$ZIG_TOOLS:$PATH cargo-zigbuild "$command" -q --locked --target $target --target-dir "$folder" \
        --no-default-features -p zerohop-cli "$@" > "$WORK/log" 2>&1 || { cat "$WORK/log" >&2; fail "$command"; }
}

zig clippy -- -D warnings
zig zigbuild
program=$folder/$target/debug/zerohop
# a Mach-O of 64 bits for ARM
magic=$(od -An -tx1 -N8 "$program" | tr -d ' ')
[ "$magic" = cffaedfe0c000001 ] || fail "$program begins with $magic"
libraries=$(head -c 65536 "$program" | grep -aoE '/[[:alnum:]/._-]+\.dylib' | sort -u)
foreign=$(grep -v ^/usr/lib/ <<< "$libraries" || true)
[ -z "$foreign" ] || fail "$program needs $foreign"
echo "for macOS: $(stat -c %s "$program") bytes, with" $libraries
