//! A machine drawn as a box per node: its memory, its CPUs, and which workers and index copies were put there.

use crate::colour::{css, ink};
use crate::escape::escaped;
use crate::heat::{Dark, Heat};
use crate::lanes::chip;
use crate::text::percent_on;
use zerohop_model::machine::{CpuId, Machine, Node};
use zerohop_model::measurement::PageCensus;
use zerohop_model::plan::Plan;

/// The most lines about copies in one box.
const MOST_LINES: usize = 8;

/// A machine, and what was put on it.
#[derive(Debug, Clone, Copy)]
pub struct Topology<'r> {
    /// The machine.
    pub machine: &'r Machine,
    /// Where workers and copies were to go.
    pub plan: Option<&'r Plan>,
    /// Where memory was found: whose it is, the copy that it belongs to, and its pages.
    pub found: &'r [(String, usize, &'r PageCensus)],
}

impl Topology<'_> {
    pub(crate) fn html(&self) -> String {
        let nodes: String = self.machine.nodes.iter().map(|node| self.node(node)).collect();
        let unpinned = self.plan.map_or(0, |plan| plan.workers.iter().filter(|worker| worker.cpus.is_empty()).count());
        let unpinned = match unpinned {
            0 => String::new(),
            n => format!("<p class=\"note\">{n} of the workers are not pinned: the kernel chooses their CPUs.</p>\n"),
        };
        format!("<div class=\"nodes\">{nodes}</div>\n<p class=\"note\">{}</p>\n{unpinned}", self.legend())
    }

    /// What the firmware says of the distances; none for a machine of one node.
    pub(crate) fn distances(&self) -> Option<Heat> {
        let Machine { nodes, distances, .. } = self.machine;
        let head =
            std::iter::once("from \\ to".to_owned()).chain(nodes.iter().map(|node| node.id.to_string())).collect();
        let row = |(node, row): (&Node, &Vec<u32>)| (node.id.to_string(), row.iter().map(|&d| f64::from(d)).collect());
        let rows = nodes.iter().zip(distances).map(row).collect();
        let title = "Distances between nodes as the firmware gives them (10 = local; darker is farther)".to_owned();
        (nodes.len() > 1).then(|| Heat::matrix(title, head, rows, 0, Dark::High))
    }

    fn node(&self, node: &Node) -> String {
        let cpus: String = node.cpus.iter().map(|&cpu| self.cpu(cpu)).collect();
        let lines: String = self.lines(node).iter().map(|line| format!("<li>{line}</li>")).collect();
        let memory = match node.memory.0 {
            0 => "no memory".to_owned(),
            _ => format!("{} of memory, {} free", node.memory, node.free),
        };
        format!(
            "<section><h4>node {}</h4><p>{memory}</p><p class=\"cpus\">{cpus}</p><ul>{lines}</ul></section>\n",
            node.id
        )
    }

    /// A CPU in the colour of the copy that its workers read.
    fn cpu(&self, cpu: CpuId) -> String {
        let workers = self.plan.map_or(&[][..], |plan| &plan.workers);
        let mut copies = workers.iter().filter(|worker| worker.cpus.contains(&cpu)).map(|worker| worker.replica);
        match copies.next() {
            Some(copy) => format!("<b style=\"background:{};color:{}\">{cpu}</b>", css(copy), ink(copy)),
            None if self.machine.allowed.cpus.contains(&cpu) => format!("<b>{cpu}</b>"),
            None => format!("<b class=\"barred\">{cpu}</b>"),
        }
    }

    fn lines(&self, node: &Node) -> Vec<String> {
        let Some(plan) = self.plan else { return Vec::new() };
        let mut lines = Vec::new();
        for copy in 0..plan.replicas.len() {
            let here =
                |worker: &&zerohop_model::plan::WorkerPlan| worker.replica == copy && worker.node == Some(node.id);
            match plan.workers.iter().filter(here).count() {
                0 => {}
                1 => lines.push(format!("{}1 worker reads copy {copy}", chip(copy))),
                n => lines.push(format!("{}{n} workers read copy {copy}", chip(copy))),
            }
        }
        let share = |census: &PageCensus| percent_on(census, node.id);
        let here = self.found.iter().filter(|(_, _, census)| share(census) >= 0.05);
        let found = here.map(|(name, copy, census)| {
            format!("{}{}: {:.1} % of {} found here", chip(*copy), escaped(name), share(census), census.present)
        });
        lines.extend(found);
        if lines.len() > MOST_LINES {
            let more = lines.len() - MOST_LINES + 1;
            lines.truncate(MOST_LINES - 1);
            lines.push(format!("and {more} more, see the table"));
        }
        lines
    }

    fn legend(&self) -> &'static str {
        match self.plan {
            Some(_) => {
                "A CPU has the colour of the index copy that its workers read; white: no worker is pinned to it; \
                 struck through: not ours to use."
            }
            None => "White: a CPU that we may use; struck through: one that is not ours to use.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{machine, plan};
    use zerohop_model::machine::{Bytes, NodeId};

    #[test]
    fn workers_and_copies_are_in_their_boxes() {
        let (machine, plan) = (machine(2, 2), plan(2, 2));
        let census = PageCensus { present: Bytes(4096), per_node: vec![(NodeId(1), Bytes(4096))], huge: Bytes(0) };
        let found = [("copy <1>".to_owned(), 1, &census)];
        let topology = Topology { machine: &machine, plan: Some(&plan), found: &found };
        let html = topology.html();
        let (one, two) = html.split_once("<h4>node 1").unwrap();
        assert!(one.contains("2 workers read copy 0") && !one.contains("found here"), "{one}");
        assert!(two.contains("copy &lt;1&gt;: 100.0 % of 4.0 KiB found here"), "{two}");
        assert_eq!(topology.distances().unwrap().rows.len(), 2);
        let bare = Topology { machine: &machine, plan: None, found: &[] }.html();
        assert!(bare.contains("<b>0</b>") && bare.contains("node 1"), "{bare}");
    }
}
