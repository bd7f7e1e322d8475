//! What can be wrong with a description.

/// Why a text is not a machine as hwloc describes one. Lines are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum HwlocError {
    /// The text is no XML, or one that was cut off.
    #[error("it is not well-formed XML: {0}")]
    Xml(roxmltree::Error),
    /// The text declares entities.
    #[error("it declares entities (<!ENTITY), which hwloc never does")]
    Entities,
    /// The text is XML of some other kind.
    #[error("its outermost element is <{0}>, where hwloc writes <topology>")]
    NotATopology(String),
    /// No object of type PU is there.
    #[error("it has no CPU, that is, no object of type PU")]
    NoCpus,
    /// An attribute is not there that its object always has.
    #[error("line {line}: this {object} has no attribute '{attribute}'")]
    Missing {
        /// The line where the object starts.
        line: u32,
        /// The object's type.
        object: String,
        /// The attribute's name.
        attribute: &'static str,
    },
    /// An attribute's value cannot be understood.
    #[error("line {line}: the attribute '{attribute}' is '{value}', which is not {wanted}")]
    Value {
        /// The line where the element starts.
        line: u32,
        /// The attribute's name.
        attribute: &'static str,
        /// Its value; of a long one the start.
        value: String,
        /// What it ought to be.
        wanted: &'static str,
    },
    /// Two NUMA nodes have the same number.
    #[error("line {line}: this is the second NUMANode with the os_index {id}")]
    Twice {
        /// The line where the second one starts.
        line: u32,
        /// The number.
        id: u32,
    },
    /// A matrix of distances is damaged.
    #[error("line {line}: these are not distances between the {nodes} NUMA nodes: {reason}")]
    Distances {
        /// The line where the matrix starts.
        line: u32,
        /// The number of nodes.
        nodes: usize,
        /// What is wrong.
        reason: String,
    },
}
