//! What is linked into the programs, as `cargo metadata` tells it.

use crate::workspace;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The programs that people get.
const PROGRAMS: [&str; 2] = ["zerohop-cli", "zerohop-lab"];

/// The packages that the programs are made of, those of the workspace among them, in the order of their ids.
pub fn packages(metadata: &Value) -> Result<Vec<&Value>, String> {
    let packages = by_id(workspace::list(metadata, "packages")?)?;
    let nodes = by_id(workspace::list(&metadata["resolve"], "nodes")?)?;
    let is_program = |package: &Value| PROGRAMS.iter().any(|name| package["name"] == *name);
    let mut open: Vec<&str> = packages.iter().filter(|(_, package)| is_program(package)).map(|(id, _)| *id).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !linked.insert(id) {
            continue;
        }
        let node = nodes.get(id).ok_or_else(|| format!("cargo metadata: no node {id}"))?;
        for dependency in workspace::list(node, "deps")? {
            let is_linked = workspace::list(dependency, "dep_kinds")?.iter().any(|kind| kind["kind"].is_null());
            if is_linked {
                open.push(workspace::text(dependency, "pkg")?);
            }
        }
    }
    Ok(linked.iter().filter_map(|id| packages.get(id)).copied().collect())
}

fn by_id(values: &[Value]) -> Result<BTreeMap<&str, &Value>, String> {
    values.iter().map(|value| Ok((workspace::text(value, "id")?, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_only_builds_or_tests_is_not_linked() {
        let dependency = |id, kind: Option<&str>| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        let names = ["zerohop-cli", "serde", "cc", "proptest", "itoa"];
        let metadata = json!({
            "packages": names.map(|name| json!({ "id": name, "name": name })),
            "resolve": { "nodes": [
                { "id": "zerohop-cli", "deps": [
                    dependency("serde", None), dependency("cc", Some("build")), dependency("proptest", Some("dev")),
                ]},
                { "id": "serde", "deps": [dependency("itoa", None)] },
                { "id": "itoa", "deps": [] },
                { "id": "cc", "deps": [] },
                { "id": "proptest", "deps": [] },
            ]},
        });
        let linked: Vec<_> = packages(&metadata).unwrap().into_iter().map(|package| &package["name"]).collect();
        assert_eq!(linked, ["itoa", "serde", "zerohop-cli"]);
    }
}
