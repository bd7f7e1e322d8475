#!/bin/bash
# The Python module of packaging/python, from its sources, with the program under test: types (mypy --strict) and
# pytest. tests/dist/40-wheel.sh does the same with what pip installs.
source "$(dirname "$0")/lib.sh"
[ -x "${PYTHON_TOOLS-}/pytest" ] || skip "no pytest (scripts/setup.sh test installs it)"
package=$(cd "$(dirname "$0")/../../packaging/python" && pwd)

"$PYTHON_TOOLS/mypy" --strict --cache-dir "$WORK/mypy" "$package/src" "$package/tests" > "$WORK/mypy.log" ||
    { cat "$WORK/mypy.log" >&2; fail "types"; }

mkdir "$WORK/bin"
ln -s "$(readlink -f "$ZEROHOP")" "$WORK/bin/zerohop"
PATH="$WORK/bin:$PATH" PYTHONPATH="$package/src" PYTHONDONTWRITEBYTECODE=1 \
    "$PYTHON_TOOLS/pytest" -q -rs -p no:cacheprovider --basetemp "$WORK/pytest" "$package/tests"
