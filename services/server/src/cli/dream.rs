//! `knowhow dream`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use knowhow_domain::dream::{DreamOp, Operation, Pass, RunState};
use knowhow_ops::admin;
use knowhow_ops::dream::{self, DreamDetail, StartDreams};
use knowhow_ops::page::PageQuery;
use knowhow_ops::{App, Ctx};

use super::{print, serve, shell};
use crate::config::Config;

/// Dreams for a user at once, without a worker.
#[derive(Args)]
pub(super) struct DreamCommand {
    /// The user's external id
    user: String,
    /// The tenant's slug; where there is one tenant alone, it may be left out
    #[arg(long, value_name = "SLUG")]
    tenant: Option<String>,
    /// Show what would be proposed; nothing is changed, nor offered
    #[arg(long)]
    dry_run: bool,
    /// A pass, gaps, consolidate or optimize; may be given several times; by default all that are not off
    #[arg(long = "pass", value_name = "PASS", value_parser = parse_pass)]
    passes: Vec<Pass>,
    /// Print each run as `GET /v1/dreams/{id}` answers it, in one JSON array
    #[arg(long)]
    json: bool,
}

fn parse_pass(word: &str) -> Result<Pass, String> {
    word.parse().map_err(|_| "must be gaps, consolidate or optimize".to_owned())
}

impl DreamCommand {
    /// Begins the runs, does them and prints them. Fails where one of them has failed.
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let app = App { models: serve::open_models(config)?, ..shell::app(config)? };
        let outcome = self.dream(&app).await;
        app.db.close().await;
        outcome
    }

    async fn dream(self, app: &App) -> Result<ExitCode> {
        let slug = match self.tenant {
            Some(slug) => slug,
            None => only_tenant(app).await?,
        };
        // A mistyped name must not make a user.
        let operator = app.gate.operator_at_shell(Some(&slug)).await?;
        admin::get_user(&Ctx::of(app, &operator), &self.user).await?;
        let user = app.gate.user_at_shell(&slug, &self.user).await?;
        let asked = StartDreams { dry_run: self.dry_run, passes: self.passes };
        let runs = dream::dream_here(&Ctx::of(app, &user), &asked).await?;
        match self.json {
            true => print::json(&runs)?,
            // An empty line between two runs.
            false => print::lines(runs.iter().map(describe).collect::<Vec<_>>().join(&String::new()))?,
        }
        let has_failed = runs.iter().any(|detail| detail.run.state == RunState::Failed);
        Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// The tenant, where there is one alone.
async fn only_tenant(app: &App) -> Result<String> {
    let nowhere = app.gate.operator_at_shell(None).await?;
    let page = PageQuery { limit: Some(2), cursor: None };
    let tenants = admin::list_tenants(&Ctx::of(app, &nowhere), &page).await?;
    match tenants.items.as_slice() {
        [one] => Ok(one.slug.clone()),
        [] => bail!("there is no tenant: knowhow tenant create SLUG"),
        _ => bail!("name the tenant: --tenant SLUG"),
    }
}

/// Describes a run in lines: its outcome, each operation, and what it cost.
fn describe(detail: &DreamDetail) -> Vec<String> {
    let run = &detail.run;
    let dry = if run.dry_run { ", a dry run" } else { "" };
    let reason = run.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
    let mut lines = vec![format!("{}: {}{dry}{reason} ({})", run.pass, run.state, run.id)];
    lines.extend(detail.ops.iter().flat_map(describe_op));
    let (calls, tokens) = (detail.calls.len(), run.tokens);
    lines.push(format!(
        "  it took {calls} question{} to the model and {tokens} tokens",
        if calls == 1 { "" } else { "s" }
    ));
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
        lines.push(format!("     made of what is not to be trusted: {}", op.tainted_by.join(", ")));
    }
    lines.extend(op.diff.iter().flat_map(|diff| diff.lines()).map(|line| format!("     {line}")));
    lines
}
