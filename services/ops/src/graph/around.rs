//! A part of the graph, for a console to draw: breadth first from one thing, and saying what was left out.

mod walk;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use knowhow_domain::graph::{EntityKind, RelationSource, RelationType};
use knowhow_domain::{EntityId, Error, Result, Scope};
use knowhow_store::graph::{self, AskedEdges, Edge, Node};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use self::walk::Walk;
use super::knowledge::standing_of;
use crate::Ctx;
use crate::dear::Line;

/// Graphs that a process reads at once, and those of one tenant among them.
const AT_ONCE: usize = 4;
const OF_TENANT: usize = 2;
static LINE: LazyLock<Line> = LazyLock::new(|| Line::shared("graphs of this tenant", AT_ONCE, OF_TENANT));

/// Which part of the graph.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LookAround {
    /// A skill by name or id, or an entity by id; without it, the things with the strongest relations.
    #[param(max_length = 200)]
    pub around: Option<String>,
    /// Steps from there; by default 1.
    #[param(minimum = 1, maximum = 2)]
    pub depth: Option<u32>,
    /// Types of relations, joined by commas, e.g. `requires,complements`. `named_together` is one. By default all.
    #[param(max_length = 200)]
    pub types: Option<String>,
}

/// A part of the graph.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    /// At most 500.
    pub nodes: Vec<GraphNode>,
    /// At most 2,000, between these nodes.
    pub edges: Vec<GraphEdge>,
    /// Whether there is more within this depth.
    pub cut: bool,
}

/// A skill, or something that memories name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphNode {
    /// Its id; that of a skill is the skill's.
    #[schema(value_type = uuid::Uuid)]
    pub id: EntityId,
    /// What kind of thing it is.
    pub kind: EntityKind,
    /// What it is called.
    pub name: String,
    /// How many memories name it; 0 for who may not read memories.
    #[schema(minimum = 0)]
    pub memories: i64,
    /// Whether it comes from untrusted content alone.
    pub tainted: bool,
}

/// What two nodes have to do with each other.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    /// The node that it starts from.
    #[schema(value_type = uuid::Uuid)]
    pub from: EntityId,
    /// The other one.
    #[schema(value_type = uuid::Uuid)]
    pub to: EntityId,
    /// What the one is to the other.
    #[serde(rename = "type")]
    pub kind: EdgeKind,
    /// How a relation of skills came to be.
    pub source: Option<RelationSource>,
    /// 0 to 1.
    pub strength: f32,
    /// How often it was said, or how many memories name both.
    #[schema(minimum = 1)]
    pub mentions: i32,
}

/// What one node is to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// It cannot be followed without the other one.
    Requires,
    /// The two work well together.
    Complements,
    /// It goes on where the other one ends, or adds to it.
    Extends,
    /// The two were used together often.
    OftenUsedWith,
    /// What it makes is what the other one begins with.
    Enables,
    /// It stands in the other one's place.
    Supersedes,
    /// Its author points at the other one.
    SeeAlso,
    /// The same memories name both.
    NamedTogether,
}

const MOST_NODES: usize = 500;
const MOST_EDGES: usize = 2_000;
/// Edges of one thing, of each kind and direction.
const OF_EACH: i64 = 200;

/// The part of the graph around something.
///
/// # Errors
/// `NotFound` for a skill or entity that is not there; `Malformed` for a depth or type that cannot be; `RateLimited` if too many
/// wait.
pub async fn look_around(ctx: &Ctx, query: &LookAround) -> Result<Graph> {
    ctx.principal.require(Scope::SkillsRead)?;
    let depth = query.depth.unwrap_or(1);
    if !(1..=2).contains(&depth) {
        return Err(Error::Malformed(format!("depth must be 1 or 2, is {depth}")));
    }
    let _turn = LINE.turn(&ctx.principal).await?;
    let (types, with_memories) = read_types(query.types.as_deref())?;
    let with_memories = with_memories && ctx.principal.require(Scope::Memories).is_ok();
    let mut walk = Walk { nodes: HashSet::new(), edges: HashMap::new(), cut: false };
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
        // What memories name is theirs to tell.
        nodes.retain(|node| node.kind == EntityKind::Skill);
        nodes.iter_mut().for_each(|node| node.memories = 0);
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name).then(a.id.cmp(&b.id)));
    let mut edges: Vec<GraphEdge> = walk.edges.into_values().collect();
    edges.sort_by(|a, b| b.strength.total_cmp(&a.strength).then((a.from, a.to).cmp(&(b.from, b.to))));
    Ok(Graph { nodes, edges, cut: walk.cut })
}

/// Where the walk begins.
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
    Ok(vec![EntityId(standing_of(ctx, around).await?.id.0)])
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
                let detail = format!("'{word}' is no type; there are {} and named_together", all.join(", "));
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
