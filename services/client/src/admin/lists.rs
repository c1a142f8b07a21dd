//! Commands that list and change users, tenants, sessions, jobs and models.

use anyhow::{Context, Result, bail};
use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use crate::admin::requests::{AdminRequests, encoded, text, user_path, with};
use crate::print;
use crate::service::ServiceError;

/// Selects the database of system jobs.
#[derive(Args)]
pub(super) struct JobsPlace {
    /// Place (database) of the system jobs; allowed only for operators without a tenant. Default: home
    #[arg(long)]
    place: Option<String>,
}

/// Settings to change.
#[derive(Args)]
pub(super) struct SettingsArgs {
    /// A setting and its value in JSON, e.g. skills_per_user=500 or channels.chat.max_turns=20; without a value, its
    /// default is restored
    #[arg(required = true, value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// Confirm settings that shorten retention, and so delete stored data permanently
    #[arg(long)]
    shorten_retention: bool,
}

/// Converts changes to settings, such as `name=value`, to a JSON merge patch.
fn read_settings(changes: &[String]) -> Result<Value> {
    let mut patch = json!({});
    for change in changes {
        let (name, value) = change.split_once('=').unwrap_or((change, ""));
        let value = match value {
            "" => Value::Null,
            // A value that cannot be parsed as JSON is sent as a string.
            value => serde_json::from_str(value).unwrap_or_else(|_| json!(value)),
        };
        let (parents, last) = name.rsplit_once('.').map_or((None, name), |(parents, last)| (Some(parents), last));
        let mut at = &mut patch;
        for parent in parents.into_iter().flat_map(|parents| parents.split('.')) {
            let members = at.as_object_mut().with_context(|| given_twice(name))?;
            at = members.entry(parent).or_insert_with(|| json!({}));
        }
        let members = at.as_object_mut().with_context(|| given_twice(name))?;
        if members.insert(last.to_owned(), value).is_some() {
            bail!(given_twice(name));
        }
    }
    Ok(patch)
}

fn given_twice(name: &str) -> String {
    format!("'{name}' is given twice, or together with one of its members")
}

impl JobsPlace {
    fn path(&self, path: String) -> String {
        match &self.place {
            Some(place) => with(&path, "place", place),
            None => path,
        }
    }
}

impl AdminRequests {
    pub(super) async fn list_users(&self, prefix: &str) -> Result<()> {
        let path = format!("/v1/admin/users?prefix={}", encoded(prefix));
        let line = |user: &Value| {
            let suspended = if user["suspended_at"].is_null() { "" } else { ", suspended" };
            format!(
                "{}: {} skills, {} bytes, with history {}{suspended}",
                text(user, "external_id"),
                user["skill_count"],
                user["byte_count"],
                user["stored_bytes"]
            )
        };
        self.list(&path, line, "there is no such user").await
    }

    pub(super) async fn show_user(&self, external_id: &str) -> Result<()> {
        self.show(&user_path(external_id, "")).await
    }

    pub(super) async fn list_sessions(&self, external_id: &str, open: bool) -> Result<()> {
        let path = user_path(external_id, "/sessions");
        let path = if open { with(&path, "open", "true") } else { path };
        let line = |session: &Value| {
            let end = if session["ended_at"].is_null() {
                "open".into()
            } else {
                format!("ended {}", text(session, "ended_at"))
            };
            format!(
                "{} of {} on {}: {} turns since {}, {end}",
                text(session, "id"),
                text(session, "key"),
                text(session, "channel"),
                session["turns"],
                text(session, "started_at")
            )
        };
        self.list(&path, line, "there is no session").await
    }

    pub(super) async fn end_session(&self, external_id: &str, session: &str) -> Result<()> {
        let path = user_path(external_id, &format!("/sessions/{}", encoded(session)));
        self.ask(Method::DELETE, &path, None).await?;
        self.tell(&json!({ "session": session, "ended": true }), format!("session {session} has ended"))
    }

    pub(super) async fn list_tenants(&self) -> Result<()> {
        let line = |tenant: &Value| {
            let suspended = if tenant["suspended_at"].is_null() { "" } else { ", suspended" };
            format!("{}: {}{suspended}", text(tenant, "slug"), text(tenant, "name"))
        };
        self.list("/v1/admin/tenants", line, "there is no tenant").await
    }

