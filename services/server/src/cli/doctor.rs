//! `knowhow doctor`.

use std::process::ExitCode;

use anyhow::Result;
use knowhow_ops::Models;
use knowhow_store::{Database, queue, walls};

use crate::config::Config;

/// Says what is wrong, in words; exit code 1 where anything is.
pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    let mut findings: Vec<String> = Vec::new();
    if let Err(error) = config.secret() {
        findings.push(error.to_string());
    }
    match config.database().and_then(|database| Ok(Database::open(&database)?)) {
        Err(error) => findings.push(error.to_string()),
        Ok(db) => match walls::inspect(&db).await {
            Ok(found) if found.is_empty() => report_jobs(&db).await?,
            Ok(found) => findings.extend(found),
            Err(error) => findings.push(format!("the database cannot be inspected: {error}")),
        },
    }
    match config.models().and_then(|models| Ok(Models::open(models)?)) {
        Err(error) => findings.push(format!("{error:#}")),
        Ok(models) => findings.extend(report(&models)),
    }
    for finding in &findings {
        println!("wrong: {finding}");
    }
    if findings.is_empty() {
        println!("database, roles, row-level security and settings are as they must be");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// The queue is there, or its absence were a finding. Dead jobs are work for an admin, nothing wrong with the deployment.
async fn report_jobs(db: &Database) -> Result<()> {
    match queue::count_dead(db).await? {
        0 => println!("jobs: the queue is there, no job is dead"),
        dead => println!("jobs: the queue is there, {dead} dead (GET /v1/admin/jobs?state=dead)"),
    }
    Ok(())
}

/// Says which models there are; what is wrong with one that was asked for.
fn report(models: &Models) -> Option<String> {
    match (&models.embedder, models.problem()) {
        (Some(embedder), _) => println!("embeddings: {}, {} numbers", embedder.model(), embedder.dims()),
        (None, Some(_)) => println!("embeddings: none that can be used; skills are found by words only"),
        (None, None) => {
            println!("embeddings: none; skills are found by words only (KNOWHOW_MODEL_DIR, KNOWHOW_EMBEDDINGS_URL)")
        }
    }
    match &models.chat {
        Some(chat) => println!("chat model: {}", chat.model()),
        None => println!("chat model: none; summaries are extracts (KNOWHOW_CHAT_URL)"),
    }
    models.problem().map(str::to_owned)
}
