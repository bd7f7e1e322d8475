//! Distances between nodes: `<distances2>` of version 2, `<distances>` of version 1.

use super::{Element, HwlocError, line, number, required, shortened, wrong};
use crate::nodes::LOCAL;
use std::str::FromStr;

/// `HWLOC_DISTANCES_KIND_MEANS_LATENCY` (`hwloc/distances.h`).
const LATENCY: u64 = 1 << 2;

/// What a file says of the ways between all nodes.
struct DistanceMatrix<'a> {
    element: Element<'a, 'a>,
    /// The nodes, in the order of rows and columns.
    ids: Vec<u32>,
    /// Row by row, in any unit.
    values: Vec<f64>,
}

/// A row per node in ascending order, scaled so that the nearest way has 10. `nodes` has their numbers in the order of
/// the text. Empty if there is no matrix that tells latencies between all of them.
pub(super) fn distances(topology: Element, nodes: &[u32]) -> Result<Vec<Vec<u32>>, HwlocError> {
    if nodes.len() < 2 {
        return Ok(vec![vec![LOCAL]]);
    }
    let matrix = match version_2(topology, nodes)? {
        Some(matrix) => Some(matrix),
        None => version_1(topology, nodes)?,
    };
    matrix.map_or(Ok(Vec::new()), |matrix| matrix.rows(nodes))
}

/// `<distances2 type="NUMANode" nbobjs="2" kind="5" indexing="os">` with the nodes' numbers in `<indexes>` and the
/// values in `<u64values>`, ten in each.
fn version_2<'a>(topology: Element<'a, 'a>, nodes: &[u32]) -> Result<Option<DistanceMatrix<'a>>, HwlocError> {
    for element in topology.children().filter(|child| child.has_tag_name("distances2")) {
        let between_nodes =
            element.attribute("type") == Some("NUMANode") && element.attribute("indexing") == Some("os");
        let latencies = number(element, "kind")?.unwrap_or(0) & LATENCY != 0;
        if between_nodes && latencies && required::<usize>(element, "nbobjs")? == nodes.len() {
            let ids = numbers(element, "indexes", nodes)?;
            let values = numbers::<u64>(element, "u64values", nodes)?.into_iter().map(|value| value as f64).collect();
            return Ok(Some(DistanceMatrix { element, ids, values }));
        }
    }
    Ok(None)
}

/// The numbers in all children of that name.
fn numbers<T: FromStr>(element: Element, name: &str, nodes: &[u32]) -> Result<Vec<T>, HwlocError> {
    let children = element.children().filter(|child| child.has_tag_name(name));
    let words = children.flat_map(|child| child.text().unwrap_or_default().split_ascii_whitespace());
    let not_one = |word| damaged(element, nodes, format!("'{}' in <{name}> is not a number", shortened(word)));
    words.map(|word| word.parse().map_err(|_| not_one(word))).collect()
}

/// `<distances nbobjs="2" relative_depth="1" latency_base="10.0">`, anywhere, with `<latency value="1.0"/>` row by row.
/// The base, a factor of all, does not matter, and of what objects they are the distances is seen from their number.
fn version_1<'a>(topology: Element<'a, 'a>, nodes: &[u32]) -> Result<Option<DistanceMatrix<'a>>, HwlocError> {
    for element in topology.descendants().filter(|element| element.has_tag_name("distances")) {
        if required::<usize>(element, "nbobjs")? == nodes.len() {
            let latencies = element.children().filter(|child| child.has_tag_name("latency"));
            let values = latencies.map(latency).collect::<Result<_, _>>()?;
            return Ok(Some(DistanceMatrix { element, ids: nodes.to_vec(), values }));
        }
    }
    Ok(None)
}

fn latency(element: Element) -> Result<f64, HwlocError> {
    let value: f64 = required(element, "value")?;
    let fits = value.is_finite() && value >= 0.0;
    if fits { Ok(value) } else { Err(wrong(element, "value", &value.to_string(), "a latency")) }
}

impl DistanceMatrix<'_> {
    fn rows(&self, nodes: &[u32]) -> Result<Vec<Vec<u32>>, HwlocError> {
        let damaged = |reason| damaged(self.element, nodes, reason);
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        order.sort_by_key(|&at| self.ids[at]);
        let mut sorted = nodes.to_vec();
        sorted.sort_unstable();
        if !order.iter().map(|&at| self.ids[at]).eq(sorted) {
            return Err(damaged("they are between other nodes".to_owned()));
        }
        let count = nodes.len();
        if Some(self.values.len()) != count.checked_mul(count) {
            return Err(damaged(format!("there are {} values", self.values.len())));
        }
        let value = |from: usize, to: usize| self.values[from * count + to];
        let local = (0..count).map(|at| value(at, at)).fold(f64::INFINITY, f64::min);
        if local <= 0.0 {
            return Err(damaged("a node is at no distance from itself".to_owned()));
        }
        // Exact for what firmware tells, for that has the local distance 10.
        let scaled = |value: f64| (value * f64::from(LOCAL) / local).round() as u32;
        Ok(order.iter().map(|&from| order.iter().map(|&to| scaled(value(from, to))).collect()).collect())
    }
}

fn damaged(element: Element, nodes: &[u32], reason: String) -> HwlocError {
    HwlocError::Distances { line: line(element), nodes: nodes.len(), reason }
}
