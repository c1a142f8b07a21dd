//! Renders a user's snapshot again before it expires.

use knowhow_domain::SnapshotForm;
use knowhow_domain::jobs::job::task;
use knowhow_store::sessions::snapshots::SnapshotKind;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::sessions::snapshots::{Cause, render};
use crate::{Ctx, Priority};

#[derive(Deserialize)]
pub(super) struct RenderSnapshot {
    index_budget: i32,
    form: String,
}

impl UserJob for RenderSnapshot {
    const TASK: &'static str = task::RENDER_SNAPSHOT;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        // This release does not know the form, so the snapshot is left to the release that requested it.
        let Some(form) = SnapshotForm::from_name(&self.form) else { return Ok(()) };
        render(ctx, SnapshotKind { index_budget: self.index_budget, form }, Cause::Age).await?;
        Ok(())
    }
}
