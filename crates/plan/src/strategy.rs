//! What the rule, pilots and the model speak of.

use serde::{Deserialize, Serialize};
use zerohop_model::plan::Pages;

/// What an aligner can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// It runs inside zerohop.
    Embedded,
    /// It is a program of its own.
    External {
        /// Whether several processes can share one copy of its index.
        shares: bool,
    },
}

/// So many copies of the index, under a page policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strategy {
    /// Copies, each on its own group of nodes; with more copies than nodes, several on each node.
    pub copies: usize,
    /// Where the pages of each go. With one copy, [`Pages::FirstTouch`] is the unchanged program ("original").
    pub pages: Pages,
}

/// In what strategies differ most: those of one kind stand and fall together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StrategyKind {
    /// One copy for all nodes.
    OneForAll,
    /// A copy for several nodes each.
    OnePerGroup,
    /// A copy on each node; with fewer threads than nodes, one for each thread.
    OnePerNode,
    /// Several copies on each node.
    SeveralPerNode,
}

/// What a strategy is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Size of one index copy, in bytes.
    pub index_bytes: u64,
    /// What kind of aligner reads it.
    pub engine: Engine,
    /// Threads of all copies together.
    pub threads: usize,
}

impl Strategy {
    /// Its kind, on so many nodes and with so many threads of all copies.
    pub(crate) fn kind(self, nodes: usize, threads: usize) -> StrategyKind {
        match self.copies {
            0 | 1 => StrategyKind::OneForAll,
            copies if copies > nodes => StrategyKind::SeveralPerNode,
            copies if copies == nodes || copies >= threads => StrategyKind::OnePerNode,
            _ => StrategyKind::OnePerGroup,
        }
    }
}

/// Numbers of copies on `nodes` nodes: one, those that divide the nodes evenly, and then several on each node.
///
/// Several on a node are for aligners that are programs of their own, as long as each has a thread: fewer threads then
/// wait for what only one thread of a program can do at a time. Workers of an embedded engine share no lock and no
/// allocator; a second copy on their node would only push the first one out of its caches.
pub(crate) fn copy_counts(nodes: usize, need: &Need) -> Vec<usize> {
    let groups = (1..=nodes).filter(|copies| nodes.is_multiple_of(*copies));
    let several = std::iter::successors(Some(2 * nodes), |copies| Some(2 * copies));
    let several = several.take_while(|copies| need.engine != Engine::Embedded && *copies <= need.threads);
    groups.chain(several).filter(|copies| *copies == 1 || *copies <= need.threads).collect()
}

/// All strategies on `nodes` nodes: each number of copies under each policy that makes a difference.
pub(crate) fn strategies(nodes: usize, need: &Need) -> Vec<Strategy> {
    let of_count = |copies: usize| {
        let pages: &[Pages] = match copies {
            1 if nodes == 1 => &[Pages::Local, Pages::FirstTouch, Pages::LocalAlloc, Pages::Interleave],
            1 => &[Pages::Interleave, Pages::FirstTouch, Pages::LocalAlloc],
            // On a single node there is nothing to interleave.
            _ if copies >= nodes => &[Pages::Local, Pages::LocalAlloc],
            _ => &[Pages::Interleave, Pages::Local, Pages::LocalAlloc],
        };
        pages.iter().map(move |&pages| Strategy { copies, pages })
    };
    copy_counts(nodes, need).into_iter().flat_map(of_count).collect()
}
