//! Lets a model write the summary of a skill that has no summary.

use knowhow_domain::jobs::job::task;
use knowhow_domain::skills::manifest;
use knowhow_domain::{DirectiveName, Error, MadeBy, SkillId};
use knowhow_store::TenantTx;
use knowhow_store::skills::{self, SkillKey};
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::learning::directives;
use crate::sessions::summarize::{Summarized, summarize_skill};
use crate::{Ctx, Priority};

#[derive(Deserialize)]
pub(super) struct SummarizeSkill {
    skill_id: SkillId,
}

impl UserJob for SummarizeSkill {
    const TASK: &'static str = task::SUMMARIZE_SKILL;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        let Some(loaded) = skills::peek(&ctx.app.db, &ctx.principal, &SkillKey::Id(self.skill_id)).await? else {
            return Ok(());
        };
        let skill = loaded.skill;
        if skill.summary.is_some() || skill.made_summary.is_some() {
            return Ok(());
        }
        let text = Summarized { name: &skill.name, description: &skill.description, content: skill.content() };
        let directive = directives::find(ctx, DirectiveName::Summary).await?.text;
        let summary = summarize_skill(&ctx.app.models, &directive, &text, priority);
        let summary = summary.await.map_err(Error::from)?;
        // A summary extracted from the text is not stored, as it is computed whenever it is shown.
        if summary.made_by == MadeBy::Extract {
            return Ok(());
        }
        let digest = manifest::digest(skill.document.as_bytes());
        let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal, "jobs.summarize_skill").await?;
        if !skills::put_made_summary(&mut tx, self.skill_id, &digest, &summary.text).await? {
            // The summary may be wrong for the new text, so the job is retried.
            return Err(Error::Unavailable("the skill has just changed".into()).into());
        }
        Ok(tx.commit().await?)
    }
}
