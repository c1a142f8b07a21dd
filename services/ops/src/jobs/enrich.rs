//! Jobs that enrich skills that their authors described in few words, so that recall finds these skills better.

use knowhow_domain::SkillId;
use knowhow_domain::jobs::job::task;
use knowhow_domain::learning::enrich::MOST_TRIES;
use knowhow_store::across::due::{self, Unenriched};
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::learning::enrich;
use crate::{App, Ctx, Priority};

/// Approximate maximum number of skills per round; the next round continues.
const MOST: i64 = 2_000;
/// Maximum number of rows per statement in the search over all tenants.
const PAGE: i64 = 1000;

/// Enriches a skill.
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

/// Finds skills of all tenants that are not enriched, because their job was lost or they were stored before a model
/// was configured.
pub(super) struct EnrichStale;

impl SystemJob for EnrichStale {
    const TASK: &'static str = task::ENRICH_STALE;
    const SCHEDULE: &'static str = "23 * * * *";

    async fn run(app: &App) -> JobResult {
        let has_model = app.models.chat.is_some();
        let wanted = Unenriched { has_model, most_tries: MOST_TRIES, page: PAGE, most: MOST };
        let jobs = due::enqueue_enriching(&app.db, wanted).await?;
        if jobs > 0 {
            tracing::info!(jobs, "enqueued skills to enrich");
        }
        Ok(())
    }
}
