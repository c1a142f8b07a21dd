//! Review: changes that wait for a decision, and one change with its checks, its diff and the decision.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Check, CheckOutcome, Error, Result, Submission, SubmissionId, SubmissionState};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::review::{self, Decide, GetSubmission, ListSubmissions, SubmissionDetail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, rows};
use crate::failure::{Failure, sentence, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page, page_with, see};
use crate::shown::{Block, Line, When, unix_lines};
use crate::visit::Visit;

/// States to filter by, with their names on the page.
const STATES: [(&str, &str); 6] = [
    ("needs_review", "Waiting"),
    ("approved", "Approved"),
    ("rejected", "Rejected"),
    ("stale", "Outdated"),
    ("withdrawn", "Withdrawn"),
    ("expired", "Expired"),
];

#[derive(Default, Deserialize)]
pub struct SubmissionFilters {
    state: Option<String>,
    /// An admin's reason to read the submissions of all users.
    reason: Option<String>,
    cursor: Option<String>,
}

struct SubmissionRow {
    path: String,
    skill: Line,
    kind: &'static str,
    state: &'static str,
    user: Line,
    submitter: Line,
    tainted: bool,
    why: Line,
    held_by: Line,
    at: When,
}

impl SubmissionRow {
    fn of(visit: &Visit, submission: &Submission, reason: Option<&str>) -> Self {
        let held = submission.checks.iter().filter(|check| check.outcome != CheckOutcome::Passed);
        let held: Vec<_> = held.map(|check| step_of(check)).collect();
        Self {
            path: format!("/console/review/{}{}", submission.id, link::query(&[("reason", reason)])),
            skill: submission.skill.as_str().into(),
            kind: submission.kind.as_str(),
            state: name_of(submission.state),
            user: submission.user.as_str().into(),
            submitter: submission.submitter.as_str().into(),
            tainted: submission.tainted,
            why: submission.reason.as_deref().unwrap_or_default().into(),
            held_by: held.join(", ").into(),
            at: visit.when(submission.created_at),
        }
    }
}

fn name_of(state: SubmissionState) -> &'static str {
    let stored = state.as_str();
    STATES.iter().find(|(known, _)| *known == stored).map_or("Being checked", |(_, name)| name)
}

#[derive(Template)]
#[template(path = "review.html")]
struct Review {
    layout: Layout,
    rows: Vec<SubmissionRow>,
    states: [(&'static str, &'static str); 6],
    state: String,
    reason: Line,
    is_admin: bool,
    /// Whether the submissions of all users are listed.
    is_of_all: bool,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists submissions.
pub async fn list(visit: Visit, filters: Query<SubmissionFilters>) -> Result<HttpResponse, Failure> {
    let SubmissionFilters { state, reason, cursor } = filters.into_inner();
    let state = state.unwrap_or_else(|| SubmissionState::NeedsReview.as_str().to_owned());
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let is_admin = visit.ctx.principal.require_admin().is_ok();
    let query = ListSubmissions {
        state: Some(state.as_str()).filter(|state| !state.is_empty()).map(read_state).transpose()?,
        reason: reason.clone().filter(|_| is_admin).map(checked_reason).transpose()?,
        page: PageQuery { limit: None, cursor: cursor.clone() },
        ..ListSubmissions::default()
    };
    let found = review::list_submissions(&visit.ctx, &query).await?;
    let path = |cursor: Option<&str>| {
        let query = [("state", Some(state.as_str())), ("reason", reason.as_deref()), ("cursor", cursor)];
        format!("/console/review{}", link::query(&query))
    };
    let api = link::query(&[("state", Some(&state)), ("cursor", cursor.as_deref())]);
    let call = ApiCall::get(format!("/v1/submissions{api}"));
    let calls = [reason.iter().fold(call, |call, reason| call.with_header("Knowhow-Reason", reason))];
    page(&Review {
        layout: Layout::new(&visit, Section::Review, "Review").with_calls(&visit, calls),
        rows: found.items.iter().map(|found| SubmissionRow::of(&visit, found, reason.as_deref())).collect(),
        states: STATES,
        is_admin,
        is_of_all: query.reason.is_some(),
        is_first: cursor.is_none(),
        first: path(None),
        next: found.next_cursor.as_deref().map(|cursor| path(Some(cursor))),
        reason: reason.unwrap_or_default().into(),
        state,
    })
}

fn read_state(state: &str) -> Result<SubmissionState> {
    state.parse().map_err(|_| Error::Malformed(format!("there is no state '{state}'")))
}

/// Checks an admin's reason, as REST checks the header `Knowhow-Reason`.
fn checked_reason(reason: String) -> Result<String> {
    if (8..=200).contains(&reason.chars().count()) {
        return Ok(reason);
    }
    Err(Error::Malformed("the reason must have 8 to 200 characters; go back and write a longer or shorter one".into()))
}

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
    let (id, reason) = (id.into_inner(), given_reason(query.into_inner().reason.unwrap_or_default())?);
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

fn given_reason(reason: String) -> Result<Option<String>> {
    Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()).map(checked_reason).transpose()
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
    let (reason, comment) = (given_reason(fields.reason)?, unix_lines(&fields.comment));
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

/// Returns the name of a step.
fn step_of(check: &Check) -> String {
    json!(check.step).as_str().unwrap_or_default().to_owned()
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
