//! Commands that read and export the audit log.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use crate::admin::requests::{AdminRequests, encoded, text};
use crate::atomic_file::WholeFile;
use crate::print;
use crate::service::{Body, Bounds};

/// Filters and output of the audit log.
#[derive(Args)]
pub(super) struct AuditArgs {
    /// Only actions of this actor: `user:alice`, or a user's id, which also matches actions of API keys for that user
    #[arg(long)]
    actor: Option<String>,
    /// Only this action; with a trailing *, all actions with that prefix
    #[arg(long)]
    action: Option<String>,
    /// Only actions on this target
    #[arg(long)]
    target: Option<String>,
    /// Only entries about the user with this external id
    #[arg(long, value_name = "USER")]
    of: Option<String>,
    /// Only entries at or after this time, e.g. 2026-11-01T00:00:00Z
    #[arg(long)]
    since: Option<String>,
    /// Only entries before this time
    #[arg(long)]
    until: Option<String>,
    /// Write all entries as JSON lines into this file, which must not be a symbolic link; - for standard output
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

impl AdminRequests {
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

    /// Streams the whole log into a file, so that a log of any size can be exported. The file gets its final name only
    /// when it is complete.
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
        let result = json!({ "file": output.display().to_string(), "entries": entries });
        self.tell(&result, format!("{entries} entries in {}", output.display()))
    }
}

/// Copies the log and returns its number of entries. Fails if the log ends within a line, because it is then
/// incomplete.
async fn copy_log(mut log: Body, out: &mut impl Write) -> Result<usize> {
    let (mut entries, mut last) = (0, b'\n');
    while let Some(chunk) = log.next().await.context("the log is incomplete")? {
        entries += chunk.iter().filter(|byte| **byte == b'\n').count();
        last = chunk.last().copied().unwrap_or(last);
        out.write_all(&chunk)?;
    }
    out.flush()?;
    ensure!(last == b'\n', "the log is incomplete");
    Ok(entries)
}
