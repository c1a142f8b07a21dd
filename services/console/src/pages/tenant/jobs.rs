//! Unfinished jobs of the tenant, to retry and to discard.

use actix_web::HttpResponse;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::{Error, Job, JobId, JobState};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::tenants::{self, ListJobs};
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::form::AdminForm;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page, see};
use crate::shown::{Line, When};
use crate::visit::{AdminVisit, Visit};

const STATES: [(&str, &str); 4] =
    [("dead", "Dead"), ("failed", "Failed"), ("waiting", "Waiting"), ("running", "Running")];

#[derive(Default, Deserialize)]
pub struct JobFilters {
    #[serde(default)]
    state: String,
    cursor: Option<String>,
}

impl JobFilters {
    fn path(&self, root: &str, cursor: Option<&str>) -> String {
        format!("{root}/jobs{}", link::query(&[("state", Some(&*self.state)), ("cursor", cursor)]))
    }

    /// Returns the same part of the list, after an action.
    fn after(&self, done: &str) -> String {
        link::after(&self.path("/console", self.cursor.as_deref()), done)
    }
}

struct JobRow {
    path: String,
    id: String,
    task: Line,
    state: &'static str,
    is_dead: bool,
    is_running: bool,
    user: Line,
    attempts: String,
    error: Option<Line>,
    created: When,
}

#[derive(Template)]
#[template(path = "jobs.html")]
struct Jobs {
    layout: Layout,
    rows: Vec<JobRow>,
    states: [(&'static str, &'static str); 4],
    state: String,
    cursor: Option<String>,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists the jobs.
pub async fn list(visit: AdminVisit, filters: Query<JobFilters>) -> Result<HttpResponse, Failure> {
    let (visit, filters) = (visit.0, filters.into_inner());
    let JobFilters { state, cursor } = &filters;
    let unknown = |_| Error::Malformed(format!("there is no state '{state}'"));
    let wanted = Some(state.as_str()).filter(|state| !state.is_empty()).map(str::parse::<JobState>).transpose();
    let query = ListJobs { state: wanted.map_err(unknown)?, page: PageQuery { limit: None, cursor: cursor.clone() } };
    let found = tenants::list_jobs(&visit.ctx, &query).await?;
    let calls = [
        ApiCall::get(filters.path("/v1/admin", cursor.as_deref())),
        ApiCall::new("POST", "/v1/admin/jobs/ID/retry"),
        ApiCall::new("DELETE", "/v1/admin/jobs/ID"),
    ];
    page(&Jobs {
        layout: Layout::new(&visit, Section::Jobs, "Jobs").with_calls(&visit, calls),
        rows: found.items.into_iter().map(|job| row_of(&visit, job)).collect(),
        states: STATES,
        is_first: cursor.is_none(),
        first: filters.path("/console", None),
        next: found.next_cursor.as_deref().map(|cursor| filters.path("/console", Some(cursor))),
        state: filters.state,
        cursor: filters.cursor,
    })
}

/// Runs a job again.
pub async fn retry(id: Path<JobId>, form: AdminForm<JobFilters>) -> Result<HttpResponse, Failure> {
    tenants::retry_job(&form.visit.ctx, id.into_inner()).await?;
    Ok(see(&form.fields.after("retried")))
}

/// Deletes a job without running it.
pub async fn discard(id: Path<JobId>, form: AdminForm<JobFilters>) -> Result<HttpResponse, Failure> {
    tenants::discard_job(&form.visit.ctx, id.into_inner()).await?;
    Ok(see(&form.fields.after("discarded")))
}

fn row_of(visit: &Visit, job: Job) -> JobRow {
    JobRow {
        path: format!("/console/jobs/{}", job.id),
        id: job.id.to_string(),
        task: job.task.into(),
        state: job.state.as_str(),
        is_dead: job.state == JobState::Dead,
        is_running: job.state == JobState::Running,
        user: job.user.unwrap_or_default().into(),
        attempts: format!("{} of {}", job.attempts, job.max_attempts),
        error: job.last_error.map(Line),
        created: visit.when(job.created_at),
    }
}
