//! Reads submissions. Only reviewers can see the proposed texts.

use knowhow_domain::text::invisible::show_invisible;
use knowhow_domain::{Result, Scope, Submission, SubmissionId, SubmissionState};
use knowhow_store::check_external_id;
use knowhow_store::review::submissions::{self, SubmissionListQuery};
use knowhow_store::tenants::audit::{self, NewEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::diff;
use super::owner::{access_submission_owner, is_admin, require_reason};
use crate::Ctx;
use crate::change::hold::find;
use crate::context::page::{Page, PageQuery, rows_for};
use crate::tenants::{begin, name_in_log};

/// Filters for a list of submissions.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListSubmissions {
    /// Only submissions in this state.
    #[param(inline)]
    pub state: Option<SubmissionState>,
    /// Only submissions of this user, by external id. Only for admins.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
    #[serde(skip)]
    #[param(ignore)]
    pub page: PageQuery,
}

/// Lists submissions, newest first: the caller's own or, for an admin with a reason, the submissions of all users.
///
/// # Errors
/// `Forbidden` if another user's submissions are requested and the caller is not an admin, or gives no reason.
pub async fn list_submissions(ctx: &Ctx, query: &ListSubmissions) -> Result<Page<Submission>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<SubmissionId>()?);
    let asked = SubmissionListQuery { state: query.state, before, limit: rows_for(limit) };
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

/// Selects a submission.
#[derive(Debug, Clone, Default)]
pub struct GetSubmission {
    pub id: SubmissionId,
    /// The header `Knowhow-Reason`. It is required if an admin reads another user's submission.
    pub reason: Option<String>,
}

/// A submission, with the proposed text if the caller is a reviewer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SubmissionDetail {
    /// The submission, as in a list.
    #[serde(flatten)]
    pub submission: Submission,
    /// The changes as a unified diff of all files, relative to the state that the submission was based on. Invisible
    /// characters are written as code points, e.g. `<U+200B>`. Absent after an approval: the versions of the skill have
    /// the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The proposed SKILL.md, byte for byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_md: Option<String>,
}

/// Returns a submission, with text and diff if the caller may review it.
///
/// # Errors
/// `NotFound`; `Forbidden` if an admin gives no reason.
pub async fn get_submission(ctx: &Ctx, query: &GetSubmission) -> Result<SubmissionDetail> {
    ctx.principal.require(Scope::SkillsRead)?;
    let reached = access_submission_owner(ctx, query.id, query.reason.as_deref()).await?;
    if !reached.sees_text() {
        let submission = find(&reached.ctx, query.id).await?.without_findings();
        return Ok(SubmissionDetail { submission, diff: None, skill_md: None });
    }
    let (proposed, diff) = diff::read(&reached.ctx, query.id).await?;
    Ok(SubmissionDetail { submission: shown(proposed.submission), diff, skill_md: proposed.document })
}

/// Returns the submission with invisible characters in the submitter's reason and sources written as code points.
fn shown(submission: Submission) -> Submission {
    let reason = submission.reason.map(|reason| show_invisible(&reason));
    let tainted_by = submission.tainted_by.iter().map(|source| show_invisible(source)).collect();
    Submission { reason, tainted_by, ..submission }
}
