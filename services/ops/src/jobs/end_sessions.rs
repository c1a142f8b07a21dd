//! Ends sessions without recent activity, so that they are summarized even if the user never returns.

use knowhow_domain::jobs::job::task;
use knowhow_store::across::due;

use super::summarize_conversation::SummarizeConversation;
use super::{JobResult, SystemJob, UserJob};
use crate::App;

/// Maximum number of sessions per round.
const MOST: i64 = 5_000;

pub(super) struct EndSessions;

impl SystemJob for EndSessions {
    const TASK: &'static str = task::END_SESSIONS;
    const SCHEDULE: &'static str = "*/5 * * * *";

    async fn run(app: &App) -> JobResult {
        let ended = due::end_silent_sessions(&app.db, SummarizeConversation::TASK, app.now(), MOST).await?;
        if ended > 0 {
            tracing::info!(ended, "ended silent conversations");
        }
        Ok(())
    }
}
