//! Where memory was to lie, and where it was found.

use crate::heat::{Cell, Heat};
use crate::summary::{Summary, percent};
use crate::text::{percent_on, wanted};
use zerohop_model::machine::NodeId;
use zerohop_model::measurement::PageCensus;
use zerohop_model::plan::{Pages, Placement};

/// A piece of memory: whose it is, the copy that it belongs to, what was asked for, what was found.
type PlacementPiece<'s> = (String, usize, &'s Placement, &'s PageCensus);

impl Summary {
    /// The memory of index copies and instances.
    fn pieces(&self) -> Vec<PlacementPiece<'_>> {
        let copies = self.replicas.iter().enumerate().map(|(i, copy)| {
            let refused = if copy.refused.is_empty() { "" } else { " (refused)" };
            (format!("copy {i}{refused}"), i, &copy.placement, &copy.census)
        });
        let instances = self.run.instances.iter().enumerate().flat_map(|(i, instance)| {
            let (copy, asked) = (instance.plan.replica, &instance.plan.placement);
            [("its own", &instance.private), ("shared index", &instance.shared)]
                .map(|(what, census)| (format!("instance {i}, {what}"), copy, asked, census))
        });
        copies.chain(instances).filter(|(_, _, _, census)| census.present.0 > 0).collect()
    }

    /// Whose memory was found where, with the copy that it belongs to.
    pub(crate) fn found(&self) -> Vec<(String, usize, &PageCensus)> {
        self.pieces().into_iter().map(|(name, copy, _, census)| (name, copy, census)).collect()
    }

    /// A row per copy and instance, a column per node; none if no memory was looked at.
    pub(crate) fn placement(&self) -> Option<Heat> {
        let nodes: Vec<NodeId> = self.machine.nodes.iter().map(|node| node.id).collect();
        let mut head = vec![String::new(), "asked for".to_owned()];
        head.extend(nodes.iter().map(|node| format!("node {node}")));
        head.extend(["found".to_owned(), "huge pages".to_owned()]);
        let share = |(asked, census): (&Placement, &PageCensus), node: NodeId| {
            let part = percent_on(census, node);
            let binds = matches!(asked.pages, Pages::Local | Pages::Interleave);
            Cell {
                text: format!("{part:.1} %"),
                dark: Some(part / 100.0),
                framed: binds && asked.nodes.contains(&node),
            }
        };
        let row = |(name, _, asked, census): PlacementPiece<'_>| {
            let mut row: Vec<Cell> = vec![name.into(), wanted(asked).into()];
            row.extend(nodes.iter().map(|&node| share((asked, census), node)));
            let huge = percent(census.huge.0, census.present.0);
            row.extend([Cell::from(census.present.to_string()), Cell::from(format!("{huge:.0} %"))]);
            row
        };
        let rows: Vec<Vec<Cell>> = self.pieces().into_iter().map(row).collect();
        let title = "Part of the pages on each node (framed: the nodes that were asked for)".to_owned();
        (!rows.is_empty()).then_some(Heat { title, head, rows })
    }
}
