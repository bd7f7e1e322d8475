#!/bin/bash
# The bioconda recipe, the Dockerfile and the Apptainer definition, without running them: what bioconda's linter asks
# for, one version, the same packages in both containers. bioconda-utils, conda-build and builders of containers cannot
# be had from Debian or PyPI; 22-containers.sh and 23-bioconda.sh run the steps themselves.
source "$(dirname "$0")/lib.sh"
cd "$ROOT/packaging"
"$PYTHON_WITH_PYSAM" -c 'import jinja2, yaml' 2> /dev/null ||
    skip "no Jinja2 and PyYAML in .tools (scripts/setup.sh test)"

echo "--- bioconda"
bash -n bioconda/build.sh
"$PYTHON_WITH_PYSAM" - bioconda/meta.yaml "$(workspace_version)" << 'PYTHON'
import os, re, sys
import jinja2, yaml

text = open(sys.argv[1]).read()
functions = {"compiler": "{} compiler".format, "pin_subpackage": lambda name, **pin: name}
# selectors are comments; `skip` is for other systems
rendered = jinja2.Template(text, undefined=jinja2.StrictUndefined).render(**functions)
recipe = yaml.safe_load(rendered)
problems = []
def ask(condition, what):
    if not condition: problems.append(what)

ask(recipe["package"]["version"] == sys.argv[2], f"version {recipe['package']['version']}, not {sys.argv[2]}")
ask(recipe["package"]["name"] == recipe["package"]["name"].lower(), "name in lower case")
ask(recipe["build"]["number"] == 0, "build number 0 for a new version")
ask(recipe["build"].get("run_exports"), "run_exports with a pin")
ask("{{ version }}" in text.split("source:")[1].split("build:")[0], "url with the version")
ask("sha256" in recipe["source"], "sha256 of the source")
ask({"c compiler", "cxx compiler", "rust compiler"} <= set(recipe["requirements"]["build"]), "compilers")
ask("cargo-bundle-licenses" in recipe["requirements"]["build"], "licences of the crates")
ask(any("zerohop align" in command and "--help" not in command for command in recipe["test"]["commands"]),
    "a test that aligns")
ask(all(os.path.exists(f"../{path}") for path in recipe["test"]["source_files"]), "test/source_files that are there")
ask(recipe["extra"].get("recipe-maintainers"), "extra/recipe-maintainers")
for field in ("home", "license", "license_family", "license_file", "summary", "dev_url", "doc_url"):
    ask(recipe["about"].get(field), f"about/{field}")
ask(len(recipe["about"]["summary"]) <= 80 and not recipe["about"]["summary"].endswith("."), "a short summary")
ask("linux-aarch64" in recipe["extra"]["additional-platforms"], "linux-aarch64")
ask(not re.search(r"[ \t]$", text, re.M), "no blanks at ends of lines")
if problems: sys.exit("meta.yaml lacks: " + "; ".join(problems))
PYTHON
grep -q 'set -e' bioconda/build.sh || fail "build.sh goes on after a failure"
! grep -E 'march=native|target-cpu|mavx' bioconda/build.sh || fail "build.sh compiles for the CPU of the builder"

echo "--- containers"
lists() { grep -o 'install -y --no-install-recommends [^;&]*' "$1" | sed 's/ *$//'; }
diff <(lists container/Dockerfile) <(lists container/zerohop.def) || fail "the containers install other packages"
grep -qx 'USER zerohop' container/Dockerfile || fail "the Dockerfile runs it as root"
# Nextflow and others run `IMAGE /bin/bash ...`
! grep '^ENTRYPOINT' container/Dockerfile || fail "an entry point takes the commands of pipelines for its own arguments"
examples=$(sed -e ':a; /\\$/ { N; s/\\\n#* *//; ba }' container/Dockerfile | grep 'docker run')
[[ $examples == *'--user "$(id -u):$(id -g)" '*' zerohop zerohop align '* ]] ||
    fail "the example runs no command in the image, or not as the user whose folder it is: $examples"
[ "$(grep -c '^FROM ' container/Dockerfile)" = 2 ] || fail "the Dockerfile has not two stages"
[ "$(grep -c '^Stage: ' container/zerohop.def)" = 2 ] || fail "the definition has not two stages"
if [ -x "$HADOLINT" ]; then
    # DL3008 wants versions of packages, which Debian removes when there are newer ones
    "$HADOLINT" --failure-threshold warning --ignore DL3008 container/Dockerfile
fi
