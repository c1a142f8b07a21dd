//! What a frontmatter says: the fields that Knowhow knows, read leniently from top level or `metadata`.

mod required;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::yaml::{Node, Shape, Style};
use crate::error::{Error, Result};
use crate::limits::COMPATIBILITY_CHARS;
use required::{read_description, read_name};

/// What part a skill plays among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Role {
    /// Calls other skills.
    Orchestrator,
    /// Turns one thing into another.
    Processor,
    /// Helps other skills.
    Utility,
    /// Could run by itself on an event.
    HookCandidate,
}

impl Role {
    /// The word that stands for it, e.g. `hook-candidate`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Calls the macro `$made` with the fields of a skill that can be given one by one. They are declared here alone:
/// [`FieldEdits`](crate::FieldEdits) and the inputs of REST and MCP are made of this list. A field of `single` is removed by
/// null, one of `lists`, all of them lists of texts, by an empty list.
#[macro_export]
macro_rules! with_skill_fields {
    ($made:ident) => {
        $made! {
            single {
                /// The index line, at most 15 words.
                summary: String,
                /// One word of order.
                #[schema(min_length = 1, max_length = 64)]
                category: String,
                /// What kind of skill it is.
                role: Role,
                /// Licence name or file.
                license: String,
                /// Environment requirements.
                #[schema(max_length = 500)]
                compatibility: String,
                /// Tools that need no approval.
                allowed_tools: String,
                /// Who wrote the skill.
                author: String,
            }
            lists {
                /// Labels by which skills can be listed.
                #[schema(max_items = 32)]
                tags,
                /// Short phrases that call for it.
                #[schema(max_items = 8)]
                triggers,
                /// Names of related skills.
                #[schema(max_items = 32)]
                see_also,
            }
        }
    };
}

/// What else the frontmatter of a skill says.
// No statement searches by these, so they are stored together, and served as they are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Attributes {
    /// Licence name or file.
    pub license: Option<String>,
    /// Environment requirements, at most 500 characters.
    pub compatibility: Option<String>,
    /// Tools that need no approval.
    pub allowed_tools: Option<String>,
    /// Who wrote the skill, in words of their own.
    pub author: Option<String>,
    /// The frontmatter's `metadata` mapping, whole.
    #[serde(default)]
    #[schema(required = true)]
    pub metadata: Map<String, Value>,
}

/// The fields of a skill as its frontmatter gives them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Fields {
    /// The frontmatter's `name`.
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// One line of at most 15 words.
    pub summary: Option<String>,
    pub category: Option<String>,
    pub tags: Vec<String>,
    /// Short phrases that call for the skill.
    pub triggers: Vec<String>,
    /// Names of related skills.
    pub see_also: Vec<String>,
    /// The part it plays.
    pub role: Option<Role>,
    /// What else it says.
    #[serde(flatten)]
    pub attributes: Attributes,
    /// `disable-model-invocation: true`, as several hosts know it: recalled by name alone, in no index of a prompt.
    pub reserved: bool,
}

/// Spellings of `see_also`, the preferred one first.
pub(super) const SEE_ALSO: [&str; 2] = ["see-also", "see_also"];
/// Spellings of `allowed_tools`, the preferred one first.
pub(super) const ALLOWED_TOOLS: [&str; 2] = ["allowed-tools", "allowed_tools"];

/// Spellings of `reserved`, the preferred one first.
const RESERVED: [&str; 2] = ["disable-model-invocation", "disable_model_invocation"];

impl Fields {
    /// Reads the fields; what a skill cannot do without is refused, the rest is taken as far as it makes sense.
    pub(super) fn read(root: &Node) -> Result<Self> {
        if root.entries().is_none() {
            let detail = "the frontmatter must be a mapping of keys to values, such as 'name: my-skill'";
            return Err(Error::invalid("/skill_md", detail));
        }
        let text = |keys: &[&str]| read_places(root, keys).into_iter().find_map(text_of);
        let own_list = |keys: &[&str]| {
            let mut lists = read_places(root, keys).into_iter().map(list_of);
            lists.find(|list| !list.is_empty()).unwrap_or_default()
        };
        // An empty value of our own says that there is nothing: it hides what Hermes has.
        let list = |keys: &[&str], hermes: &str| match in_hermes(root, hermes) {
            Some(node) if read_places(root, keys).is_empty() => list_of(node),
            _ => own_list(keys),
        };
        let role = |node: &Node| node.as_text()?.trim().parse::<Role>().ok();
        let fields = Self {
            name: read_name(root)?,
            description: read_description(root)?,
            summary: text(&["summary"]),
            category: text(&["category"]),
            tags: list(&["tags"], "tags"),
            triggers: own_list(&["triggers"]),
            see_also: list(&SEE_ALSO, RELATED),
            role: read_places(root, &["role"]).into_iter().find_map(role),
            attributes: Attributes {
                license: root.get("license").and_then(text_of),
                compatibility: root.get("compatibility").and_then(text_of),
                allowed_tools: ALLOWED_TOOLS.iter().find_map(|key| root.get(key).and_then(text_of)),
                author: text(&["author"]),
                metadata: match root.get("metadata").map(Node::to_json) {
                    Some(Value::Object(map)) => map,
                    _ => Map::new(),
                },
            },
            reserved: RESERVED.iter().any(|key| root.get(key).is_some_and(is_true)),
        };
        let length = fields.attributes.compatibility.as_deref().map_or(0, |text| text.chars().count());
        if length > COMPATIBILITY_CHARS {
            let detail = format!("compatibility must have at most {COMPATIBILITY_CHARS} characters, has {length}");
            return Err(Error::invalid("/compatibility", detail));
        }
        Ok(fields)
    }
}

/// What Hermes calls `see_also`.
pub(super) const RELATED: &str = "related_skills";

/// A field below `metadata.hermes`, which is where skills of Hermes (NousResearch/hermes-agent) have their `tags`
/// and `related_skills`.
pub(super) fn in_hermes<'a>(root: &'a Node, key: &str) -> Option<&'a Node> {
    root.get("metadata")?.get("hermes")?.get(key)
}

fn is_true(node: &Node) -> bool {
    node.as_text().is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
}

/// Where a field of Knowhow's own may stand, in the order in which it is read.
fn read_places<'a>(root: &'a Node, keys: &[&str]) -> Vec<&'a Node> {
    let parents = [Some(root), root.get("metadata")].into_iter().flatten();
    parents.flat_map(|parent| keys.iter().filter_map(|key| parent.get(key))).collect()
}

/// A text, or a list of texts as one; `None` for what is absent, blank or no text.
pub(super) fn text_of(node: &Node) -> Option<String> {
    let text = match &node.shape {
        // The line end that closes a block scalar belongs to the notation, not to the value.
        Shape::Scalar(text, Style::Block) => text.trim_end_matches('\n').to_owned(),
        Shape::Scalar(..) => node.as_text()?.to_owned(),
        Shape::Sequence(items) => items.iter().filter_map(Node::as_text).collect::<Vec<_>>().join(", "),
        Shape::Mapping(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

pub(super) fn list_of(node: &Node) -> Vec<String> {
    let filled = |text: &&str| !text.trim().is_empty();
    match &node.shape {
        Shape::Sequence(items) => items.iter().filter_map(Node::as_text).filter(filled).map(str::to_owned).collect(),
        Shape::Scalar(..) => {
            let text = node.as_text().unwrap_or_default();
            text.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
        }
        Shape::Mapping(_) => Vec::new(),
    }
}
