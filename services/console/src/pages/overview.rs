//! The first page: skills by importance, waiting changes and recent sessions.

use actix_web::HttpResponse;
use askama::Template;
use futures_util::future::try_join4;
use knowhow_domain::{Result, Scope, SubmissionState};
use knowhow_ops::review::{self, ListSubmissions};
use knowhow_ops::sessions::{self, ListSessions};
use knowhow_ops::{skills, tenants};

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::pages::sessions::SessionRow;
use crate::pages::skills::{SkillRow, rows_of};
use crate::respond::page;
use crate::visit::Visit;

/// Number of rows of each list.
const ROWS: u32 = 8;

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    layout: Layout,
    skills: Option<Vec<SkillRow>>,
    sessions: Option<Vec<SessionRow>>,
    waiting: Option<usize>,
    /// True if `waiting` counts only the first page of the submissions.
    has_more: bool,
    /// Jobs of the tenant that failed for good, for its admins.
    dead_jobs: i64,
}

/// Changes that wait for review.
struct Waiting {
    count: usize,
    has_more: bool,
}

/// Shows the overview.
pub async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let reads =
        try_join4(read_skills(&visit), count_waiting(&visit), read_sessions(&visit), count_dead_jobs(&visit)).await?;
    let (skills, waiting, sessions, dead_jobs) = reads;
    let calls = [
        ApiCall::get(format!("/v1/skills?ranked=true&limit={ROWS}")),
        ApiCall::get("/v1/submissions?state=needs_review"),
        ApiCall::get(format!("/v1/sessions?limit={ROWS}")),
    ];
    page(&Overview {
        layout: Layout::new(&visit, Section::Overview, "Overview").with_calls(&visit, calls),
        skills,
        sessions,
        has_more: waiting.as_ref().is_some_and(|waiting| waiting.has_more),
        waiting: waiting.map(|waiting| waiting.count),
        dead_jobs,
    })
}

fn may(visit: &Visit, scope: Scope) -> bool {
    visit.ctx.principal.require(scope).is_ok()
}

/// Returns the most important skills; `None` without the right to read skills.
async fn read_skills(visit: &Visit) -> Result<Option<Vec<SkillRow>>> {
    if !may(visit, Scope::SkillsRead) {
        return Ok(None);
    }
    let query = skills::ListSkills { ranked: Some(true), limit: Some(ROWS), ..skills::ListSkills::default() };
    Ok(Some(rows_of(visit, &skills::list_skills(&visit.ctx, &query).await?)?.items))
}

/// Counts the changes that wait for review; `None` without the right to read skills.
async fn count_waiting(visit: &Visit) -> Result<Option<Waiting>> {
    if !may(visit, Scope::SkillsRead) {
        return Ok(None);
    }
    let query = ListSubmissions { state: Some(SubmissionState::NeedsReview), ..ListSubmissions::default() };
    let found = review::list_submissions(&visit.ctx, &query).await?;
    Ok(Some(Waiting { count: found.items.len(), has_more: found.next_cursor.is_some() }))
}

/// Returns the latest sessions; `None` without the right to read sessions.
async fn read_sessions(visit: &Visit) -> Result<Option<Vec<SessionRow>>> {
    if !may(visit, Scope::Sessions) {
        return Ok(None);
    }
    let query = ListSessions { limit: Some(ROWS), ..ListSessions::default() };
    let found = sessions::list_sessions(&visit.ctx, &query).await?;
    Ok(Some(found.items.iter().map(|session| SessionRow::of(visit, session)).collect()))
}

/// Counts the jobs of the tenant that failed for good; 0 unless the caller is an admin.
async fn count_dead_jobs(visit: &Visit) -> Result<i64> {
    if !may(visit, Scope::Admin) {
        return Ok(0);
    }
    Ok(tenants::list_queues(&visit.ctx).await?.items.iter().map(|queue| queue.dead).sum())
}
