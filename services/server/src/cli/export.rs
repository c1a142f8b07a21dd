//! `knowhow export`.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use reqwest::Method;

use super::client::{Body, Bounds, Remote, Service};
use super::print;
use super::whole::WholeFile;

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
        let shown = self.output.display();
        if self.output == Path::new("-") {
            let mut output = print::archive()?;
            copy(begin(&service, &path).await?, &mut output, "standard output").await?;
            return Ok(ExitCode::SUCCESS);
        }
        let archive = begin(&service, &path).await?;
        // Whole or not at all: a broken write must not replace an earlier export.
        let mut file = WholeFile::create(&self.output).with_context(|| format!("cannot write {shown}"))?;
        let bytes = copy(archive, &mut file, &shown).await?;
        file.finish().with_context(|| format!("cannot write {shown}"))?;
        print::note(format!("{bytes} bytes in {shown}"));
        Ok(ExitCode::SUCCESS)
    }
}

async fn begin(service: &Service, path: &str) -> Result<Body> {
    let answer = service.send(|service| service.request(Method::GET, path)).await?;
    Ok(answer.body(Bounds::ARCHIVE)?)
}

/// Writes the archive as it comes, and returns how many bytes it has.
async fn copy(mut archive: Body, output: &mut impl Write, name: impl Display) -> Result<usize> {
    let cannot_write = || format!("cannot write {name}");
    let mut bytes = 0;
    while let Some(chunk) = archive.next().await.context("the archive did not come whole")? {
        output.write_all(&chunk).with_context(cannot_write)?;
        bytes += chunk.len();
    }
    output.flush().with_context(cannot_write)?;
    Ok(bytes)
}
