//! Renders a user's snapshot anew, before it expires.

use knowhow_domain::Form;
use knowhow_domain::job::task;
use knowhow_store::snapshots::SnapshotKind;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::snapshots::{Cause, render};
use crate::{Ctx, Priority};

#[derive(Deserialize)]
pub(super) struct RenderSnapshot {
    index_budget: i32,
    form: String,
}

impl UserJob for RenderSnapshot {
    const TASK: &'static str = task::RENDER_SNAPSHOT;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        // One that this release does not know is rendered by the one that asked for it.
        let Some(form) = Form::from_name(&self.form) else { return Ok(()) };
        render(ctx, SnapshotKind { index_budget: self.index_budget, form }, Cause::Age).await?;
        Ok(())
    }
}
