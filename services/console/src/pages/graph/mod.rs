//! The graph of skills and of the things that memories name: a picture, and the same as a list.

mod layout;

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::EntityId;
use knowhow_domain::graph::EntityKind;
use knowhow_ops::graph::{self, EdgeKind, Graph, GraphNode, LookAround};
use serde::Deserialize;

use self::layout::{HEIGHT, Point, WIDTH, place};
use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::Line;
use crate::visit::Visit;

/// Number of nodes with a visible name. The other names appear on pointing at their nodes, and in the list.
const NAMES: usize = 40;

/// Types of relations to filter by, with their words.
const KINDS: [(&str, &str); 8] = [
    ("requires", "requires"),
    ("complements", "works well with"),
    ("extends", "extends"),
    ("often_used_with", "is often used with"),
    ("enables", "hands over to"),
    ("supersedes", "replaces"),
    ("see_also", "refers to"),
    ("named_together", "is named together with"),
];

#[derive(Default, Deserialize)]
pub struct GraphFilters {
    #[serde(default)]
    around: String,
    #[serde(default)]
    types: String,
    #[serde(default)]
    depth: String,
}

struct NodeMark {
    name: Line,
    /// The graph around this node.
    path: String,
    x: i32,
    y: i32,
    radius: i32,
    is_skill: bool,
    is_start: bool,
    has_name: bool,
    /// End of the name that is at the node: a name near an edge of the picture must not leave it.
    anchor: &'static str,
}

struct EdgeLine {
    from: Point,
    to: Point,
    /// True for a relation that no author has stated.
    is_computed: bool,
}

struct EdgeRow {
    from: Line,
    from_path: String,
    kind: &'static str,
    to: Line,
    to_path: String,
    strength: String,
    mentions: i32,
}

#[derive(Template)]
#[template(path = "graph.html")]
struct GraphPage {
    layout: Layout,
    filters: GraphFilters,
    kinds: [(&'static str, &'static str); 8],
    width: i32,
    height: i32,
    nodes: Vec<NodeMark>,
    lines: Vec<EdgeLine>,
    rows: Vec<EdgeRow>,
    is_cut: bool,
}

/// Shows the graph around a node, or the nodes with the strongest relations.
pub async fn show(visit: Visit, filters: Query<GraphFilters>) -> Result<HttpResponse, Failure> {
    let filters = filters.into_inner();
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let depth = if filters.depth == "2" { 2 } else { 1 };
    let query = LookAround { around: given(&filters.around), depth: Some(depth), types: given(&filters.types) };
    let graph = graph::look_around(&visit.ctx, &query).await?;
    let places = places_of(&visit, &graph).await?;
    let api = link::query(&[
        ("around", query.around.as_deref()),
        ("depth", Some(&depth.to_string())),
        ("types", query.types.as_deref()),
    ]);
    let degrees = degrees_of(&graph);
    let is_start = |node: &GraphNode| {
        query.around.as_ref().is_some_and(|around| *around == node.name || *around == node.id.to_string())
    };
    let mut by_degree: Vec<_> = (0..graph.nodes.len()).collect();
    by_degree.sort_by_key(|at| std::cmp::Reverse(degrees.get(*at).copied().unwrap_or_default()));
    let named: Vec<_> = by_degree.into_iter().take(NAMES).collect();
    let marks =
        graph.nodes.iter().zip(&places).zip(&degrees).enumerate().map(|(at, ((node, place), degree))| NodeMark {
            name: node.name.as_str().into(),
            path: graph_around(node, &filters),
            x: place.x,
            y: place.y,
            radius: 5 + i32::try_from((*degree).min(9)).unwrap_or_default(),
            is_skill: node.kind == EntityKind::Skill,
            is_start: is_start(node),
            has_name: named.contains(&at) || is_start(node),
            anchor: match place.x {
                ..150 => "start",
                x if x > WIDTH - 150 => "end",
                _ => "middle",
            },
        });
    let marks = marks.collect();
    let (lines, rows) = edges_of(&graph, &places);
    page(&GraphPage {
        layout: Layout::new(&visit, Section::Graph, "Graph")
            .with_calls(&visit, [ApiCall::get(format!("/v1/graph{api}"))]),
        filters,
        kinds: KINDS,
        width: WIDTH,
        height: HEIGHT,
        nodes: marks,
        lines,
        rows,
        is_cut: graph.cut,
    })
}

