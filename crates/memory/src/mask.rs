//! Node masks as the kernel takes them: an array of words, bit N for node N.

use libc::c_ulong;
use zerohop_model::machine::NodeId;

const BITS: usize = c_ulong::BITS as usize;

/// No kernel takes nodes beyond this (`get_nodes` in `mm/mempolicy.c` allows a page of bits). Greater ids are cut to
/// it, so that the kernel refuses them instead of this process filling its memory with zero bits.
const HIGHEST: u32 = (1 << 16) - 1;

/// A set of NUMA nodes of any size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeMask {
    pub(crate) words: Vec<c_ulong>,
}

impl NodeMask {
    /// The mask of these nodes.
    ///
    /// ```
    /// use zerohop_memory::NodeMask;
    /// use zerohop_model::machine::NodeId;
    /// assert_eq!(NodeMask::new(&[NodeId(0), NodeId(70)]).nodes(), [NodeId(0), NodeId(70)]);
    /// ```
    pub fn new(nodes: &[NodeId]) -> Self {
        let mut mask = Self::EMPTY;
        for node in nodes {
            let bit = node.0.min(HIGHEST) as usize;
            if mask.words.len() <= bit / BITS {
                mask.words.resize(bit / BITS + 1, 0);
            }
            mask.words[bit / BITS] |= 1 << (bit % BITS);
        }
        mask
    }

    /// No node, and no room for any.
    pub(crate) const EMPTY: Self = Self { words: Vec::new() };

    /// No node, with room for at least `bits`: for the kernel to write to.
    pub(crate) fn with_room(bits: usize) -> Self {
        Self { words: vec![0; bits.div_ceil(BITS)] }
    }

    /// The nodes, ascending.
    pub fn nodes(&self) -> Vec<NodeId> {
        let bits = (0u32..).take(self.words.len() * BITS);
        bits.filter(|&bit| self.words[bit as usize / BITS] >> (bit as usize % BITS) & 1 == 1).map(NodeId).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_go_in_and_come_out() {
        for ids in [vec![], vec![0], vec![63], vec![64], vec![0, 1, 63, 64, 127, 1023]] {
            let nodes: Vec<NodeId> = ids.iter().copied().map(NodeId).collect();
            let mask = NodeMask::new(&nodes);
            assert_eq!(mask.nodes(), nodes);
            assert_eq!(mask.words.len(), ids.last().map_or(0, |id| *id as usize / BITS + 1));
        }
    }

    #[test]
    fn absurd_ids_do_not_fill_the_memory() {
        assert_eq!(NodeMask::new(&[NodeId(u32::MAX)]).nodes(), [NodeId(HIGHEST)]);
        assert_eq!(NodeMask::with_room(1000).words.len(), 1000usize.div_ceil(BITS));
    }
}
