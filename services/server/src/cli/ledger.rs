//! The command `knowhow erasures`, and a parser for its output.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use knowhow_store::Database;
use knowhow_store::tenants::erasures::{self, LedgerLine};
use uuid::Uuid;

use crate::config::Config;
use knowhow_client::print;

const PAGE: i64 = 1000;

/// Prints the erasures of all tenants as JSON lines, for `knowhow migrate --restored --erasures`.
pub(super) async fn print(config: &Config) -> Result<ExitCode> {
    let db = Database::open(&config.database()?)?;
    for at in db.each() {
        print_place(&at).await?;
    }
    db.close().await;
    Ok(ExitCode::SUCCESS)
}

async fn print_place(db: &Database) -> Result<()> {
    let mut behind = Uuid::nil();
    loop {
        let lines = erasures::list_ledger(db, behind, PAGE).await?;
        let Some(last) = lines.last() else { return Ok(()) };
        behind = last.erasure_id;
        lines.iter().try_for_each(print::json_line)?;
    }
}

/// Parses the output of `knowhow erasures`.
pub(super) fn read(path: &Path) -> Result<Vec<LedgerLine>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(n, line)| {
            let wrong = || format!("{shown}, line {}: not a line of the output of `knowhow erasures`", n + 1);
            let line: LedgerLine = serde_json::from_str(line).with_context(wrong)?;
            hex::decode(&line.external_hash).with_context(wrong)?;
            Ok(line)
        })
        .collect()
}
