//! Reads a part of the graph that a user interface can draw: a breadth-first walk from one node. The answer states
//! whether nodes or edges were omitted.

mod walk;

use std::collections::{HashMap, HashSet};

use knowhow_domain::graph::{EntityKind, RelationSource, RelationType};
use knowhow_domain::{EntityId, Error, Result, Scope};
use knowhow_store::graph::{self, AskedEdges, Edge, Node};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use self::walk::GraphWalk;
use super::knowledge::rank_of;
use crate::Ctx;

/// The part of the graph to read.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LookAround {
    /// A skill by name or id, or an entity by id; without it, the nodes with the strongest relations.
    #[param(max_length = 200)]
    pub around: Option<String>,
    /// Number of steps from the start; by default 1.
    #[param(minimum = 1, maximum = 2)]
    pub depth: Option<u32>,
    /// Types of relations, separated by commas, e.g. `requires,complements`. Memories that name both nodes count as
    /// type `named_together`. By default all.
    #[param(max_length = 200)]
    pub types: Option<String>,
}

/// A part of the graph.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    /// The nodes, at most 500.
    pub nodes: Vec<GraphNode>,
    /// The edges between these nodes, at most 2,000.
    pub edges: Vec<GraphEdge>,
    /// Whether nodes or edges within this depth were omitted.
    pub cut: bool,
}

/// A skill, or another entity that memories name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphNode {
    /// The entity's id; for a skill, the skill's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: EntityId,
    /// The kind of entity.
    pub kind: EntityKind,
    /// The entity's name.
    pub name: String,
    /// Number of memories that name the entity; 0 without the scope `memories`.
    #[schema(minimum = 0)]
    pub memories: i64,
    /// Whether all sources of the entity are untrusted.
    pub tainted: bool,
}

/// A relation between two nodes.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    /// The start node.
    #[schema(value_type = uuid::Uuid)]
    pub from: EntityId,
    /// The end node.
    #[schema(value_type = uuid::Uuid)]
    pub to: EntityId,
    /// The type of the relation.
    #[serde(rename = "type")]
    pub kind: EdgeKind,
    /// The origin of a relation between skills.
    pub source: Option<RelationSource>,
    /// The strength, 0 to 1.
    pub strength: f32,
    /// Number of statements of the relation, or of memories that name both nodes.
    #[schema(minimum = 1)]
    pub mentions: i32,
}

/// The type of a relation. It is read from the start node to the end node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The start cannot be followed without the end.
    Requires,
    /// Both skills work well together.
    Complements,
    /// The start continues or adds to the end.
    Extends,
    /// Both skills were often used together.
    OftenUsedWith,
    /// The start produces the input of the end.
    Enables,
    /// The start replaces the end.
    Supersedes,
    /// The author of the start refers to the end.
    SeeAlso,
    /// Memories name both nodes.
    NamedTogether,
}

const MOST_NODES: usize = 500;
const MOST_EDGES: usize = 2_000;
/// Maximum number of edges per node, kind and direction.
const OF_EACH: i64 = 200;

