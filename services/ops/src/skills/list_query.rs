//! The options of a list of skills.

use knowhow_domain::IndexItem;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Filters and order of a list of skills.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListSkills {
    /// Only names that begin with this prefix, e.g. `mcp/`.
    #[param(max_length = 200)]
    #[schema(max_length = 200)]
    pub prefix: Option<String>,
    /// Only skills of exactly this category.
    #[param(max_length = 64)]
    #[schema(max_length = 64)]
    pub category: Option<String>,
    /// Only skills with this tag.
    #[param(max_length = 100)]
    #[schema(max_length = 100)]
    pub tag: Option<String>,
    /// Only skills with scanner findings of at least this severity. They are returned in one page, sorted by name.
    /// Cannot be combined with `q`, `ranked` or a cursor.
    #[param(inline)]
    #[schema(inline)]
    pub findings: Option<LeastFindings>,
    /// Words to search for, in any language. Returns a single page, best match first, with `score` and `reason`.
    #[param(min_length = 1, max_length = 4096)]
    #[schema(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// Whether to sort by weight in the graph instead of by name, with `score` and `reason`. The base is the
    /// importance, reduced by idle days and adjusted by outcomes. Relations, and memories that name the skill, add at
    /// most half of it.
    pub ranked: Option<bool>,
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    #[schema(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    #[schema(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Minimum severity of scanner findings of the listed skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LeastFindings {
    /// A reviewer should check the skill.
    Review,
    /// The skill looks like an attack.
    Quarantine,
}

/// Content of a cursor. It includes the order of the list, because a cursor is invalid in another order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    pub(super) name: String,
    /// Score of the last skill; only in a ranked list.
    #[serde(default)]
    pub(super) score: Option<f32>,
}

impl ListSkills {
    /// Returns whether the query has a filter of prefix, category or tag.
    pub(super) fn is_filtered(&self) -> bool {
        self.prefix.is_some() || self.category.is_some() || self.tag.is_some()
    }

    /// Returns whether a skill passes the filters of prefix, category and tag.
    pub(super) fn admits(&self, row: &IndexItem) -> bool {
        self.prefix.as_ref().is_none_or(|prefix| row.name.starts_with(prefix))
            && self.category.as_ref().is_none_or(|category| row.category.as_ref() == Some(category))
            && self.tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
    }
}
