//! A change in review, with its checks, its diff and the decision.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Check, CheckOutcome, Error, Result, SubmissionId, SubmissionState};
use knowhow_ops::review::{self, Decide, GetSubmission, SubmissionDetail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{SubmissionRow, given_reason, name_of, step_of};
use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, rows};
use crate::failure::{Failure, sentence, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page, page_with, see};
use crate::shown::{Block, Line, unix_lines};
use crate::visit::Visit;

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
    /// Digest of the shown change. A decision is bound to it.
    hash: String,
    may_decide: bool,
    decided: Option<Line>,
    decision_comment: Option<Block>,
    reason: Line,
    typed: String,
    error: Option<Block>,
}

#[derive(Template)]
#[template(path = "submission_reason.html")]
struct ReasonPage {
    layout: Layout,
    id: String,
}

#[derive(Default, Deserialize)]
pub struct Reason {
    reason: Option<String>,
}

/// A decision.
#[derive(Deserialize)]
pub struct Decision {
    #[serde(default)]
    comment: String,
    hash: String,
    #[serde(default)]
    reason: String,
}

/// A decision that was refused.
struct Refused {
    error: Error,
    comment: String,
}

/// Shows a submission.
pub async fn show(visit: Visit, id: Path<SubmissionId>, query: Query<Reason>) -> Result<HttpResponse, Failure> {
    let (id, reason) = (id.into_inner(), given_reason(query.into_inner().reason)?);
    let is_admin = visit.ctx.principal.require_admin().is_ok();
    match review::get_submission(&visit.ctx, &GetSubmission { id, reason: reason.clone() }).await {
        Ok(found) => respond(&visit, &found, reason, None),
        // An admin reads another user's text only for a reason.
        Err(Error::Malformed(_)) if is_admin && reason.is_none() => {
            let layout = Layout::new(&visit, Section::Review, "Review");
            page(&ReasonPage { layout, id: id.to_string() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Approves a submission.
pub async fn approve(id: Path<SubmissionId>, form: Form<Decision>) -> Result<HttpResponse, Failure> {
    decide(id.into_inner(), form, true).await
}

/// Rejects a submission.
pub async fn reject(id: Path<SubmissionId>, form: Form<Decision>) -> Result<HttpResponse, Failure> {
    decide(id.into_inner(), form, false).await
}

async fn decide(id: SubmissionId, form: Form<Decision>, is_approval: bool) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let (reason, comment) = (given_reason(Some(fields.reason))?, unix_lines(&fields.comment));
    let query = GetSubmission { id, reason: reason.clone() };
    let shown = review::get_submission(&visit.ctx, &query).await?;
    if hash_of(&shown) != fields.hash {
        let detail = "The change is not the one that you were shown. Look at it again, then decide.".into();
        let error = Error::Conflict { code: "stale", detail };
        return respond(&visit, &shown, reason, Some(Refused { error, comment }));
    }
    let given = Some(comment.trim()).filter(|comment| !comment.is_empty()).map(str::to_owned);
    let input = Decide { id, comment: given, take: None, reason: reason.clone() };
    let (decided, word) = if is_approval {
        (review::approve_submission(&visit.ctx, &input).await, "approved")
    } else {
        (review::reject_submission(&visit.ctx, &input).await, "rejected")
    };
    match decided {
        Ok(_) => {
            Ok(see(&format!("/console/review{}", link::query(&[("reason", reason.as_deref()), ("done", Some(word))]))))
        }
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => {
            let now = review::get_submission(&visit.ctx, &query).await?;
            respond(&visit, &now, reason, Some(Refused { error, comment }))
        }
    }
}

/// Returns the digest of the proposed change.
fn hash_of(detail: &SubmissionDetail) -> String {
    let submission = &detail.submission;
    let parts = (&submission.base_digest, &submission.result_digest, &detail.diff);
    manifest::hex(&manifest::digest(json!(parts).to_string().as_bytes()))
}

fn respond(
    visit: &Visit,
    detail: &SubmissionDetail,
    reason: Option<String>,
    refused: Option<Refused>,
) -> Result<HttpResponse, Failure> {
    let submission = &detail.submission;
    let api = format!("/v1/submissions/{}", submission.id);
    let comment = json!({ "comment": "..." });
    let may_decide = detail.diff.is_some() && submission.state == SubmissionState::NeedsReview;
    let verbs = if may_decide { ["approve", "reject"].as_slice() } else { &[] };
    let decisions = verbs.iter().map(|verb| ApiCall::new("POST", format!("{api}/{verb}")).with_body(comment.clone()));
    let calls = std::iter::once(ApiCall::get(api.as_str())).chain(decisions);
    let calls = calls.map(|call| reason.iter().fold(call, |call, reason| call.with_header("Knowhow-Reason", reason)));
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| status_of(&refused.error));
    let decided = submission.decided_at.map(|at| {
        let by = submission.decided_by.as_deref().unwrap_or("the checks");
        Line(format!("{} by {by}, {}", name_of(submission.state), visit.when(at)))
    });
    page_with(
        status,
        &SubmissionPage {
            layout: Layout::new(visit, Section::Review, submission.skill.as_str()).with_calls(visit, calls),
            row: SubmissionRow::of(visit, submission, reason.as_deref()),
            id: submission.id.to_string(),
            base_version: submission.base_version,
            session: submission.session.as_deref().map(Line::from),
            tainted_by: submission.tainted_by.join(", ").into(),
            checks: submission.checks.iter().map(check_row).collect(),
            diff: detail.diff.as_deref().map(rows),
            hash: hash_of(detail),
            may_decide,
            decided,
            decision_comment: submission.comment.as_deref().map(Block::from),
            reason: reason.unwrap_or_default().into(),
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
