//! `knowhow export`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use reqwest::Method;

use super::client::Remote;
use super::whole::write_whole;

/// Exports all skills of a user into one archive.
#[derive(Args)]
pub(super) struct Export {
    #[command(flatten)]
    remote: Remote,
    /// The file to write, which may not be a link; `-` for standard output; `.tar.gz` and `.tgz` choose that format, anything else is a zip
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
        let service = self.remote.connect()?;
        let Self { strict, examples, .. } = &self;
        let path = format!("/v1/skills/export?format={format}&strict={strict}&examples={examples}");
        let bytes = service.send(|service| service.request(Method::GET, &path)).await?.bytes().await?;
        if self.output == Path::new("-") {
            let mut output = std::io::stdout().lock();
            output.write_all(&bytes).and_then(|()| output.flush()).context("cannot write to standard output")?;
            return Ok(ExitCode::SUCCESS);
        }
        // Whole or not at all: a broken write must not replace an earlier export.
        write_whole(&self.output, &bytes).with_context(|| format!("cannot write {}", self.output.display()))?;
        eprintln!("{} bytes in {}", bytes.len(), self.output.display());
        Ok(ExitCode::SUCCESS)
    }
}
