//! Second floor: the verbs. One function per thing Knowhow does; each reads like the rule in the documentation.

pub mod admin;
mod app;
pub mod archive;
mod call;
pub mod jobs;
pub mod page;
pub mod skills;
pub mod starters;

pub use app::{App, readiness};

use app::compute;
pub use call::Call;
pub use knowhow_store::Principal;
