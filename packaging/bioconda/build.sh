#!/bin/bash
# What conda-build runs in the sources.
set -euxo pipefail

export CARGO_PROFILE_RELEASE_STRIP=symbols
# bwa mem wants zlib.h and libz
export CXXFLAGS="${CXXFLAGS-} -I$PREFIX/include"
export RUSTFLAGS="-L native=$PREFIX/lib -C link-arg=-Wl,-rpath,$PREFIX/lib"

cargo-bundle-licenses --format yaml --output THIRDPARTY.yml
cargo build --release --locked -p zerohop-cli -p zerohop-lab

mkdir -p "$PREFIX/bin" "$PREFIX/share/man/man1" "$PREFIX/share/bash-completion/completions"
for program in zerohop zerohop-lab; do
    install -m 755 "${CARGO_TARGET_DIR:-target}/release/$program" "$PREFIX/bin/"
    "$PREFIX/bin/$program" man > "$PREFIX/share/man/man1/$program.1"
    "$PREFIX/bin/$program" completions bash > "$PREFIX/share/bash-completion/completions/$program"
done
