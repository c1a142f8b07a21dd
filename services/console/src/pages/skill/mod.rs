//! The page of a skill, with a tab for each view.

pub mod fields;
pub mod knowledge;
pub mod resources;
pub mod text;
pub mod versions;

use knowhow_domain::Scope;
use knowhow_ops::skills::Skill;

use crate::link;
use crate::shown::Line;
use crate::visit::Visit;

/// Tabs of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Text,
    Resources,
    Knowledge,
    Versions,
    Fields,
}

/// The head of the page: the skill's name and its tabs.
pub struct Head {
    pub name: Line,
    pub path: String,
    pub tab: Tab,
    /// The current version, if the page has read it.
    pub version: Option<i32>,
    pub pinned: bool,
    pub tainted: bool,
    /// True if the caller has the scope to change skills.
    pub may_write: bool,
}

impl Head {
    /// Creates the head of a skill.
    pub fn of(visit: &Visit, skill: &Skill, tab: Tab) -> Self {
        let (version, pinned, tainted) = (Some(skill.version), skill.pinned, skill.tainted);
        Self { version, pinned, tainted, ..Self::named(visit, &skill.name, tab) }
    }

    /// Creates the head for a skill that the page has not read.
    pub fn named(visit: &Visit, name: &str, tab: Tab) -> Self {
        let may_write = visit.ctx.principal.require(Scope::SkillsWrite).is_ok();
        Self {
            path: link::skill(name),
            name: name.into(),
            tab,
            version: None,
            pinned: false,
            tainted: false,
            may_write,
        }
    }
}

/// Returns the path of a skill in the REST API.
pub fn api_path(name: &str) -> String {
    format!("/v1/skills/{}", link::encode(name))
}
