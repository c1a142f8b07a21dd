//! The first page: skills by importance, waiting changes and recent sessions.

use actix_web::HttpResponse;
use askama::Template;
use knowhow_domain::{Scope, SubmissionState};
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

/// Shows the overview.
pub async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let ctx = &visit.ctx;
    let may = |scope: Scope| ctx.principal.require(scope).is_ok();
    let (mut found, mut waiting, mut has_more) = (None, None, false);
    if may(Scope::SkillsRead) {
        let query = skills::ListSkills { ranked: Some(true), limit: Some(ROWS), ..skills::ListSkills::default() };
        found = Some(rows_of(&visit, &skills::list_skills(ctx, &query).await?)?.items);
        let query = ListSubmissions { state: Some(SubmissionState::NeedsReview), ..ListSubmissions::default() };
        let submissions = review::list_submissions(ctx, &query).await?;
        (waiting, has_more) = (Some(submissions.items.len()), submissions.next_cursor.is_some());
    }
    let mut recent = None;
    if may(Scope::Sessions) {
        let query = ListSessions { limit: Some(ROWS), ..ListSessions::default() };
        let listed = sessions::list_sessions(ctx, &query).await?;
        recent = Some(listed.items.iter().map(|session| SessionRow::of(&visit, session)).collect());
    }
    let mut dead_jobs = 0;
    if may(Scope::Admin) {
        dead_jobs = tenants::list_queues(ctx).await?.items.iter().map(|queue| queue.dead).sum();
    }
    let calls = [
        ApiCall::get(format!("/v1/skills?ranked=true&limit={ROWS}")),
        ApiCall::get("/v1/submissions?state=needs_review"),
        ApiCall::get(format!("/v1/sessions?limit={ROWS}")),
    ];
    let layout = Layout::new(&visit, Section::Overview, "Overview").with_calls(&visit, calls);
    page(&Overview { layout, skills: found, sessions: recent, waiting, has_more, dead_jobs })
}
