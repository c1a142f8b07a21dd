//! `knowhow doctor`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use knowhow_ops::admin::{UnderKeys, count_under_keys};
use knowhow_ops::chat::{ChatLimits, Prompt};
use knowhow_ops::embed::TextKind;
use knowhow_ops::{Asker, Asking, Models, Priority};
use knowhow_store::{Database, DatabaseConfig, boot, explain, issuers, queue, replica};
use tokio::time::Instant;

use super::database::{advised, explained};
use super::{print, process, shell};
use crate::config::Config;

/// How long a model may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Says what is wrong, in words; exit code 1 where anything is.
pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    let mut findings: Vec<String> = Vec::new();
    if let Err(error) = config.secret() {
        findings.push(error.to_string());
    }
    findings.extend(examine_database(config).await?);
    match config.models().and_then(|models| Ok(Models::open(models)?)) {
        Err(error) => findings.push(format!("{error:#}")),
        Ok(models) => findings.extend(examine(&models).await?),
    }
    print::lines(findings.iter().map(|finding| format!("wrong: {finding}")))?;
    if findings.is_empty() {
        print::line("database, roles, row-level security, models and settings are as they must be")?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// What is wrong with the database; where nothing is, says how the jobs are.
async fn examine_database(config: &Config) -> Result<Vec<String>> {
    let wrong = |error: anyhow::Error| Ok(vec![format!("{error:#}")]);
    let settings = match config.database() {
        Ok(settings) => settings,
        Err(error) => return wrong(error),
    };
    let db = match Database::open(&settings) {
        Ok(db) => db,
        Err(error) => return wrong(error.into()),
    };
    if let Some(unreachable) = explain(&settings.url).await? {
        return Ok(vec![advised(&unreachable)]);
    }
    let mut findings = match boot::inspect(&db).await {
        Ok(findings) => findings,
        Err(error) => return wrong(explained(config, error.into()).await.context("the database cannot be inspected")),
    };
    for at in db.each().skip(1) {
        findings.extend(examine_place(&at, &settings).await?);
    }
    findings.extend(examine_replica(config).await?);
    if findings.is_empty() {
        for at in db.each() {
            report_jobs(&at).await?;
            report_issuers(config, &at).await?;
        }
        report_keys(config).await?;
        findings.extend(process::report(&db).await?);
    }
    Ok(findings)
}

/// What is wrong with a place besides `home`.
async fn examine_place(db: &Database, settings: &DatabaseConfig) -> Result<Vec<String>> {
    let url = settings.url_of(db.here());
    let mut findings = match explain(url).await? {
        Some(unreachable) => vec![unreachable.to_string()],
        None => boot::inspect(db).await?,
    };
    if findings.is_empty() {
        findings.extend(process::report_connections(db).await?);
    }
    Ok(findings.into_iter().map(|finding| format!("place '{}': {finding}", db.place_name())).collect())
}

/// What is wrong with the replica, where one is named.
async fn examine_replica(config: &Config) -> Result<Vec<String>> {
    let replica = match config.replica() {
        Ok(Some(replica)) => replica,
        Ok(None) => return Ok(Vec::new()),
        Err(error) => return Ok(vec![format!("{error:#}")]),
    };
    if let Some(unreachable) = explain(&config.replica_url).await? {
        return Ok(vec![format!(
            "the replica of KNOWHOW_REPLICA_URL: {unreachable}; until it is there, the primary is read"
        )]);
    }
    Ok(replica::inspect(&replica)
        .await
        .unwrap_or_else(|error| vec![format!("the replica cannot be inspected: {error}")]))
}

/// The queue is there, or its absence were a finding. Dead jobs are work for an admin, nothing wrong with the deployment.
async fn report_jobs(db: &Database) -> Result<()> {
    match queue::count_dead(db).await? {
        0 => print::line("jobs: the queue is there, no job is dead"),
        dead => print::line(format!("jobs: the queue is there, {dead} dead (GET /v1/admin/jobs?state=dead)")),
    }
}

/// What still needs the master key before, where one is set, and what opens with neither.
async fn report_keys(config: &Config) -> Result<()> {
    let Ok(app) = shell::app(config) else { return Ok(()) };
    let UnderKeys { previous, neither, api_keys, .. } = count_under_keys(&app).await?;
    if app.gate.state().sealer().has_previous() {
        print::line(format!(
            "master key: {previous} secrets (knowhow keys reseal) and {api_keys} API keys (each until it is used) may need \
             KNOWHOW_SECRET_KEY_PREVIOUS"
        ))?;
    }
    if neither > 0 {
        print::line(format!("master key: {neither} secrets of issuers and webhooks do not open with it"))?;
    }
    app.db.close().await;
    Ok(())
}

/// Issuers whose keys are out of reach: their tokens are refused like any others, so nobody else is told. They are the
/// tenants' own affair, and nothing wrong with the deployment.
async fn report_issuers(config: &Config, db: &Database) -> Result<()> {
    // A secret that is wrong is a finding of its own.
    let Ok(app) = shell::app(config) else { return Ok(()) };
    let findings = issuers::examine(db, app.gate.state()).await?;
    print::lines(findings.iter().map(|finding| format!("issuers: {finding}")))
}

/// Says which models there are, and asks each something; what is wrong with those that were asked for.
async fn examine(models: &Models) -> Result<Vec<String>> {
    let mut findings: Vec<String> = models.problem().map(str::to_owned).into_iter().collect();
    if let Some(embedder) = &models.embedder {
        print::line(format!("embeddings: {}, {} numbers", embedder.model(), embedder.dims()))?;
        let deadline = Some(Instant::now() + PATIENCE);
        let asking = Asking { asker: Asker::HOUSE, priority: Priority::Turn, deadline };
        let asked = embedder.embed(vec!["Is anybody there?".to_owned()], TextKind::Message, asking).await;
        findings.extend(asked.err().map(|error| error.to_string()));
    } else {
        print::line("embeddings: none; skills are found by words only (KNOWHOW_MODEL_DIR, KNOWHOW_EMBEDDINGS_URL)")?;
    }
    if let Some(chat) = &models.chat {
        print::line(format!("chat model: {}", chat.model()))?;
        let limits = ChatLimits { tokens: 2048, bytes: 4096, total: PATIENCE };
        let prompt = Prompt { system: "Answer with one word.", user: "Is anybody there?" };
        let asked = chat.complete(prompt, Priority::Turn, limits).await;
        findings.extend(asked.err().map(|error| error.to_string()));
    } else {
        print::line("chat model: none; summaries are extracts (KNOWHOW_CHAT_URL)")?;
    }
    Ok(findings)
}
