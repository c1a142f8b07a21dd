//! The command `knowhow dream`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use knowhow_domain::learning::dream::{DreamOp, Operation, Pass, RunState};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::learning::dream::{self, DreamDetail, StartDreams};
use knowhow_ops::tenants;
use knowhow_ops::{App, Ctx};

use super::shell;
use super::startup::open_models;
use crate::config::Config;
use knowhow_client::print;

/// Run dreams for a user now, without a worker
#[derive(Args)]
pub(super) struct DreamCommand {
    /// External id of the user
    user: String,
    /// Slug of the tenant; optional if there is only one
    #[arg(long, value_name = "SLUG")]
    tenant: Option<String>,
    /// Only show what would be proposed
    #[arg(long)]
    dry_run: bool,
    /// A pass: gaps, consolidate or optimize; may be repeated; by default all that are not off
    #[arg(long = "pass", value_name = "PASS", value_parser = parse_pass)]
    passes: Vec<Pass>,
    /// Print the runs as a JSON array; each has the form that `GET /v1/dreams/{id}` returns
    #[arg(long)]
    json: bool,
}

fn parse_pass(word: &str) -> Result<Pass, String> {
    word.parse().map_err(|_| "must be gaps, consolidate or optimize".to_owned())
}

impl DreamCommand {
    /// Creates the runs, executes them and prints them. The exit code is 1 if any run failed.
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let app = App { models: open_models(config)?, ..shell::app(config)? };
        let outcome = self.dream(&app).await;
        app.db.close().await;
        outcome
    }

    async fn dream(self, app: &App) -> Result<ExitCode> {
        let slug = match self.tenant {
            Some(slug) => slug,
            None => only_tenant(app).await?,
        };
        // A mistyped name is an error; otherwise the command would create a user.
        let operator = app.gate.operator_at_shell(Some(&slug)).await?;
        tenants::get_user(&Ctx::of(app, &operator), &self.user).await?;
        let user = app.gate.user_at_shell(&slug, &self.user).await?;
        let asked = StartDreams { dry_run: self.dry_run, passes: self.passes };
        let runs = dream::dream_here(&Ctx::of(app, &user), &asked).await?;
        match self.json {
            true => print::json(&runs)?,
            // Two runs are separated by an empty line.
            false => print::lines(runs.iter().map(describe).collect::<Vec<_>>().join(&String::new()))?,
        }
        let has_failed = runs.iter().any(|detail| detail.run.state == RunState::Failed);
        Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Returns the slug of the tenant if there is exactly one.
async fn only_tenant(app: &App) -> Result<String> {
    let nowhere = app.gate.operator_at_shell(None).await?;
    let page = PageQuery { limit: Some(2), cursor: None };
    let tenants = tenants::list_tenants(&Ctx::of(app, &nowhere), &page).await?;
    match tenants.items.as_slice() {
        [one] => Ok(one.slug.clone()),
        [] => bail!("there is no tenant: knowhow tenant create SLUG"),
        _ => bail!("name the tenant: --tenant SLUG"),
    }
}

/// Describes a run in several lines: its outcome, its operations and its cost.
fn describe(detail: &DreamDetail) -> Vec<String> {
    let run = &detail.run;
    let dry = if run.dry_run { ", a dry run" } else { "" };
    let reason = run.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
    let mut lines = vec![format!("{}: {}{dry}{reason} ({})", run.pass, run.state, run.id)];
    lines.extend(detail.ops.iter().flat_map(describe_op));
    let (calls, tokens) = (detail.calls.len(), run.tokens);
    lines.push(format!("  used {calls} model call{} and {tokens} tokens", if calls == 1 { "" } else { "s" }));
    lines
}

fn describe_op(op: &DreamOp) -> Vec<String> {
    let kind = op.kind.map_or("not readable", |kind| kind.as_str());
    let target = serde_json::from_value::<Operation>(op.op.clone()).map(|operation| operation.target().to_owned());
    let mut lines = vec![format!("  {}. {kind} {}: {}", op.position, target.unwrap_or_default(), op.outcome)];
    let why = op.op["reason"].as_str().filter(|why| !why.is_empty());
    let reasons = why.into_iter().chain(op.reasons.iter().map(String::as_str));
    lines.extend(reasons.map(|line| format!("     {}", line.replace('\n', " "))));
    if !op.tainted_by.is_empty() {
        lines.push(format!("     derived from untrusted content: {}", op.tainted_by.join(", ")));
    }
    lines.extend(op.diff.iter().flat_map(|diff| diff.lines()).map(|line| format!("     {line}")));
    lines
}
