//! Ground floor: the nouns of Knowhow. Ids, names, SKILL.md, the patch engine, rules and errors; no I/O.

pub mod clock;
pub mod diff;
pub mod document;
pub mod error;
pub mod ids;
pub mod limits;
mod lines;
pub mod manifest;
pub mod name;
pub mod patch;
pub mod resource;
pub mod scope;
pub mod settings;

pub use clock::{Clock, SystemClock};
pub use document::{FieldEdits, Fields, Role, SkillDocument};
pub use error::{Error, FieldError, Passage, Result};
pub use ids::{SkillId, TenantId, UserId, new_id};
pub use limits::Limits;
pub use manifest::ResourceEntry;
pub use name::SkillName;
pub use resource::ResourcePath;
pub use scope::{Scope, Scopes};
pub use settings::TenantSettings;
