//! Ends the conversations that fell silent, so that they are summarized also where the user never comes back.

use knowhow_domain::job::task;
use knowhow_store::due;

use super::summarize_conversation::SummarizeConversation;
use super::{JobResult, SystemJob, UserJob};
use crate::App;

/// Sessions of one round.
const MOST: i64 = 5_000;

pub(super) struct EndSessions;

impl SystemJob for EndSessions {
    const TASK: &'static str = task::END_SESSIONS;
    const SCHEDULE: &'static str = "*/5 * * * *";

    async fn run(app: &App) -> JobResult {
        let ended = due::end_silent_sessions(&app.db, SummarizeConversation::TASK, app.now(), MOST).await?;
        if ended > 0 {
            tracing::info!(ended, "conversations that fell silent are over");
        }
        Ok(())
    }
}
