//! Renders a user's snapshot anew, before it expires.

use knowhow_store::Principal;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::snapshots::{Cause, render};
use crate::{App, Priority};

#[derive(Deserialize)]
pub(super) struct RenderSnapshot {
    index_budget: i32,
}

impl UserJob for RenderSnapshot {
    const TASK: &'static str = "render_snapshot";

    async fn run(self, app: &App, principal: &Principal, _: Priority) -> JobResult {
        render(app, principal, self.index_budget, Cause::Age).await?;
        Ok(())
    }
}
