//! The workspace's packages, as `cargo metadata` tells them.

use serde_json::Value;
use std::process::Command;

/// One package of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name in Cargo.toml.
    pub name: String,
    /// Its folder, absolute.
    pub directory: String,
    /// Its folder as seen from the workspace's root, for example `crates/model`.
    pub place: String,
    /// Places of the workspace's packages that its normal and build dependencies name.
    pub imports: Vec<String>,
    /// Names of its other normal and build dependencies.
    pub libraries: Vec<String>,
}

/// The packages of the workspace.
pub fn packages() -> Result<Vec<Package>, String> {
    parse(&metadata(&["--offline", "--no-deps"])?)
}

/// What `cargo metadata` says.
pub fn metadata(options: &[&str]) -> Result<Value, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .args(options)
        .output()
        .map_err(|error| format!("cargo metadata does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

fn parse(metadata: &Value) -> Result<Vec<Package>, String> {
    let root = text(metadata, "workspace_root")?;
    list(metadata, "packages")?.iter().map(|package| parse_package(package, root)).collect()
}

fn parse_package(package: &Value, root: &str) -> Result<Package, String> {
    let manifest = text(package, "manifest_path")?;
    let directory = manifest.trim_end_matches("/Cargo.toml");
    let (mut imports, mut libraries) = (Vec::new(), Vec::new());
    for dependency in list(package, "dependencies")? {
        if dependency["kind"].as_str() == Some("dev") {
            continue;
        }
        match dependency["path"].as_str() {
            Some(path) => imports.push(place(path, root)),
            None => libraries.push(text(dependency, "name")?.to_owned()),
        }
    }
    Ok(Package {
        name: text(package, "name")?.into(),
        directory: directory.into(),
        place: place(directory, root),
        imports,
        libraries,
    })
}

fn place(directory: &str, root: &str) -> String {
    directory.strip_prefix(root).unwrap_or(directory).trim_start_matches('/').to_owned()
}

/// The text under `key`.
pub fn text<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    value[key].as_str().ok_or_else(|| format!("cargo metadata: no text {key}"))
}

/// The list under `key`.
pub fn list<'v>(value: &'v Value, key: &str) -> Result<&'v Vec<Value>, String> {
    value[key].as_array().ok_or_else(|| format!("cargo metadata: no list {key}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keeps_normal_and_build_dependencies_inside_the_workspace() {
        let metadata = json!({ "workspace_root": "/w", "packages": [{
            "name": "zerohop-runtime", "manifest_path": "/w/crates/runtime/Cargo.toml",
            "dependencies": [
                { "name": "zerohop-model", "kind": null, "path": "/w/crates/model" },
                { "name": "zerohop-memory", "kind": "build", "path": "/w/crates/memory" },
                { "name": "zerohop-input", "kind": "dev", "path": "/w/crates/input" },
                { "name": "libc", "kind": null },
            ],
        }]});
        let packages = parse(&metadata).unwrap();
        assert_eq!(packages[0].place, "crates/runtime");
        assert_eq!(packages[0].imports, ["crates/model", "crates/memory"]);
        assert_eq!(packages[0].libraries, ["libc"]);
    }

    #[test]
    fn says_what_is_missing() {
        assert_eq!(parse(&json!({ "workspace_root": "/w" })).unwrap_err(), "cargo metadata: no list packages");
    }
}
