//! `knowhow doctor`.

use std::process::ExitCode;

use anyhow::Result;
use knowhow_store::{Database, walls};

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
            Ok(found) => findings.extend(found),
            Err(error) => findings.push(format!("the database cannot be inspected: {error}")),
        },
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
