//! What the rule, pilots and the model speak of.

use serde::{Deserialize, Serialize};
use zerohop_model::plan::Pages;

/// So many copies of the index, under a page policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strategy {
    /// Copies, each on its own group of nodes.
    pub copies: usize,
    /// Where the pages of each go. With one copy, [`Pages::FirstTouch`] is the unchanged program ("original").
    pub pages: Pages,
}
