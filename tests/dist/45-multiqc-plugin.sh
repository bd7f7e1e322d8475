#!/bin/bash
# What `pip install multiqc_zerohop` brings: the plugin from its wheel, with MultiQC as pip fetches it, in a fresh
# environment; then what tests/e2e/31-multiqc-plugin.sh asks for.
source "$(dirname "$0")/lib.sh"
[ -x "${MULTIQC-}" ] || skip "no MultiQC whose version to take (scripts/setup.sh test installs it)"

python3 -m venv "$WORK/fresh"
"$WORK/fresh/bin/pip" -q --disable-pip-version-check --retries 10 install "$(artefact 'multiqc_zerohop-*.whl')" \
    "multiqc==$("$MULTIQC" --version | awk '{ print $NF }')"
MULTIQC="$WORK/fresh/bin/multiqc" PLUGIN_IS_INSTALLED=1 bash "$ROOT/tests/e2e/31-multiqc-plugin.sh"
