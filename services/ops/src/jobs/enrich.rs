//! Has skills found better whose authors said little of them.

use knowhow_domain::SkillId;
use knowhow_domain::enrich::MOST_TRIES;
use knowhow_domain::job::task;
use knowhow_store::due::{self, Unenriched};
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::{App, Ctx, Priority, enrich};

/// Skills that one round has enriched, about; the next one goes on.
const MOST: i64 = 2_000;
/// Rows that the search over all tenants looks at in one statement.
const PAGE: i64 = 1000;

/// A skill that lacks words to be found by.
#[derive(Deserialize)]
pub(super) struct EnrichSkill {
    skill_id: SkillId,
}

impl UserJob for EnrichSkill {
    const TASK: &'static str = task::ENRICH_SKILL;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        Ok(enrich::enrich_skill(ctx, self.skill_id, priority).await?)
    }
}

/// Finds, over all tenants, skills that were not enriched: their job was lost, or they were there before the model.
pub(super) struct EnrichStale;

impl SystemJob for EnrichStale {
    const TASK: &'static str = task::ENRICH_STALE;
    const SCHEDULE: &'static str = "23 * * * *";

    async fn run(app: &App) -> JobResult {
        let has_model = app.models.chat.is_some();
        let wanted = Unenriched { has_model, most_tries: MOST_TRIES, page: PAGE, most: MOST };
        let jobs = due::enqueue_enriching(&app.db, wanted).await?;
        if jobs > 0 {
            tracing::info!(jobs, "skills are to be enriched");
        }
        Ok(())
    }
}
