//! The frontmatter's YAML as a small tree with the byte range of each value.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StructureStyle, options};
use serde_json::{Map, Number, Value};

/// Maximum nesting depth, including the nodes that aliases refer to.
const DEPTH: usize = 64;
/// Maximum number of nodes, including the nodes that aliases refer to.
const NODES: usize = 20_000;
/// Number of bytes in a scalar that count as one more node.
const NODE_BYTES: usize = 32;

/// Notation of a scalar, as far as it affects the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A scalar without quotes. The value may be null, a boolean or a number.
    Plain,
    /// A scalar in quotes. The value is always a text.
    Quoted,
    /// A block scalar (`|` or `>`). The value is always a text.
    Block,
}

/// Kind and content of a node.
#[derive(Debug, Clone)]
pub(super) enum NodeContent {
    Scalar(String, Style),
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

/// A value and its position in the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) shape: NodeContent,
    /// Byte range in the frontmatter. For an alias, the range of the alias itself.
    pub(super) span: Range<usize>,
    /// Whether the value is written as `[...]` or `{...}`.
    pub(super) flow: bool,
    /// Whether the value has a tag (`!!int`, `!mine`) that may change its meaning.
    pub(super) tagged: bool,
    depth: usize,
    weight: usize,
}

/// Reason for rejecting the YAML.
#[derive(Debug)]
pub(super) enum Fault {
    /// Invalid YAML: byte position and the parser's message.
    Syntax(usize, String),
    /// Valid YAML that a skill must not contain.
    Structure(String),
}

impl Node {
    fn new(shape: NodeContent, span: Range<usize>, flow: bool) -> Self {
        let children: Vec<&Node> = match &shape {
            NodeContent::Scalar(..) => Vec::new(),
            NodeContent::Sequence(items) => items.iter().collect(),
            NodeContent::Mapping(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
        };
        let own = if let NodeContent::Scalar(text, _) = &shape { 1 + text.len() / NODE_BYTES } else { 1 };
        let depth = 1 + children.iter().map(|child| child.depth).max().unwrap_or(0);
        let weight = own + children.iter().map(|child| child.weight).sum::<usize>();
        Self { shape, span, flow, tagged: false, depth, weight }
    }

    /// Makes a node that has no position in a text.
    pub(super) fn made(shape: NodeContent) -> Self {
        Self::new(shape, 0..0, false)
    }

    pub(super) fn text(text: &str) -> Self {
        Self::made(NodeContent::Scalar(text.to_owned(), Style::Quoted))
    }

    /// Converts a JSON value to a node.
    pub(super) fn from_json(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(text),
            Value::Array(items) => Self::made(NodeContent::Sequence(items.iter().map(Self::from_json).collect())),
            Value::Object(map) => Self::made(NodeContent::Mapping(
                map.iter().map(|(key, value)| (Self::text(key), Self::from_json(value))).collect(),
            )),
            plain => Self::made(NodeContent::Scalar(plain.to_string(), Style::Plain)),
        }
    }

    /// Converts the node to JSON. A plain scalar becomes a number only if the number prints the same text: `1.10`
    /// stays a text.
    pub(super) fn to_json(&self) -> Value {
        match &self.shape {
            NodeContent::Scalar(text, Style::Plain) => plain_value(text),
            NodeContent::Scalar(text, _) => Value::String(text.clone()),
            NodeContent::Sequence(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeContent::Mapping(entries) => Value::Object(json_map(entries)),
        }
    }

    /// Returns the text of a scalar that is not null.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.shape {
            NodeContent::Scalar(text, _) if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Returns the entries of a mapping.
    pub(super) fn entries(&self) -> Option<&[(Node, Node)]> {
        if let NodeContent::Mapping(entries) = &self.shape { Some(entries) } else { None }
    }

    /// Returns the value of `key` in a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|(name, _)| name.key() == key).map(|(_, value)| value)
    }

    /// Returns the text of a key, even if it looks like null.
    pub(super) fn key(&self) -> &str {
        if let NodeContent::Scalar(text, _) = &self.shape { text } else { "" }
    }

    /// Checks whether this is an empty or null scalar.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.shape, NodeContent::Scalar(text, Style::Plain) if plain_value(text).is_null())
    }

    /// Checks whether both nodes have the same value, regardless of notation.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (&self.shape, &other.shape) {
            (NodeContent::Sequence(a), NodeContent::Sequence(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (NodeContent::Mapping(a), NodeContent::Mapping(b)) => {
                let pairs = || a.iter().zip(b);
                a.len() == b.len() && pairs().all(|(a, b)| a.0.key() == b.0.key() && a.1.same(&b.1))
            }
            (NodeContent::Scalar(..), NodeContent::Scalar(..)) => self.to_json() == other.to_json(),
            _ => false,
        }
    }
}

fn json_map(entries: &[(Node, Node)]) -> Map<String, Value> {
    entries.iter().map(|(key, value)| (key.key().to_owned(), value.to_json())).collect()
}

fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match number(text) {
            Some(number) if number.to_string() == text => Value::Number(number),
            _ => Value::String(text.to_owned()),
        },
    }
}

fn number(text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok()?;
    // The JSON parser may be off by one unit in the last place, so `str::parse` reads the float.
    if number.is_f64() { Number::from_f64(text.parse().ok()?) } else { Some(number) }
}

