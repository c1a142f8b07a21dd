//! Summarizes an ended session.

use knowhow_domain::SessionId;
use knowhow_domain::jobs::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::sessions::conversations::summarize_session;
use crate::{Ctx, Priority};

#[derive(Deserialize)]
pub(super) struct SummarizeConversation {
    session_id: SessionId,
}

impl UserJob for SummarizeConversation {
    const TASK: &'static str = task::SUMMARIZE_CONVERSATION;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        Ok(summarize_session(ctx, self.session_id, priority).await?)
    }
}
