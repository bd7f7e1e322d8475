//! What an index is made with.

use std::path::{Path, PathBuf};

/// Which k-mers of the reference an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexParameters {
    /// Bases of a k-mer (`-k`), 1 to 28.
    pub k: usize,
    /// Of so many k-mers in a row one is held at least (`-w`), 1 to 255.
    pub w: usize,
    /// Whether runs of one base count as one base (`-H`).
    pub homopolymers: bool,
}

impl Default for IndexParameters {
    fn default() -> Self {
        IndexParameters { k: 15, w: 10, homopolymers: false }
    }
}

impl IndexParameters {
    /// The name of the index file of the reference at `path`: presets with the same parameters share it.
    ///
    /// ```
    /// use zerohop_engine_rammap::IndexParameters;
    /// let path = IndexParameters::default().path("ref.fa".as_ref());
    /// assert_eq!(path, std::path::Path::new("ref.fa.k15w10.zhi"));
    /// ```
    pub fn path(&self, reference: &Path) -> PathBuf {
        let mut name = reference.as_os_str().to_owned();
        let IndexParameters { k, w, homopolymers } = self;
        name.push(format!(".k{k}w{w}{}.zhi", if *homopolymers { "H" } else { "" }));
        PathBuf::from(name)
    }

    /// The same with the option of zerohop before them, and a space before all.
    pub(crate) fn arguments(&self) -> String {
        format!(" --engine-args '{}'", self.words())
    }

    /// The options that ask for them, as they are typed.
    pub fn words(&self) -> String {
        let IndexParameters { k, w, homopolymers } = self;
        format!("-k {k} -w {w}{}", if *homopolymers { " -H" } else { "" })
    }
}
