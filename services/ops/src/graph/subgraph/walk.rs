//! Walks the graph step by step, strongest edges first, within the limits of one answer.

use std::collections::{HashMap, HashSet};

use knowhow_domain::EntityId;
use knowhow_domain::graph::{RelationSource, RelationType};
use knowhow_store::graph::Edge;

use super::{GraphEdge, MOST_EDGES, MOST_NODES, OF_EACH};

/// The nodes and edges found so far.
pub(super) struct GraphWalk {
    pub(super) nodes: HashSet<EntityId>,
    pub(super) edges: HashMap<(EntityId, EntityId, &'static str, Option<RelationSource>), GraphEdge>,
    pub(super) cut: bool,
}

impl GraphWalk {
    /// Adds the edges of one step, strongest first. Returns the new nodes; the next step starts from them.
    pub(super) fn take(&mut self, edges: Vec<Edge>) -> Vec<EntityId> {
        let mut border = Vec::new();
        self.cut |= edges.len() > MOST_EDGES || has_more(&edges);
        for edge in edges {
            let new: Vec<EntityId> = [edge.from, edge.to].into_iter().filter(|id| !self.nodes.contains(id)).collect();
            if self.edges.len() >= MOST_EDGES || self.nodes.len() + new.len() > MOST_NODES {
                self.cut = true;
                continue;
            }
            self.nodes.extend(new.iter().copied());
            border.extend(new);
            let kind = edge.kind.map_or("named_together", RelationType::as_str);
            self.edges.insert((edge.from, edge.to, kind, edge.source), GraphEdge::from(edge));
        }
        border
    }
}

/// Returns whether a node has more edges of a kind and direction than the limit.
fn has_more(edges: &[Edge]) -> bool {
    let mut counts: HashMap<(EntityId, bool, bool), i64> = HashMap::new();
    edges.iter().flat_map(|edge| [(edge.from, true, edge.kind.is_some()), (edge.to, false, edge.kind.is_some())]).any(
        |end| {
            let count = counts.entry(end).or_default();
            *count += 1;
            *count > OF_EACH
        },
    )
}
