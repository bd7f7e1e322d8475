#!/bin/bash
# What `pip install zerohop multiqc_zerohop` brings: the program and the plugin from their wheels, and MultiQC as pip
# fetches it, in a fresh environment; then what tests/e2e/31-multiqc-plugin.sh asks for.
source "$(dirname "$0")/lib.sh"

python3 -m venv "$WORK/fresh"
"$WORK/fresh/bin/pip" -q --disable-pip-version-check --retries 10 install \
    "$(artefact "zerohop-*-manylinux_*_$(uname -m).whl")" "$(artefact 'multiqc_zerohop-*.whl')" \
    "multiqc==$(sed -n 's/^MULTIQC_VERSION=//p' "$ROOT/scripts/env.sh")"
ZEROHOP="$WORK/fresh/bin/zerohop" MULTIQC="$WORK/fresh/bin/multiqc" PLUGIN_IS_INSTALLED=1 \
    bash "$ROOT/tests/e2e/31-multiqc-plugin.sh"
