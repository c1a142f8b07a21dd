//! The audit log, as an admin reads and exports it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use super::desk::{Desk, encoded, text};
use crate::cli::client::{Body, Bounds};
use crate::cli::print;
use crate::cli::whole::WholeFile;

/// Which entries of the audit log, and where they go.
#[derive(Args)]
pub(super) struct AuditArgs {
    /// Only what this one did: `user:alice`, or a user's id, which also finds what keys did for the user
    #[arg(long)]
    actor: Option<String>,
    /// Only this action; with * at its end, those that begin so
    #[arg(long)]
    action: Option<String>,
    /// Only what was done to this
    #[arg(long)]
    target: Option<String>,
    /// Only what concerns this user, by the tenant's own id
    #[arg(long, value_name = "USER")]
    of: Option<String>,
    /// Only entries of this time or later, e.g. 2026-11-01T00:00:00Z
    #[arg(long)]
    since: Option<String>,
    /// Only entries before this time
    #[arg(long)]
    until: Option<String>,
    /// Write all entries as lines of JSON into this file, which may not be a link; - for the standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl AuditArgs {
    fn query(&self) -> String {
        let named = [
            ("actor", &self.actor),
            ("action", &self.action),
            ("target", &self.target),
            ("user", &self.of),
            ("since", &self.since),
            ("until", &self.until),
        ];
        let given = named.iter().filter_map(|(name, value)| Some(format!("&{name}={}", encoded(value.as_deref()?))));
        given.collect()
    }
}

impl Desk {
    pub(super) async fn read_audit(&self, audit: &AuditArgs) -> Result<()> {
        if let Some(output) = &audit.output {
            return self.export_audit(&audit.query(), output).await;
        }
        let line = |entry: &Value| {
            format!(
                "{} {} {} {}",
                text(entry, "at"),
                text(entry, "actor"),
                text(entry, "action"),
                text(entry, "target")
            )
        };
        let path = format!("/v1/admin/audit?format=json{}", audit.query());
        self.list(&path, line, "there is no such entry").await
    }

    /// As it comes, so that no log is too long. A file has its name once it is whole.
    async fn export_audit(&self, query: &str, output: &Path) -> Result<()> {
        let answer = self.send(Method::GET, &format!("/v1/admin/audit?format=jsonl{query}"), None).await?;
        let log = answer.body(Bounds::LOG)?;
        if output.as_os_str() == "-" {
            return copy_log(log, &mut print::json_lines()).await.map(drop);
        }
        let cannot_write = || format!("cannot write {}", output.display());
        let mut file = WholeFile::create(output).with_context(cannot_write)?;
        let entries = copy_log(log, &mut file).await?;
        file.finish().with_context(cannot_write)?;
        let told = json!({ "file": output.display().to_string(), "entries": entries });
        self.tell(&told, format!("{entries} entries in {}", output.display()))
    }
}

/// How many entries there were. One that breaks off does not end with its line.
async fn copy_log(mut log: Body, out: &mut impl Write) -> Result<usize> {
    let (mut entries, mut last) = (0, b'\n');
    while let Some(chunk) = log.next().await.context("the log did not come whole")? {
        entries += chunk.iter().filter(|byte| **byte == b'\n').count();
        last = chunk.last().copied().unwrap_or(last);
        out.write_all(&chunk)?;
    }
    out.flush()?;
    ensure!(last == b'\n', "the log did not come whole");
    Ok(entries)
}
