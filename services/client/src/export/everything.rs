//! Collects all data of a user in the same layout as `knowhow admin export-user`: `skills/` and
//! `data/<table>-0001.jsonl`.

use anyhow::{Context, Result};
use knowhow_ops::context::page::Page;
use knowhow_ops::learning::examples::EXAMPLES_FILE;
use knowhow_ops::skills::archive::{self, PROVENANCE_FILE, PackedFile};
use reqwest::Method;
use serde_json::Value;

use super::begin;
use crate::service::{Bounds, Service};

/// Limits for unpacking the downloaded archive. They are high, because the service has already limited its size.
const LIMITS: archive::Limits = archive::Limits { entries: 1_000_000, total_bytes: 4 << 30, file_bytes: u64::MAX };

/// Tables in the export that are read from a list endpoint, each with the path of that endpoint.
const LISTS: [(&str, &str); 2] =
    [("memories", "/v1/memories?limit=200"), ("conversation_summaries", "/v1/conversations?limit=200")];

/// Reads the skills and all other data of the user.
///
/// # Errors
/// Fails with the service's error.
pub(super) async fn collect(service: &Service) -> Result<Vec<PackedFile>> {
    let mut files = skills(service).await?;
    for (table, path) in LISTS {
        let mut lines = Vec::new();
        let mut pages = service.pages(path);
        while let Some(page) = pages.next::<Page<Value>>(Bounds::JSON).await? {
            for item in page.items {
                serde_json::to_writer(&mut lines, &item)?;
                lines.push(b'\n');
            }
        }
        files.extend((!lines.is_empty()).then(|| PackedFile::plain(format!("data/{table}-0001.jsonl"), lines)));
    }
    let answer = service.send(|service| service.request(Method::GET, "/v1/soul")).await?;
    let soul: Value = answer.json(Bounds::JSON).await?;
    let mut line = serde_json::to_vec(&soul)?;
    line.push(b'\n');
    files.push(PackedFile::plain("data/souls-0001.jsonl", line));
    Ok(files)
}

/// Reads the skills and their learned examples.
async fn skills(service: &Service) -> Result<Vec<PackedFile>> {
    let mut body = begin(service, "/v1/skills/export?format=zip&examples=true").await?;
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await.context("the archive is incomplete")? {
        bytes.extend_from_slice(&chunk);
    }
    let mut files = archive::read(&bytes, &LIMITS)?.entries;
    for file in &mut files {
        let is_apart = [PROVENANCE_FILE, EXAMPLES_FILE].contains(&file.path.as_str());
        // An import derives the name of a skill from the folders below the first folder named `skills`.
        if !is_apart && !file.path.starts_with("skills/") && !file.path.starts_with("apart/skills/") {
            file.path.insert_str(0, "skills/");
        }
    }
    Ok(files)
}
