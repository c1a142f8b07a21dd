//! Makes the summary of a conversation that is over.

use knowhow_domain::SessionId;
use knowhow_domain::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::conversations::summarize_session;
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
