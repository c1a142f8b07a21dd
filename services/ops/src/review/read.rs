//! Reading submissions. Their text is shown to those who may decide, and to nobody else.

use knowhow_domain::invisible::show_invisible;
use knowhow_domain::{Result, Scope, Submission, SubmissionId, SubmissionState};
use knowhow_store::audit::{self, NewEntry};
use knowhow_store::check_external_id;
use knowhow_store::submissions::{self, ListQuery};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::diff;
use super::hold::find;
use super::owner::{is_admin, reach, require_reason};
use crate::Ctx;
use crate::admin::{begin, name_in_log};
use crate::page::{Page, PageQuery, rows_for};

/// Which submissions.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListSubmissions {
    /// Those of this state alone.
    #[param(inline)]
    pub state: Option<SubmissionState>,
    /// Those of this user alone, by external id: for admins.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
    /// The page to read.
    #[serde(skip)]
    #[param(ignore)]
    pub page: PageQuery,
}

/// Lists submissions, the newest first: the caller's own, or, for an admin who says why, those of all users.
///
/// # Errors
/// `Forbidden` for another user's without being an admin, or for an admin without a reason.
pub async fn list_submissions(ctx: &Ctx, query: &ListSubmissions) -> Result<Page<Submission>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<SubmissionId>()?);
    let asked = ListQuery { state: query.state, before, limit: rows_for(limit) };
    let sees_all =
        is_admin(&ctx.principal) && (query.user.is_some() || ctx.principal.user().is_err() || query.reason.is_some());
    if !sees_all {
        if query.user.is_some() {
            ctx.principal.require_admin()?;
        }
        let rows = submissions::list(&ctx.app.db, &ctx.principal, asked).await?;
        return Ok(Page::of(rows, limit, |last| last.id)?.map(Submission::without_findings));
    }
    ctx.principal.require(Scope::Review)?;
    query.user.as_deref().map(check_external_id).transpose()?;
    let reason = require_reason(query.reason.as_deref())?;
    let mut tx = begin(ctx).await?;
    let rows = submissions::list_of_tenant(&mut tx, query.user.as_deref(), asked).await?;
    let target = name_in_log(&mut tx, query.user.as_deref()).await?;
    let entry = NewEntry { action: "submission.read", target: &target, detail: json!({ "reason": reason }) };
    audit::record(&mut tx, entry, ctx.now()).await?;
    tx.commit().await?;
    Ok(Page::of(rows, limit, |last| last.id)?.map(shown))
}

/// One submission.
#[derive(Debug, Clone, Default)]
pub struct GetSubmission {
    /// Its id.
    pub id: SubmissionId,
    /// The header `Knowhow-Reason`, where an admin reads what is another's.
    pub reason: Option<String>,
}

/// A submission; with what it proposes, for those who may decide.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SubmissionDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub submission: Submission,
    /// What it changes, as a unified diff of all files against the state that it was made from. Invisible characters are
    /// written as `<U+200B>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// SKILL.md as it is to be, byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_md: Option<String>,
}

/// Reads a submission.
///
/// # Errors
/// `NotFound`; `Forbidden` for an admin without a reason.
pub async fn get_submission(ctx: &Ctx, query: &GetSubmission) -> Result<SubmissionDetail> {
    ctx.principal.require(Scope::SkillsRead)?;
    let reached = reach(ctx, query.id, query.reason.as_deref()).await?;
    if !reached.sees_text() {
        let submission = find(&reached.ctx, query.id).await?.without_findings();
        return Ok(SubmissionDetail { submission, diff: None, skill_md: None });
    }
    let (proposed, diff) = diff::read(&reached.ctx, query.id).await?;
    Ok(SubmissionDetail { submission: shown(proposed.submission), diff: Some(diff), skill_md: proposed.document })
}

/// A submission with invisible characters of its submitter's words as their code points.
fn shown(submission: Submission) -> Submission {
    let reason = submission.reason.map(|reason| show_invisible(&reason));
    let tainted_by = submission.tainted_by.iter().map(|source| show_invisible(source)).collect();
    Submission { reason, tainted_by, ..submission }
}
