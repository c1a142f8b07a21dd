//! A change in review, with its checks, its diff and the decision.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use knowhow_domain::{Check, CheckOutcome, Error, Submission, SubmissionId, SubmissionState};
use knowhow_ops::review::{self, Decide, GetSubmission, SubmissionDetail, Take, has_conflict};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{SubmissionRow, name_of, reason, step_of};
use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, read_rows};
use crate::failure::{Failure, sentence, status_of};
use crate::form::OwnForm;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, unix_lines};
use crate::typed::TypedText;
use crate::visit::{OwnVisit, Visit};

/// A step of the checks.
struct CheckRow {
    step: String,
    outcome: &'static str,
    is_passed: bool,
    reasons: Vec<Line>,
    findings: Vec<Line>,
}

#[derive(Template)]
#[template(path = "submission.html")]
struct SubmissionPage {
    layout: Layout,
    row: SubmissionRow,
    id: String,
    base_version: i32,
    session: Option<Line>,
    tainted_by: Line,
    checks: Vec<CheckRow>,
    /// The diff, if the caller may see the text.
    diff: Option<Vec<Row>>,
    may_decide: bool,
    /// True if a newer starter conflicts with the user's changes, so that an approval takes one of the texts.
    has_conflict: bool,
    /// True if the change was approved. Its text is then that of a version of the skill.
    is_approved: bool,
    applied_version: Option<i32>,
    /// The versions of the skill, if it is the visitor's own.
    versions: Option<String>,
    decided: Option<Line>,
    decision_comment: Option<Block>,
    typed: String,
    error: Option<Block>,
}

/// A decision. A submission never changes, so its id stands for the change that was shown.
#[derive(Deserialize)]
pub struct Decision {
    #[serde(default)]
    comment: String,
    take: Option<Take>,
}

/// A decision that was refused.
struct Refused {
    error: Error,
    comment: String,
}

/// Shows a submission.
pub async fn show(OwnVisit(visit): OwnVisit, id: Path<SubmissionId>) -> Result<HttpResponse, Failure> {
    read_and_respond(&visit, id.into_inner(), None).await
}

/// Approves a submission.
pub async fn approve(id: Path<SubmissionId>, form: OwnForm<Decision>) -> Result<HttpResponse, Failure> {
    decide(id.into_inner(), form, true).await
}

/// Rejects a submission.
pub async fn reject(id: Path<SubmissionId>, form: OwnForm<Decision>) -> Result<HttpResponse, Failure> {
    decide(id.into_inner(), form, false).await
}

async fn decide(id: SubmissionId, form: OwnForm<Decision>, is_approval: bool) -> Result<HttpResponse, Failure> {
    let OwnForm { visit, fields } = form;
    let comment = unix_lines(&fields.comment);
    let given = Some(comment.trim()).filter(|comment| !comment.is_empty()).map(str::to_owned);
    let reason = reason::for_submission(&visit, id).await?;
    let input = Decide { id, comment: given, take: fields.take, reason };
    let (decided, word) = if is_approval {
        (review::approve_submission(&visit.ctx, &input).await, "approved")
    } else {
        (review::reject_submission(&visit.ctx, &Decide { take: None, ..input }).await, "rejected")
    };
    match decided {
        Ok(_) => Ok(see(&link::after("/console/review", word))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => read_and_respond(&visit, id, Some(Refused { error, comment })).await,
    }
}

/// Reads a submission and shows it. If it is another user's, an admin is asked for the reason first.
async fn read_and_respond(visit: &Visit, id: SubmissionId, refused: Option<Refused>) -> Result<HttpResponse, Failure> {
    let query = GetSubmission { id, reason: reason::for_submission(visit, id).await? };
    match review::get_submission(&visit.ctx, &query).await {
        Ok(found) => respond(visit, found, refused).await,
        Err(error) if reason::is_missing(visit, query.reason.as_deref(), &error) => {
            let comment = refused.map(|refused| refused.comment).filter(|comment| !comment.trim().is_empty());
            let typed = comment.map(|text| TypedText { name: "Comment", text }).into_iter().collect();
            reason::ask(visit, format!("/console/review/{id}"), typed)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the requests of the REST API for a submission and its decision.
fn calls_of(visit: &Visit, submission: &Submission, may_decide: bool) -> Vec<ApiCall> {
    let api = format!("/v1/submissions/{}", submission.id);
    let mut approval = json!({ "comment": "..." });
    let rejection = approval.clone();
    if has_conflict(submission) {
        approval = json!({ "comment": "...", "take": "mine" });
    }
    let mut calls = vec![ApiCall::get(api.as_str())];
    if may_decide {
        calls.push(ApiCall::new("POST", format!("{api}/approve")).with_body(approval));
        calls.push(ApiCall::new("POST", format!("{api}/reject")).with_body(rejection));
    }
    match reason::of(visit) {
        Some(reason) => calls.into_iter().map(|call| call.with_header("Knowhow-Reason", &reason)).collect(),
        None => calls,
    }
}

async fn respond(visit: &Visit, detail: SubmissionDetail, refused: Option<Refused>) -> Result<HttpResponse, Failure> {
    let SubmissionDetail { submission, diff, .. } = detail;
    let may_decide = diff.is_some() && submission.state == SubmissionState::NeedsReview;
    let calls = calls_of(visit, &submission, may_decide);
    let is_own = visit.ctx.principal.external_id() == Some(submission.user.as_str());
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| status_of(&refused.error));
    let decided = submission.decided_at.map(|at| {
        let by = submission.decided_by.as_deref().unwrap_or("the checks");
        Line(format!("{} by {by}, {}", name_of(submission.state), visit.when(at)))
    });
    page_with(
        status,
        &SubmissionPage {
            layout: Layout::new(visit, Section::Review, submission.skill.as_str()).with_calls(visit, calls),
            row: SubmissionRow::of(visit, &submission),
            id: submission.id.to_string(),
            base_version: submission.base_version,
            session: submission.session.as_deref().map(Line::from),
            tainted_by: submission.tainted_by.join(", ").into(),
            checks: submission.checks.iter().map(check_row).collect(),
            diff: match diff {
                Some(diff) => Some(read_rows(visit, diff).await?),
                None => None,
            },
            may_decide,
            has_conflict: has_conflict(&submission),
            is_approved: submission.state == SubmissionState::Approved,
            applied_version: submission.applied_version,
            versions: is_own.then(|| format!("{}/versions", link::skill(&submission.skill))),
            decided,
            decision_comment: submission.comment.as_deref().map(Block::from),
            error: refused.as_ref().map(|refused| sentence(&refused.error)),
            typed: refused.map(|refused| refused.comment).unwrap_or_default(),
        },
    )
}

fn check_row(check: &Check) -> CheckRow {
    CheckRow {
        step: step_of(check),
        outcome: match check.outcome {
            CheckOutcome::Passed => "no objection",
            CheckOutcome::Held => "waits for a person",
            CheckOutcome::Refused => "refused",
        },
        is_passed: check.outcome == CheckOutcome::Passed,
        reasons: check.reasons.iter().map(Line::from).collect(),
        findings: check.findings.iter().map(finding).collect(),
    }
}

/// Returns a finding on one line: its members in order, without empty ones.
fn finding(finding: &Value) -> Line {
    let members = finding.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Line(members.map(|(name, value)| format!("{name} {}", text(value))).collect::<Vec<_>>().join(", "))
}