/// Reads the part of the graph around a node.
///
/// # Errors
/// `NotFound` for an unknown skill or entity; `Malformed` for an invalid depth or type; `RateLimited` if too many
/// requests are queued.
pub async fn look_around(ctx: &Ctx, query: &LookAround) -> Result<Graph> {
    ctx.principal.require(Scope::SkillsRead)?;
    let depth = query.depth.unwrap_or(1);
    if !(1..=2).contains(&depth) {
        return Err(Error::Malformed(format!("depth must be 1 or 2, is {depth}")));
    }
    let _turn = ctx.app.admission.graphs.turn(&ctx.principal).await?;
    let (types, with_memories) = read_types(query.types.as_deref())?;
    let with_memories = with_memories && ctx.principal.require(Scope::Memories).is_ok();
    let mut walk = GraphWalk { nodes: HashSet::new(), edges: HashMap::new(), cut: false };
    let mut border = begin(ctx, query.around.as_deref()).await?;
    walk.nodes.extend(border.iter().copied());
    for _ in 0..depth {
        let most = MOST_EDGES as i64 + 1;
        let asked = AskedEdges { types: &types, with_memories, of_each: OF_EACH + 1, most, now: ctx.now() };
        let edges = graph::list_edges(&ctx.app.db, &ctx.principal, &border, &asked).await?;
        border = walk.take(edges);
        if border.is_empty() {
            break;
        }
    }
    let ids: Vec<EntityId> = walk.nodes.iter().copied().collect();
    let mut nodes: Vec<GraphNode> =
        graph::list_nodes(&ctx.app.db, &ctx.principal, &ids).await?.into_iter().map(GraphNode::from).collect();
    if ctx.principal.require(Scope::Memories).is_err() {
        // Entities come from memories, so they require the scope `memories`.
        nodes.retain(|node| node.kind == EntityKind::Skill);
        nodes.iter_mut().for_each(|node| node.memories = 0);
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name).then(a.id.cmp(&b.id)));
    let mut edges: Vec<GraphEdge> = walk.edges.into_values().collect();
    edges.sort_by(|a, b| b.strength.total_cmp(&a.strength).then((a.from, a.to).cmp(&(b.from, b.to))));
    Ok(Graph { nodes, edges, cut: walk.cut })
}

/// Returns the start nodes of the walk.
async fn begin(ctx: &Ctx, around: Option<&str>) -> Result<Vec<EntityId>> {
    let Some(around) = around else {
        return graph::list_strongest(&ctx.app.db, &ctx.principal, MOST_NODES as i64 / 5).await;
    };
    if let Ok(id) = around.trim().parse::<EntityId>()
        && ctx.principal.require(Scope::Memories).is_ok()
        && !graph::list_nodes(&ctx.app.db, &ctx.principal, &[id]).await?.is_empty()
    {
        return Ok(vec![id]);
    }
    Ok(vec![EntityId(rank_of(ctx, around).await?.id.0)])
}

fn read_types(types: Option<&str>) -> Result<(Vec<RelationType>, bool)> {
    let Some(types) = types else { return Ok((RelationType::ALL.to_vec(), true)) };
    let (mut relations, mut with_memories) = (Vec::new(), false);
    for word in types.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match (word, word.parse::<RelationType>()) {
            ("named_together", _) => with_memories = true,
            (_, Ok(kind)) => relations.push(kind),
            (_, Err(_)) => {
                let all: Vec<&str> = RelationType::ALL.into_iter().map(RelationType::as_str).collect();
                let detail = format!("'{word}' is not a type; the types are {} and named_together", all.join(", "));
                return Err(Error::Malformed(detail));
            }
        }
    }
    Ok((relations, with_memories))
}

impl From<Node> for GraphNode {
    fn from(node: Node) -> Self {
        let Node { id, kind, name, memories, tainted } = node;
        Self { id, kind, name, memories, tainted }
    }
}

impl From<Edge> for GraphEdge {
    fn from(edge: Edge) -> Self {
        let Edge { from, to, kind, source, strength, mentions } = edge;
        Self { from, to, kind: kind.into(), source, strength, mentions }
    }
}

impl From<Option<RelationType>> for EdgeKind {
    fn from(kind: Option<RelationType>) -> Self {
        match kind {
            None => Self::NamedTogether,
            Some(RelationType::Requires) => Self::Requires,
            Some(RelationType::Complements) => Self::Complements,
            Some(RelationType::Extends) => Self::Extends,
            Some(RelationType::OftenUsedWith) => Self::OftenUsedWith,
            Some(RelationType::Enables) => Self::Enables,
            Some(RelationType::Supersedes) => Self::Supersedes,
            Some(RelationType::SeeAlso) => Self::SeeAlso,
        }
    }
}
