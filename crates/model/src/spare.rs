//! Buffers that threads of several nodes use one after the other. The pages of a buffer lie on the node of the thread
//! that wrote to them first; so it goes back to threads of that node.

use crate::machine::NodeId;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

thread_local! {
    static NODE: Cell<NodeId> = const { Cell::new(NodeId(0)) };
}

/// Says on which node this thread works.
pub fn set_node(node: NodeId) {
    NODE.set(node);
}

/// The node on which this thread works, if it was said; node 0 otherwise.
pub fn node() -> NodeId {
    NODE.get()
}

/// Buffers that are used up. A mutex around a few pointers: it is taken once for each megabyte or so.
///
/// ```
/// use zerohop_model::machine::NodeId;
/// use zerohop_model::spare::{Spare, node, set_node};
/// let spare = Spare::new(2);
/// spare.give_back(NodeId(1), vec![1, 2, 3]);
/// assert_eq!(spare.take(), None); // we are on node 0
/// set_node(NodeId(1));
/// assert_eq!(spare.take(), Some(vec![1, 2, 3]));
/// ```
#[derive(Debug)]
pub struct Spare<T = u8> {
    /// All of them, on all nodes.
    most: usize,
    by_node: Mutex<BTreeMap<NodeId, Vec<Vec<T>>>>,
}

impl<T> Spare<T> {
    /// Keeps so many buffers at most; the memory of others is given back.
    pub fn new(most: usize) -> Self {
        Spare { most, by_node: Mutex::default() }
    }

    /// A buffer of this thread's node, with what it held before.
    pub fn take(&self) -> Option<Vec<T>> {
        self.by_node.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&node())?.pop()
    }

    /// Keeps a buffer that threads of `node` wrote to first.
    pub fn give_back(&self, node: NodeId, buffer: Vec<T>) {
        let mut by_node = self.by_node.lock().unwrap_or_else(PoisonError::into_inner);
        if by_node.values().map(Vec::len).sum::<usize>() < self.most {
            by_node.entry(node).or_default().push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_kept_than_wanted() {
        let spare = Spare::new(2);
        (0..3).for_each(|i| spare.give_back(NodeId(i), vec![i as u8]));
        let take = |node| {
            set_node(NodeId(node));
            spare.take()
        };
        assert_eq!([take(2), take(1), take(1), take(0)], [None, Some(vec![1]), None, Some(vec![0])]);
        spare.give_back(NodeId(0), vec![7]);
        assert_eq!(spare.take(), Some(vec![7]));
    }
}
