//! What a job is made of: everything that its output depends on, each under a name, so that it can be said what has
//! changed.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the beginning and the end of a file that stand for all of it.
const ENDS: u64 = 1 << 16;

/// What a job is made of, in words that are read by people (`job.json`) and compared by us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity(Vec<IdentityPart>);

/// One thing that the output depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct IdentityPart {
    what: String,
    is: String,
}

impl Identity {
    /// Of a job of this version of zerohop.
    pub fn new(command: &str) -> Self {
        Identity(Vec::new()).with("the command", command).with("the version of zerohop", env!("CARGO_PKG_VERSION"))
    }

    /// With one more thing that the output depends on. Each has a name of its own.
    pub fn with(mut self, what: &str, is: impl ToString) -> Self {
        self.0.push(IdentityPart { what: what.to_owned(), is: is.to_string() });
        self
    }

    /// With an option, given or not.
    pub fn with_option(self, option: &str, given: &Option<impl ToString>) -> Self {
        self.with(option, given.as_ref().map_or_else(|| NOT_GIVEN.to_owned(), ToString::to_string))
    }

    /// The things alone that `other` has, too.
    pub fn only(&self, other: &Identity) -> Self {
        let is_there = |part: &&IdentityPart| other.0.iter().any(|other| other.what == part.what);
        Identity(self.0.iter().filter(is_there).cloned().collect())
    }

    /// What is not as it was in `before`, in words; nothing if both are the same job.
    pub fn changes_since(&self, before: &Identity) -> Vec<String> {
        let of = |identity: &Identity, what: &str| {
            let part = identity.0.iter().find(|part| part.what == what);
            part.map_or_else(|| NOT_GIVEN.to_owned(), |part| part.is.clone())
        };
        let is_new = |part: &&IdentityPart| !before.0.iter().any(|old| old.what == part.what);
        let all = before.0.iter().chain(self.0.iter().filter(is_new));
        let pairs = all.map(|IdentityPart { what, .. }| (what, of(before, what), of(self, what)));
        pairs.filter(|(_, was, is)| was != is).map(|(what, was, is)| format!("{what}: {was} then, {is} now")).collect()
    }
}

/// Stands for an option that was not given.
const NOT_GIVEN: &str = "not given";

/// The length of a file, its first bytes and its last: enough to tell files apart that are too large to be read.
///
/// # Errors
/// A file that cannot be read.
pub fn file_ends(path: &Path) -> std::io::Result<(u64, Vec<u8>, Vec<u8>)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    file.by_ref().take(ENDS).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(length.saturating_sub(ENDS)))?;
    file.take(ENDS).read_to_end(&mut last)?;
    Ok((length, first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_what_has_changed() {
        let job = |shards: usize| Identity::new("align").with("--shards", shards);
        assert_eq!(job(1).changes_since(&job(1)), Vec::<String>::new());
        assert_eq!(job(2).changes_since(&job(1)), ["--shards: 1 then, 2 now"]);
        let with = |rg: Option<&str>| job(1).with_option("--rg-id", &rg);
        assert_eq!(with(Some("x")).changes_since(&with(None)), ["--rg-id: not given then, x now"]);
        assert_eq!(job(1).changes_since(&with(Some("x"))), ["--rg-id: x then, not given now"]);
        assert_eq!(
            with(Some("x")).changes_since(&job(3)),
            ["--shards: 3 then, 1 now", "--rg-id: not given then, x now"]
        );
    }
}
