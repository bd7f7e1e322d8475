#!/bin/bash
# The crates as crates.io would get them: each can be packaged, has its licence, and one version for all. With LONG=1
# each is compiled from its package, as others would.
source "$(dirname "$0")/lib.sh"
cd "$ROOT"

version=$(workspace_version)
echo "--- one version: $version"
head -n 40 CHANGELOG.md | grep -q "^## $version\b" || fail "CHANGELOG.md begins with another version than $version"
cargo metadata --format-version 1 --no-deps --offline > "$WORK/metadata.json"
python3 - "$version" "$WORK/metadata.json" > "$WORK/published" << 'PYTHON'
import json, sys
version, packages = sys.argv[1], json.load(open(sys.argv[2]))["packages"]
for package in packages:
    if package["version"] != version:
        sys.exit(f"{package['name']} is {package['version']}")
    if package["publish"] == []:
        continue
    for dependency in package["dependencies"]:
        if dependency.get("path") and dependency["req"] not in (f"^{version}", "*"):
            sys.exit(f"{package['name']} wants {dependency['name']} {dependency['req']}")
    for field in ("description", "license", "keywords", "categories", "rust_version"):
        if not package[field]:
            sys.exit(f"{package['name']} has no {field}")
    print(package["name"])
PYTHON
published=$(wc -l < "$WORK/published")
[ "$published" -gt 20 ] || fail "only $published crates would be published"

echo "--- $published crates are packaged"
rest=()
[ -n "$LONG" ] || rest=(--no-verify)
cargo package -q --locked --offline --allow-dirty --target-dir "${CARGO_TARGET_DIR:-target}/packages" "${rest[@]}" \
    $(sed 's/^/-p /' "$WORK/published")
for crate in $(cat "$WORK/published"); do
    tar -tzf "${CARGO_TARGET_DIR:-target}/packages/package/$crate-$version.crate" > "$WORK/list"
    grep -q "/LICENSE$" "$WORK/list" || fail "$crate has no LICENSE"
    ! grep -E '/(target|\.tools)/' "$WORK/list" || fail "$crate has too much"
done
tar -xzOf "${CARGO_TARGET_DIR:-target}/packages/package/zerohop-cli-$version.crate" "zerohop-cli-$version/LICENSE" |
    cmp - LICENSE
