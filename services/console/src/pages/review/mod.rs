//! Review: changes that wait for a decision.

pub mod reason;
pub mod submission;

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::{Check, CheckOutcome, Error, Result, Submission, SubmissionState};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::review::{self, ListSubmissions};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When};
use crate::visit::{OwnVisit, Visit};

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
    fn of(visit: &Visit, submission: &Submission) -> Self {
        let held = submission.checks.iter().filter(|check| check.outcome != CheckOutcome::Passed);
        let held: Vec<_> = held.map(step_of).collect();
        Self {
            path: format!("/console/review/{}", submission.id),
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
    /// The admin's reason to see the submissions of all users. Without one, the list has only the own ones.
    reason: Option<Line>,
    is_admin: bool,
    /// Address of this page, for the form of the reason.
    here: String,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists submissions.
pub async fn list(OwnVisit(visit): OwnVisit, filters: Query<SubmissionFilters>) -> Result<HttpResponse, Failure> {
    let SubmissionFilters { state, cursor } = filters.into_inner();
    let state = state.unwrap_or_else(|| SubmissionState::NeedsReview.as_str().to_owned());
    let is_admin = visit.ctx.principal.require_admin().is_ok();
    let reason = reason::of(&visit);
    let query = ListSubmissions {
        state: Some(state.as_str()).filter(|state| !state.is_empty()).map(read_state).transpose()?,
        reason: reason.clone(),
        user: visit.viewed.as_ref().map(|(_, name)| name.clone()),
        page: PageQuery { limit: None, cursor: cursor.clone() },
    };
    let found = review::list_submissions(&visit.ctx, &query).await?;
    let path = |cursor: Option<&str>| {
        let query = [("state", Some(state.as_str())), ("cursor", cursor)];
        format!("/console/review{}", link::query(&query))
    };
    let api = link::query(&[("state", Some(&state)), ("cursor", cursor.as_deref())]);
    let call = ApiCall::get(format!("/v1/submissions{api}"));
    let calls = [reason.iter().fold(call, |call, reason| call.with_header("Knowhow-Reason", reason))];
    page(&Review {
        layout: Layout::new(&visit, Section::Review, "Review").with_calls(&visit, calls),
        rows: found.items.iter().map(|found| SubmissionRow::of(&visit, found)).collect(),
        states: STATES,
        is_admin,
        here: path(None),
        is_first: cursor.is_none(),
        first: path(None),
        next: found.next_cursor.as_deref().map(|cursor| path(Some(cursor))),
        reason: reason.map(Line),
        state,
    })
}

fn read_state(state: &str) -> Result<SubmissionState> {
    state.parse().map_err(|_| Error::Malformed(format!("there is no state '{state}'")))
}

/// Returns the name of a step.
fn step_of(check: &Check) -> String {
    json!(check.step).as_str().unwrap_or_default().to_owned()
}
