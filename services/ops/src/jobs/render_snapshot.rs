//! Renders a user's snapshot anew, before it expires.

use knowhow_store::Principal;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::App;
use crate::snapshots::{Cause, render};

#[derive(Deserialize)]
pub(super) struct RenderSnapshot {
    index_budget: i32,
}

impl UserJob for RenderSnapshot {
    const TASK: &'static str = "render_snapshot";

    async fn run(self, app: &App, principal: &Principal) -> JobResult {
        render(app, principal, self.index_budget, Cause::Age).await?;
        Ok(())
    }
}
