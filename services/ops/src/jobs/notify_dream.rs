//! Notifies a tenant's webhook that operations of a dream or a reflection need a decision.

use knowhow_domain::DreamId;
use knowhow_domain::jobs::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::platform::webhooks;
use crate::{Ctx, Priority};

#[derive(Deserialize)]
pub(super) struct NotifyDream {
    run_id: DreamId,
}

impl UserJob for NotifyDream {
    const TASK: &'static str = task::NOTIFY_DREAM;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(webhooks::notify_of_dream(ctx, self.run_id).await?)
    }
}