    pub(super) async fn show_tenant(&self, slug: &str) -> Result<()> {
        self.show(&format!("/v1/admin/tenants/{}", encoded(slug))).await
    }

    /// Changes a tenant's settings.
    pub(super) async fn set_tenant(&self, slug: &str, settings: &SettingsArgs) -> Result<()> {
        let mut path = format!("/v1/admin/tenants/{}", encoded(slug));
        if settings.shorten_retention {
            path = with(&path, "confirm", "shorten-retention");
        }
        let body = json!({ "settings": read_settings(&settings.settings)? });
        let tenant = self.ask(Method::PATCH, &path, Some(&body)).await.map_err(|error| {
            let needs_confirmation = error.downcast_ref::<ServiceError>().is_some_and(|r| r.code == "confirm-needed");
            if needs_confirmation { error.context("add --shorten-retention to confirm") } else { error }
        })?;
        let settings = format!("{:#}", tenant["settings"]);
        let lines: Vec<String> =
            std::iter::once(format!("{slug}:")).chain(settings.lines().map(str::to_owned)).collect();
        self.tell_lines(&tenant, &lines)
    }

    pub(super) async fn list_queues(&self) -> Result<()> {
        let answer = self.ask(Method::GET, "/v1/admin/queues", None).await?;
        let line = |queue: &Value| {
            format!(
                "{}: {} waiting, {} running, {} failed, {} dead; late by {} s",
                text(queue, "task"),
                queue["waiting"],
                queue["running"],
                queue["failed"],
                queue["dead"],
                queue["late_s"]
            )
        };
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        self.tell_all(&items, line, "there is no job")
    }

    pub(super) async fn list_jobs(&self, state: Option<&str>, at: &JobsPlace) -> Result<()> {
        let only = state.map(|state| format!("?state={}", encoded(state))).unwrap_or_default();
        let path = at.path(format!("/v1/admin/jobs{only}"));
        let line = |job: &Value| {
            format!(
                "{} {} of {}: {}, {} of {} attempts, due {} {}",
                job["id"],
                text(job, "task"),
                text(job, "user"),
                text(job, "state"),
                job["attempts"],
                job["max_attempts"],
                text(job, "run_at"),
                text(job, "last_error")
            )
        };
        self.list(&path, line, "there is no job").await
    }

    pub(super) async fn change_job(&self, id: i64, at: &JobsPlace, again: bool) -> Result<()> {
        if again {
            self.ask(Method::POST, &at.path(format!("/v1/admin/jobs/{id}/retry")), None).await?;
        } else {
            self.ask(Method::DELETE, &at.path(format!("/v1/admin/jobs/{id}")), None).await?;
        }
        let done = if again { "waits for a worker" } else { "is discarded" };
        self.tell(&json!({ "job": id, "state": done }), format!("{id} {done}"))
    }

    pub(super) async fn list_processes(&self) -> Result<()> {
        let answer = self.ask_above("/v1/admin/processes").await?;
        let line = |process: &Value| {
            format!(
                "{} {} at {}: at most {} connections, since {}, seen {}",
                text(process, "kind"),
                text(process, "version"),
                text(process, "host"),
                process["connections"],
                text(process, "started_at"),
                text(process, "seen_at")
            )
        };
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        self.tell_all(&items, line, "there is no process")
    }

    pub(super) async fn show_models(&self, ask: bool) -> Result<()> {
        let models = self.ask_above(&format!("/v1/admin/models?ask={ask}")).await?;
        let line = |kind: &str| {
            let model = &models[kind];
            let answered = match model["elapsed_ms"].as_u64() {
                Some(elapsed) => format!(", answered in {elapsed} ms"),
                None => String::new(),
            };
            format!("{kind}: {} {}{answered} {}", text(model, "state"), text(model, "model"), text(model, "problem"))
        };
        self.tell_lines(&models, &["embeddings", "chat"].map(|kind| line(kind).trim_end().to_owned()))
    }

    /// Prints a response as indented JSON, with and without `--json`.
    async fn show(&self, path: &str) -> Result<()> {
        let answer = self.ask(Method::GET, path, None).await?;
        print::json(&answer)
    }
}
