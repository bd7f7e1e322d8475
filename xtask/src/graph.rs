//! A directed graph of names, and the search for a circle in it.

use std::collections::{BTreeMap, BTreeSet};

/// Who imports whom. A name that is only imported need not be a key.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// The first circle found, as a path that ends where it began: `a -> b -> a`.
pub fn circle(graph: &Graph) -> Option<Vec<String>> {
    let mut search = Search { graph, path: Vec::new(), finished: BTreeSet::new() };
    graph.keys().find_map(|name| search.visit(name))
}

struct Search<'g> {
    graph: &'g Graph,
    path: Vec<&'g str>,
    finished: BTreeSet<&'g str>,
}

impl<'g> Search<'g> {
    fn visit(&mut self, name: &'g str) -> Option<Vec<String>> {
        if let Some(start) = self.path.iter().position(|&on_path| on_path == name) {
            return Some(self.path[start..].iter().copied().chain([name]).map(str::to_owned).collect());
        }
        if self.finished.contains(name) {
            return None;
        }
        self.path.push(name);
        let graph = self.graph;
        let found = graph.get(name).into_iter().flatten().find_map(|next| self.visit(next));
        self.path.pop();
        self.finished.insert(name);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        edges.iter().map(|(from, to)| (from.to_string(), to.iter().map(|name| name.to_string()).collect())).collect()
    }

    #[test]
    fn finds_no_circle_in_a_diamond() {
        assert_eq!(circle(&graph(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])])), None);
    }

    #[test]
    fn names_the_circle_and_nothing_that_leads_to_it() {
        let found = circle(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &["b"])]));
        assert_eq!(found.map(|path| path.join(" -> ")).as_deref(), Some("b -> c -> d -> b"));
    }

    #[test]
    fn a_module_that_imports_itself_is_a_circle() {
        assert_eq!(circle(&graph(&[("a", &["a"])])), Some(vec!["a".into(), "a".into()]));
    }
}
