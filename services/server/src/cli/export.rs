//! `knowhow export`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use super::client::{Remote, answered};

/// Exports all skills of a user into one archive.
#[derive(Args)]
pub(super) struct Export {
    #[command(flatten)]
    remote: Remote,
    /// Where to write; `.tar.gz` and `.tgz` choose that format, anything else is a zip
    #[arg(long, short, default_value = "skills.zip", value_name = "FILE")]
    output: PathBuf,
    /// In the strict form of agentskills.io
    #[arg(long)]
    strict: bool,
    /// With the messages after which skills were used, which are the user's own words
    #[arg(long)]
    examples: bool,
}

impl Export {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let name = self.output.to_string_lossy();
        let format = if name.ends_with(".tar.gz") || name.ends_with(".tgz") { "tar.gz" } else { "zip" };
        let client = self.remote.client()?;
        let Self { strict, examples, .. } = &self;
        let path = format!("/v1/skills/export?format={format}&strict={strict}&examples={examples}");
        let bytes = answered(self.remote.send_as(|url| client.get(url), &path)).await?.bytes().await?;
        // Whole or not at all: a broken write must not replace an earlier export.
        let part = self.output.with_extension("part");
        std::fs::write(&part, &bytes)
            .and_then(|()| std::fs::rename(&part, &self.output))
            .with_context(|| format!("cannot write {}", self.output.display()))?;
        eprintln!("{} bytes in {}", bytes.len(), self.output.display());
        Ok(ExitCode::SUCCESS)
    }
}
