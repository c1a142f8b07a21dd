//! The fields of a frontmatter, read leniently from the top level or `metadata`.

mod required;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::yaml::{Node, NodeContent, Style};
use crate::kernel::error::{Error, Result};
use crate::kernel::limits::COMPATIBILITY_CHARS;
use crate::skills::name::{last_segment, lookup_key};
use required::{read_description, read_name};

/// Role of a skill among other skills.
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
    /// Could run automatically on an event.
    HookCandidate,
}

impl Role {
    /// Returns the name, e.g. `hook-candidate`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Calls the macro `$made` with the editable fields of a skill. This is their only declaration:
/// [`FieldEdits`](crate::FieldEdits) and the inputs of REST and MCP are generated from it. Null removes a field of
/// `single`; an empty list removes a field of `lists`.
#[macro_export]
macro_rules! with_skill_fields {
    ($made:ident) => {
        $made! {
            single {
                /// The skill's line in the index, at most 15 words.
                summary: String,
                /// Category, one word.
                #[schema(min_length = 1, max_length = 64)]
                category: String,
                /// Role of the skill.
                role: Role,
                /// Licence name or file.
                license: String,
                /// Environment requirements.
                #[schema(max_length = 500)]
                compatibility: String,
                /// Tools the skill may use without approval.
                allowed_tools: String,
                /// Author of the skill.
                author: String,
            }
            lists {
                /// Labels to filter skills by.
                #[schema(max_items = 32)]
                tags,
                /// Short phrases that trigger the skill.
                #[schema(max_items = 8)]
                triggers,
                /// Names of related skills.
                #[schema(max_items = 32)]
                see_also,
            }
        }
    };
}

/// The frontmatter fields of a skill that are stored together as one value.
// No SQL statement searches by these fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct Attributes {
    /// Licence name or file.
    pub license: Option<String>,
    /// Environment requirements, at most 500 characters.
    pub compatibility: Option<String>,
    /// Tools the skill may use without approval.
    pub allowed_tools: Option<String>,
    /// Author of the skill, free text.
    pub author: Option<String>,
    /// The whole `metadata` mapping of the frontmatter.
    #[serde(default)]
    #[schema(required = true)]
    pub metadata: Map<String, Value>,
}

/// The fields of a skill's frontmatter.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Fields {
    /// The frontmatter's `name`.
    pub name: String,
    /// Purpose of the skill and when to use it.
    pub description: String,
    /// The skill's line in the index, at most 15 words; `None` if the author wrote no line.
    pub summary: Option<String>,
    pub category: Option<String>,
    pub tags: Vec<String>,
    /// Short phrases that trigger the skill.
    pub triggers: Vec<String>,
    /// Names of related skills.
    pub see_also: Vec<String>,
    /// Role of the skill, if it has one.
    pub role: Option<Role>,
    /// Other frontmatter fields.
    #[serde(flatten)]
    pub attributes: Attributes,
    /// Whether `disable-model-invocation` is `true`, `yes`, `on` or `1`, as several hosts read it. Such a skill is
    /// recalled only by name and is not in the index of a prompt.
    pub reserved: bool,
}

/// Spellings of `see_also`, the preferred first.
pub(super) const SEE_ALSO: [&str; 2] = ["see-also", "see_also"];
/// Spellings of `allowed_tools`, the preferred first.
pub(super) const ALLOWED_TOOLS: [&str; 2] = ["allowed-tools", "allowed_tools"];

/// Spellings of `reserved`, the preferred first.
const RESERVED: [&str; 2] = ["disable-model-invocation", "disable_model_invocation"];

impl Fields {
    /// Returns the lookup key of the frontmatter's name, if it differs from the skill's name.
    pub fn alias(&self, skill: &str) -> Option<String> {
        lookup_key(&self.name).filter(|key| key != skill && key != last_segment(skill))
    }

    /// Reads the fields. Rejects missing or invalid required fields; ignores optional values of the wrong type.
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
        // An empty value in Knowhow's own field hides Hermes' value.
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
            reserved: read_reserved(root)?,
        };
        let length = fields.attributes.compatibility.as_deref().map_or(0, |text| text.chars().count());
        if length > COMPATIBILITY_CHARS {
            let detail = format!("compatibility must have at most {COMPATIBILITY_CHARS} characters, has {length}");
            return Err(Error::invalid("/compatibility", detail));
        }
        Ok(fields)
    }
}

/// Hermes' name for `see_also`.
pub(super) const RELATED: &str = "related_skills";

/// Returns a field below `metadata.hermes`. Skills of Hermes (NousResearch/hermes-agent) have their `tags` and
/// `related_skills` there.
pub(super) fn in_hermes<'a>(root: &'a Node, key: &str) -> Option<&'a Node> {
    root.get("metadata")?.get("hermes")?.get(key)
}

/// Reads `disable-model-invocation` as the hosts do. An absent or empty value is false.
///
/// # Errors
/// `Invalid` for another word, because a misread value would offer a skill against its author's wish.
fn read_reserved(root: &Node) -> Result<bool> {
    let mut is_reserved = false;
    for (key, node) in RESERVED.iter().filter_map(|key| Some((key, root.get(key)?))) {
        let word = node.as_text().map(|text| text.trim().to_ascii_lowercase());
        is_reserved |= match word.as_deref() {
            Some("true" | "yes" | "on" | "1") => true,
            Some("false" | "no" | "off" | "0" | "") => false,
            None if node.is_null() => false,
            _ => return Err(Error::invalid(format!("/{key}"), format!("{key} must be true or false"))),
        };
    }
    Ok(is_reserved)
}

/// Returns all values of one of Knowhow's own fields. The first value takes precedence.
fn read_places<'a>(root: &'a Node, keys: &[&str]) -> Vec<&'a Node> {
    let parents = [Some(root), root.get("metadata")].into_iter().flatten();
    parents.flat_map(|parent| keys.iter().filter_map(|key| parent.get(key))).collect()
}

/// Returns a text, or a list of texts joined by commas; `None` if the value is blank or not a text.
pub(super) fn text_of(node: &Node) -> Option<String> {
    let text = match &node.shape {
        // The line end that closes a block scalar is notation, not part of the value.
        NodeContent::Scalar(text, Style::Block) => text.trim_end_matches('\n').to_owned(),
        NodeContent::Scalar(..) => node.as_text()?.to_owned(),
        NodeContent::Sequence(items) => items.iter().filter_map(Node::as_text).collect::<Vec<_>>().join(", "),
        NodeContent::Mapping(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

pub(super) fn list_of(node: &Node) -> Vec<String> {
    let filled = |text: &&str| !text.trim().is_empty();
    match &node.shape {
        NodeContent::Sequence(items) => {
            items.iter().filter_map(Node::as_text).filter(filled).map(str::to_owned).collect()
        }
        NodeContent::Scalar(..) => {
            let text = node.as_text().unwrap_or_default();
            text.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
        }
        NodeContent::Mapping(_) => Vec::new(),
    }
}
