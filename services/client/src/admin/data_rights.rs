//! Commands that erase users, protect users from erasure, and export their data.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::Method;
use serde_json::{Value, json};

use crate::admin::requests::{AdminRequests, text, user_path, with};
use crate::atomic_file::WholeFile;
use crate::service::{Bounds, ServiceError};

/// Interval between two checks of an erasure's state.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time to wait for an erasure. After that the command ends, and the service's job continues.
const PATIENCE: Duration = Duration::from_secs(600);

impl AdminRequests {
    pub(super) async fn erase(&self, external_id: &str, reason: &str, wait: bool) -> Result<()> {
        let mut path = with(&user_path(external_id, ""), "reason", reason);
        // With the id, a retry of the request cannot erase a new user with the same external id.
        if let Some(id) = self.find_user_id(external_id).await? {
            path = with(&path, "user_id", &id);
        }
        let mut erasure = self.ask(Method::DELETE, &path, None).await?;
        if wait {
            erasure = self.await_end(erasure).await?;
        }
        self.tell(&erasure, sentence_of(&erasure))
    }

    /// Returns the id of the user with this external id; `None` if there is no such user.
    async fn find_user_id(&self, external_id: &str) -> Result<Option<String>> {
        match self.ask(Method::GET, &user_path(external_id, ""), None).await {
            Ok(user) => Ok(user["id"].as_str().map(str::to_owned)),
            Err(error) if error.downcast_ref::<ServiceError>().is_some_and(|refusal| refusal.code == "not-found") => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn export(&self, external_id: &str, output: &Path) -> Result<()> {
        let path = user_path(external_id, "/export");
        let mut archive = self.send(Method::GET, &path, None).await?.body(Bounds::TAKEOUT)?;
        let cannot_write = || format!("cannot write {}", output.display());
        let (mut file, mut bytes) = (WholeFile::create(output).with_context(cannot_write)?, 0);
        while let Some(chunk) = archive.next().await.context("the archive is incomplete")? {
            file.write_all(&chunk).with_context(cannot_write)?;
            bytes += chunk.len();
        }
        file.finish().with_context(cannot_write)?;
        let result = json!({ "file": output.display().to_string(), "bytes": bytes });
        self.tell(&result, format!("{bytes} bytes in {}", output.display()))
    }

    async fn await_end(&self, erasure: Value) -> Result<Value> {
        let began = std::time::Instant::now();
        let mut current = erasure;
        while current["finished_at"].is_null() {
            if began.elapsed() > PATIENCE {
                bail!("some rows remain; workers are still deleting them (see `knowhow admin erasures`)");
            }
            tokio::time::sleep(PAUSE).await;
            let page = self.ask(Method::GET, "/v1/admin/erasures?limit=200", None).await?;
            let items = page["items"].as_array().cloned().unwrap_or_default();
            current = items.into_iter().find(|item| item["id"] == current["id"]).unwrap_or(current);
        }
        Ok(current)
    }

    pub(super) async fn list_erasures(&self) -> Result<()> {
        self.list("/v1/admin/erasures", sentence_of, "no user was erased").await
    }

    pub(super) async fn hold(&self, external_id: &str, reason: Option<&str>) -> Result<()> {
        let path = user_path(external_id, "/hold");
        let body = reason.map(|reason| json!({ "reason": reason }));
        let method = if reason.is_some() { Method::PUT } else { Method::DELETE };
        let user = self.ask(method, &path, body.as_ref()).await?;
        let sentence = match user["held_at"].as_str() {
            Some(since) => format!("held since {since}: {external_id} cannot be erased"),
            None => format!("released: {external_id} can be erased"),
        };
        self.tell(&user, sentence)
    }
}

fn sentence_of(erasure: &Value) -> String {
    let removed = erasure["removed"].as_i64().unwrap_or_default();
    let end = match erasure["finished_at"].as_str() {
        Some(at) => format!("all {removed} rows were deleted by {at}"),
        None => "the rows are being deleted".to_owned(),
    };
    format!(
        "{} of user {}: gone since {} ({}); {end}",
        text(erasure, "id"),
        text(erasure, "user_id"),
        text(erasure, "requested_at"),
        text(erasure, "reason")
    )
}
