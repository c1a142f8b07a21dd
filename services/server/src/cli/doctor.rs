//! The command `knowhow doctor`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use knowhow_ops::models::chat::{ChatLimits, Prompt};
use knowhow_ops::models::embed::TextKind;
use knowhow_ops::tenants::{UnderKeys, count_under_keys};
use knowhow_ops::{Asker, Asking, Models, Priority};
use knowhow_store::deployment::{boot, replica};
use knowhow_store::tenants::issuers;
use knowhow_store::{Database, DatabaseConfig, explain, jobs};
use tokio::time::Instant;

use super::database::{advised, explained};
use super::{process, shell};
use crate::config::Config;
use knowhow_client::print;

/// Maximum time to wait for a model's response.
const PATIENCE: Duration = Duration::from_secs(20);

/// Prints all problems. The exit code is 1 if there are problems.
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
        print::line("database, roles, row-level security, models and settings are correct")?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// Returns the problems with the database. If it has no problems, reports the state of the jobs.
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

/// Returns the problems with a database other than `home`.
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

/// Returns the problems with the replica, if one is configured.
async fn examine_replica(config: &Config) -> Result<Vec<String>> {
    let replica = match config.replica(&Arc::default()) {
        Ok(Some(replica)) => replica,
        Ok(None) => return Ok(Vec::new()),
        Err(error) => return Ok(vec![format!("{error:#}")]),
    };
    if let Some(unreachable) = explain(&config.replica_url).await? {
        return Ok(vec![format!(
            "the replica of KNOWHOW_REPLICA_URL: {unreachable}; until it is reachable, the primary is read"
        )]);
    }
    Ok(replica::inspect(&replica)
        .await
        .unwrap_or_else(|error| vec![format!("the replica cannot be inspected: {error}")]))
}

/// Reports the number of dead jobs. They are not a problem with the deployment, because an admin can retry them.
async fn report_jobs(db: &Database) -> Result<()> {
    match jobs::count_dead(db).await? {
        0 => print::line("jobs: the queue exists, no dead jobs"),
        dead => print::line(format!("jobs: the queue exists, {dead} dead jobs (GET /v1/admin/jobs?state=dead)")),
    }
}

/// Reports the secrets that still need the previous master key, and those that no key decrypts.
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
        print::line(format!("master key: {neither} secrets of issuers and webhooks cannot be decrypted with it"))?;
    }
    app.db.close().await;
    Ok(())
}

/// Reports issuers with keys that cannot be fetched. The service rejects their tokens like any invalid token, so the
/// cause is visible only here. These issuers are not a problem with the deployment.
async fn report_issuers(config: &Config, db: &Database) -> Result<()> {
    // Another check reports an invalid master secret.
    let Ok(app) = shell::app(config) else { return Ok(()) };
    let findings = issuers::examine(db, app.gate.state()).await?;
    print::lines(findings.iter().map(|finding| format!("issuers: {finding}")))
}

/// Reports the models and sends a test request to each. Returns the problems with the configured models.
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
