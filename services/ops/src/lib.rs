//! Operations: one function for each action of the API, independent of REST and MCP.

pub(crate) mod change;
pub mod context;
pub mod graph;
pub mod jobs;
pub mod learning;
pub mod models;
pub mod platform;
pub mod recall;
pub mod review;
pub mod sessions;
pub mod skills;
pub mod tenants;

pub use context::app::{App, Readiness};
pub use platform::admission::{Admission, AdmissionQueue, Turn};
pub use platform::answer_cache::SkillPage;
pub use platform::short_cache::ShortCaches;

use context::app::compute;
pub use context::asker::{Asker, Asking};
pub use context::call::{CallMetadata, IdempotencyKey, SessionRef};
pub use context::ctx::Ctx;
pub use context::priority::Priority;
pub use knowhow_store::{Principal, count_backlog};
pub use models::remote::{RemoteError, RemoteSettings};
pub use models::{ModelState, Models, ModelsError, ModelsSettings, ModelsStatus};
pub use platform::webhooks::Webhooks;
pub use skills::library::Library;
