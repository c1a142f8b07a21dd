//! The command `knowhow export`.

mod everything;

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use knowhow_ops::skills::archive;

use reqwest::Method;

use crate::atomic_file::WholeFile;
use crate::print;
use crate::service::{Body, Bounds, Remote, Service};

/// Export all skills of a user into one archive
#[derive(Args)]
pub struct Export {
    #[command(flatten)]
    remote: Remote,
    /// The file to write, which must not be a symbolic link; `-` for standard output; `.tar.gz` and `.tgz` select that
    /// format, anything else is a zip
    #[arg(long, short, default_value = "skills.zip", value_name = "FILE")]
    output: PathBuf,
    /// Use the strict form of agentskills.io
    #[arg(long)]
    strict: bool,
    /// Include the messages after which skills were used, in the user's own words
    #[arg(long)]
    examples: bool,
    /// Include memories, the soul and summaries of conversations, for `knowhow import`; always a zip
    #[arg(long, conflicts_with = "strict")]
    all: bool,
}

impl Export {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let name = self.output.to_string_lossy();
        if self.all && (name.ends_with(".tar.gz") || name.ends_with(".tgz")) {
            bail!("--all writes a zip; name the file .zip");
        }
        let format = if name.ends_with(".tar.gz") || name.ends_with(".tgz") { "tar.gz" } else { "zip" };
        let service = self.remote.connect()?;
        if self.all {
            return self.write_all(&service).await;
        }
        let Self { strict, examples, .. } = &self;
        let path = format!("/v1/skills/export?format={format}&strict={strict}&examples={examples}");
        let shown = self.output.display();
        if self.output == Path::new("-") {
            let mut output = print::archive()?;
            copy(begin(&service, &path).await?, &mut output, "standard output").await?;
            return Ok(ExitCode::SUCCESS);
        }
        let archive = begin(&service, &path).await?;
        // An earlier export is replaced only when the new one is complete.
        let mut file = WholeFile::create(&self.output).with_context(|| format!("cannot write {shown}"))?;
        let bytes = copy(archive, &mut file, &shown).await?;
        file.finish().with_context(|| format!("cannot write {shown}"))?;
        print::note(format!("{bytes} bytes in {shown}"));
        Ok(ExitCode::SUCCESS)
    }
}

impl Export {
    /// Writes an archive with the skills and all other data of the user.
    async fn write_all(&self, service: &Service) -> Result<ExitCode> {
        let bytes = archive::zip(&everything::collect(service).await?)?;
        if self.output == Path::new("-") {
            print::archive()?.write_all(&bytes).context("cannot write standard output")?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = self.output.display();
        let cannot_write = || format!("cannot write {shown}");
        let mut file = WholeFile::create(&self.output).with_context(cannot_write)?;
        file.write_all(&bytes).with_context(cannot_write)?;
        file.finish().with_context(cannot_write)?;
        print::note(format!("{} bytes in {shown}", bytes.len()));
        Ok(ExitCode::SUCCESS)
    }
}

async fn begin(service: &Service, path: &str) -> Result<Body> {
    let answer = service.send(|service| service.request(Method::GET, path)).await?;
    Ok(answer.body(Bounds::ARCHIVE)?)
}

/// Copies the archive to `output` chunk by chunk, and returns its size in bytes.
async fn copy(mut archive: Body, output: &mut impl Write, name: impl Display) -> Result<usize> {
    let cannot_write = || format!("cannot write {name}");
    let mut bytes = 0;
    while let Some(chunk) = archive.next().await.context("the archive is incomplete")? {
        output.write_all(&chunk).with_context(cannot_write)?;
        bytes += chunk.len();
    }
    output.flush().with_context(cannot_write)?;
    Ok(bytes)
}
