//! Second floor: the verbs. One function per thing Knowhow does; each reads like the rule in the documentation.

pub mod admin;
mod answers;
mod app;
pub mod archive;
mod asker;
mod call;
pub mod chain;
pub mod chat;
pub mod conversations;
mod ctx;
mod dear;
pub mod directives;
pub mod dream;
pub mod embed;
mod enrich;
pub mod examples;
pub mod follow_up;
pub mod graph;
pub mod jobs;
mod library;
#[cfg(test)]
mod limits_page;
mod lookup;
pub mod memories;
mod models;
mod once;
pub mod page;
mod priority;
pub mod recall;
pub mod reflect;
mod remote;
pub mod review;
pub mod sessions;
pub mod skills;
pub mod snapshots;
pub mod soul;
pub mod starters;
pub mod summarize;
mod webhooks;

pub use answers::SkillPage;
pub use app::{App, Readiness};
pub use dear::{Line, Turn};

use app::compute;
pub use asker::{Asker, Asking};
pub use call::{Call, IdempotencyKey, SessionRef};
pub use ctx::Ctx;
pub use knowhow_store::{Principal, count_backlog};
pub use library::Library;
pub use models::{ModelState, Models, ModelsError, ModelsSettings, ModelsStatus};
pub use priority::Priority;
pub use remote::{RemoteError, RemoteSettings};
pub use webhooks::Webhooks;
