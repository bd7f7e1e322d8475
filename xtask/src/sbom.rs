//! A bill of materials in CycloneDX: every crate that is linked into the programs, with its version and licence.

use crate::{linked, workspace};
use serde_json::{Value, json};

/// What the compilers of C and C++ bring, and their licence.
const OF_GCC: [&str; 2] = ["libgcc", "libstdc++"];
const LICENCE_OF_GCC: &str = "GPL-3.0-or-later WITH GCC-exception-3.1";

/// The bill of the portable programs for `target`.
pub fn text(target: &str) -> Result<String, String> {
    let bill = bill(&workspace::metadata(&["--locked", "--filter-platform", target])?)?;
    serde_json::to_string_pretty(&bill).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn bill(metadata: &Value) -> Result<Value, String> {
    let packages = linked::packages(metadata)?;
    let program = packages
        .iter()
        .find(|package| package["name"] == "zerohop-cli")
        .ok_or("cargo metadata: no package zerohop-cli")?;
    let crates = packages.iter().filter(|package| !package["source"].is_null()).map(|package| component(package));
    let of_gcc = OF_GCC
        .iter()
        .map(|name| Ok(json!({ "type": "library", "name": name, "licenses": [{ "expression": LICENCE_OF_GCC }] })));
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": "zerohop",
            "name": "zerohop",
            "version": workspace::text(program, "version")?,
            "licenses": [{ "expression": workspace::text(program, "license")? }],
        }},
        "components": crates.chain(of_gcc).collect::<Result<Vec<_>, String>>()?,
    }))
}

fn component(package: &Value) -> Result<Value, String> {
    let (name, version) = (workspace::text(package, "name")?, workspace::text(package, "version")?);
    let address = format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"));
    Ok(json!({
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "purl": address,
        // a slash is an old form of OR, which SPDX does not know
        "licenses": [{ "expression": workspace::text(package, "license")?.replace('/', " OR ") }],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, source: Option<&str>, licence: &str) -> Value {
        json!({ "id": name, "name": name, "version": "1.0.0+x", "source": source, "license": licence })
    }

    #[test]
    fn every_crate_has_an_address_and_an_expression() {
        let metadata = json!({
            "packages": [package("zerohop-cli", None, "MIT"), package("memchr", Some("registry"), "Unlicense/MIT")],
            "resolve": { "nodes": [
                { "id": "zerohop-cli", "deps": [{ "pkg": "memchr", "dep_kinds": [{ "kind": null }] }] },
                { "id": "memchr", "deps": [] },
            ]},
        });
        let bill = bill(&metadata).unwrap();
        assert_eq!(bill["metadata"]["component"]["version"], "1.0.0+x");
        let components = bill["components"].as_array().unwrap();
        assert_eq!(components.len(), 1 + OF_GCC.len());
        assert_eq!(components[0]["purl"], "pkg:cargo/memchr@1.0.0%2Bx");
        assert_eq!(components[0]["licenses"][0]["expression"], "Unlicense OR MIT");
    }
}
