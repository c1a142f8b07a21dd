//! Ground floor: the nouns of Knowhow. Ids, names, SKILL.md, the patch engine, rules and errors; no I/O.

pub mod clock;
pub mod diff;
pub mod document;
pub mod error;
pub mod guidance;
pub mod headline;
pub mod ids;
pub mod index;
pub mod inert;
pub mod limits;
mod lines;
pub mod manifest;
pub mod name;
pub mod patch;
pub mod prompt;
pub mod recall;
pub mod resource;
pub mod scope;
pub mod session;
pub mod settings;
pub mod uri;

pub use clock::{Clock, SystemClock};
pub use document::{FieldEdits, Fields, Role, Served, SkillDocument};
pub use error::{Error, FieldError, Passage, Result};
pub use guidance::SKILLS_GUIDANCE;
pub use headline::headline;
pub use ids::{SkillId, TenantId, UserId, new_id};
pub use index::{INDEX_BUDGET, Index, IndexLine, gist, render_index};
pub use inert::inert_line;
pub use limits::Limits;
pub use manifest::ResourceEntry;
pub use name::SkillName;
pub use resource::ResourcePath;
pub use scope::{Scope, Scopes};
pub use session::Channel;
pub use settings::TenantSettings;
