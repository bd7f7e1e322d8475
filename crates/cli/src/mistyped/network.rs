//! Files on the network, which zerohop does not read: how they come to it.

use zerohop_process::quoted;

/// Whether a name is of a file on the network.
pub(super) fn is_url(name: &str) -> bool {
    ["http://", "https://", "ftp://", "s3://", "gs://"].iter().any(|scheme| name.starts_with(scheme))
}

/// The last part of a name: that of a copy here.
pub(super) fn copy(url: &str) -> String {
    url.rsplit('/').find(|part| !part.is_empty()).unwrap_or(url).to_owned()
}

/// The command that copies a file to this folder.
pub(super) fn fetch(url: &str) -> String {
    let name = quoted(url);
    match url.split_once("://") {
        Some(("s3", _)) => format!("aws s3 cp {name} ."),
        Some(("gs", _)) => format!("gcloud storage cp {name} ."),
        _ => format!("curl -sSfLO {name}"),
    }
}

/// The command that writes a file to standard output.
pub(super) fn stream(url: &str) -> String {
    let name = quoted(url);
    match url.split_once("://") {
        Some(("s3", _)) => format!("aws s3 cp {name} -"),
        Some(("gs", _)) => format!("gcloud storage cat {name}"),
        _ => format!("curl -sSfL {name}"),
    }
}