/// Returns the name or id to look around a node.
fn around_of(node: &GraphNode) -> String {
    if node.kind == EntityKind::Skill { node.name.clone() } else { node.id.to_string() }
}

/// Returns the graph around a node, with the same types and depth.
fn graph_around(node: &GraphNode, filters: &GraphFilters) -> String {
    let query =
        [("around", Some(&*around_of(node))), ("types", Some(&*filters.types)), ("depth", Some(&*filters.depth))];
    format!("/console/graph{}", link::query(&query))
}

/// Returns the page of a node: that of a skill, or the graph around another entity.
fn page_of(node: &GraphNode) -> String {
    match node.kind {
        EntityKind::Skill => link::skill(&node.name),
        _ => graph_around(node, &GraphFilters::default()),
    }
}

fn positions(graph: &Graph) -> HashMap<EntityId, usize> {
    graph.nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect()
}

/// Returns the number of edges of each node.
fn degrees_of(graph: &Graph) -> Vec<usize> {
    let positions = positions(graph);
    let mut degrees = vec![0; graph.nodes.len()];
    for id in graph.edges.iter().flat_map(|edge| [edge.from, edge.to]) {
        if let Some(degree) = positions.get(&id).and_then(|at| degrees.get_mut(*at)) {
            *degree += 1;
        }
    }
    degrees
}

/// Computes the places of the nodes on a thread for intensive work.
async fn places_of(visit: &Visit, graph: &Graph) -> knowhow_domain::Result<Vec<Point>> {
    let positions = positions(graph);
    let ends = graph.edges.iter().filter_map(|edge| Some((*positions.get(&edge.from)?, *positions.get(&edge.to)?)));
    let (count, ends) = (graph.nodes.len(), ends.collect::<Vec<_>>());
    visit.ctx.app.admission.lay_out(&visit.ctx.principal, move || Ok(place(count, &ends))).await
}

fn edges_of(graph: &Graph, places: &[Point]) -> (Vec<EdgeLine>, Vec<EdgeRow>) {
    let positions = positions(graph);
    let ends = graph.edges.iter().filter_map(|edge| {
        let (from, to) = (*positions.get(&edge.from)?, *positions.get(&edge.to)?);
        let line = EdgeLine {
            from: *places.get(from)?,
            to: *places.get(to)?,
            is_computed: matches!(edge.kind, EdgeKind::OftenUsedWith | EdgeKind::NamedTogether),
        };
        let (from, to) = (graph.nodes.get(from)?, graph.nodes.get(to)?);
        let row = EdgeRow {
            from: from.name.as_str().into(),
            from_path: page_of(from),
            kind: words(edge.kind),
            to: to.name.as_str().into(),
            to_path: page_of(to),
            strength: format!("{:.2}", edge.strength),
            mentions: edge.mentions,
        };
        Some((line, row))
    });
    ends.unzip()
}

/// Returns a type of relation in words, from the start node to the end node.
fn words(kind: EdgeKind) -> &'static str {
    let place = match kind {
        EdgeKind::Requires => 0,
        EdgeKind::Complements => 1,
        EdgeKind::Extends => 2,
        EdgeKind::OftenUsedWith => 3,
        EdgeKind::Enables => 4,
        EdgeKind::Supersedes => 5,
        EdgeKind::SeeAlso => 6,
        EdgeKind::NamedTogether => 7,
    };
    KINDS.get(place).map_or("", |(_, words)| words)
}
