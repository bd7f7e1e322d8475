#!/bin/bash
# portable.sh TARGET FOLDER: compiles both programs for TARGET into FOLDER/TARGET/release, so that they need nothing but
# glibc 2.31 or newer: with the compiler of this machine, or Debian's cross compiler, and with glibc of Debian 11.
#
# portable.sh TARGET FOLDER COMMAND...: runs a command in whose environment cargo compiles in that way
set -euo pipefail
source "$(dirname "$0")/env.sh"
target=$1 folder=$2
case $target in
    x86_64-*) sysroot=$DEBIAN_11/amd64;;
    aarch64-*) sysroot=$DEBIAN_11/arm64;;
    *) echo "$target is not known here" >&2; exit 2;;
esac
gnu=${target/-unknown/}
variable=${target//-/_}

# The linker takes the first library of a name that it meets. Only static ones lie here. In place of libgcc_s it gets
# libgcc_eh of Debian 11, for that of newer compilers wants a newer glibc.
libraries=$folder/$target-libraries
mkdir -p "$libraries"
ln -sf "$("$gnu-gcc" -print-file-name=libstdc++.a)" "$libraries/libstdc++.a"
echo "GROUP ( $sysroot/usr/lib/gcc/$gnu/10/libgcc_eh.a $("$gnu-gcc" -print-libgcc-file-name) )" \
    > "$libraries/libgcc_s.so"
# libstdc++ of newer compilers asks glibc 2.32 whether there are several threads. This answer is always safe.
echo 'char __libc_single_threaded = 0;' |
    "$gnu-gcc" --sysroot="$sysroot" -fPIC -x c -c -o "$libraries/single-threaded.o" -

# zlib: the sources that one of the crates brings, also for another one
export LIBZ_SYS_STATIC=1
cargo fetch -q --locked --target "$target"
zlib=$(sed -n '/^name = "libz-sys"/{n;s/^version = "\(.*\)"/\1/p}' Cargo.lock)
registry=${CARGO_HOME:-${HOME:-/root}/.cargo}
zlib=$(compgen -G "$registry/registry/src/*/libz-sys-$zlib/src/zlib")

# No path of this machine in the programs
flags="--sysroot=$sysroot -ffile-prefix-map=$registry=/cargo -ffile-prefix-map=$ROOT=/zerohop"
export "CFLAGS_$variable=$flags" "CXXFLAGS_$variable=$flags -I$zlib"
export "CC_$variable=$gnu-gcc" "CXX_$variable=$gnu-g++"
# For both targets the linkers of both: with another one for this machine, cargo would compile all build scripts again,
# and after them all that it has compiled for the other target.
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=x86_64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# Debian's cross compilers look into a sysroot last, so its start-up files and libraries are named (-B).
export RUSTFLAGS="-L native=$libraries -C link-arg=--sysroot=$sysroot -C link-arg=-B$sysroot/usr/lib/$gnu
    -C link-arg=$libraries/single-threaded.o
    --remap-path-prefix=$registry=/cargo --remap-path-prefix=$ROOT=/zerohop -C strip=symbols"

[ $# = 2 ] || exec "${@:3}"
exec cargo build -q --release --locked -p zerohop-cli -p zerohop-lab --target "$target" --target-dir "$folder"