/// Parses one YAML document. Time and memory are bounded by the length of `text` and the node limit.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let mut options = options! { flow_nesting_limit: DEPTH, block_nesting_limit: DEPTH };
    options.set_emit_comments(false);
    let mut builder = NodeBuilder::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(syntax_fault)?;
        builder.take(event, &span)?;
    }
    builder.root.ok_or_else(|| Fault::Structure("the frontmatter is empty: name and description are needed".into()))
}

fn syntax_fault(error: ScanError) -> Fault {
    if matches!(error.kind(), granit_parser::ErrorKind::RecursionLimitExceeded) {
        return too_deep();
    }
    Fault::Syntax(error.marker().byte_offset().unwrap_or(0), error.info())
}

fn too_deep() -> Fault {
    Fault::Structure(format!("the frontmatter is nested too deeply: at most {DEPTH} levels"))
}

struct OpenNode {
    start: usize,
    flow: bool,
    anchor: usize,
    mapping: bool,
    tagged: bool,
    /// Items in a list, or keys and values of a mapping in alternation.
    nodes: Vec<Node>,
}

impl OpenNode {
    fn new(start: usize, style: StructureStyle, anchor: usize) -> Self {
        let flow = style == StructureStyle::Flow;
        Self { start, flow, anchor, mapping: false, tagged: false, nodes: Vec::new() }
    }
}

#[derive(Default)]
struct NodeBuilder {
    open: Vec<OpenNode>,
    anchors: HashMap<usize, Node>,
    root: Option<Node>,
    weight: usize,
}

impl NodeBuilder {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Fault> {
        let range = span.byte_range().unwrap_or(0..0);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let tagged = tag.is_some() && (!is_text || range.is_empty());
                let style = match style {
                    ScalarStyle::Plain if !is_text => Style::Plain,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                    _ => Style::Quoted,
                };
                // The parser reports a missing value as `~`.
                let text = if style == Style::Plain && range.is_empty() { String::new() } else { text.into_owned() };
                if text.contains('\0') {
                    return Err(Fault::Structure("a value of the frontmatter contains NUL; remove it".into()));
                }
                self.add(Node { tagged, ..Node::new(NodeContent::Scalar(text, style), range, false) }, anchor)
            }
            Event::Alias(target) => {
                let Some(node) = self.anchors.get(&target) else {
                    return Err(Fault::Structure("an alias in the frontmatter refers to itself".into()));
                };
                let (weight, depth) = (node.weight, node.depth);
                self.charge(weight)?;
                if self.open.len() + depth > DEPTH {
                    return Err(too_deep());
                }
                let node = Node { span: range, flow: true, ..self.anchors[&target].clone() };
                self.place(node)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.open(OpenNode { tagged: tag.is_some(), ..OpenNode::new(range.start, style, anchor) })
            }
            Event::MappingStart(style, anchor, tag) => self.open(OpenNode {
                tagged: tag.is_some(),
                mapping: true,
                ..OpenNode::new(range.start, style, anchor)
            }),
            Event::SequenceEnd | Event::MappingEnd => self.close(range.end),
            _ => Ok(()),
        }
    }

    fn open(&mut self, frame: OpenNode) -> Result<(), Fault> {
        if self.open.len() >= DEPTH {
            return Err(too_deep());
        }
        self.charge(1)?;
        self.open.push(frame);
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), Fault> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        // The parser reports the end of a block collection only at the next token, after blanks and comments.
        let end = if frame.flow { end } else { frame.nodes.last().map_or(end, |node| node.span.end) };
        let shape =
            if frame.mapping { NodeContent::Mapping(pairs(frame.nodes)?) } else { NodeContent::Sequence(frame.nodes) };
        let node = Node { tagged: frame.tagged, ..Node::new(shape, frame.start..end.max(frame.start), frame.flow) };
        if frame.anchor != 0 {
            self.charge(node.weight)?;
            self.anchors.insert(frame.anchor, node.clone());
        }
        self.place(node)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        self.charge(node.weight)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.place(node)
    }

    fn charge(&mut self, weight: usize) -> Result<(), Fault> {
        self.weight += weight;
        if self.weight > NODES {
            return Err(Fault::Structure("the frontmatter contains too many values (aliases count in full)".into()));
        }
        Ok(())
    }

    fn place(&mut self, node: Node) -> Result<(), Fault> {
        match self.open.last_mut() {
            Some(frame) => frame.nodes.push(node),
            None if self.root.is_some() => {
                return Err(Fault::Structure("the frontmatter must be one YAML document, not several".into()));
            }
            None => self.root = Some(node),
        }
        Ok(())
    }
}

fn pairs(nodes: Vec<Node>) -> Result<Vec<(Node, Node)>, Fault> {
    let mut keys = HashSet::new();
    let mut entries = Vec::with_capacity(nodes.len() / 2);
    let mut nodes = nodes.into_iter();
    while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
        if !matches!(key.shape, NodeContent::Scalar(..)) {
            return Err(Fault::Structure("a key of the frontmatter is not plain text".into()));
        }
        if !keys.insert(key.key().to_owned()) {
            return Err(Fault::Structure(format!("the frontmatter has the key '{}' twice", shown(key.key()))));
        }
        entries.push((key, value));
    }
    Ok(entries)
}

fn shown(key: &str) -> String {
    key.chars().take(64).collect()
}
