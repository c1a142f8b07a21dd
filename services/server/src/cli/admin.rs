//! `knowhow admin`: what an admin of a tenant does, in a running service.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::client::{Refusal, Remote, Service};
use super::whole::write_whole;

/// Between two looks at an erasure.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest wait for one; the job goes on without whoever waits.
const PATIENCE: Duration = Duration::from_secs(600);

/// What an admin does for a tenant in a running service.
#[derive(Args)]
pub(super) struct Admin {
    #[command(flatten)]
    remote: Remote,
    /// For operators: the tenant to work in, by slug
    #[arg(long, global = true)]
    tenant: Option<String>,
    /// Print what the service answers, as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Erase a user: gone at once for everybody, and every row is removed
    EraseUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Why, in 8 to 200 characters; it is kept, and should name nobody
        #[arg(long)]
        reason: String,
        /// Wait until every row is removed
        #[arg(long)]
        wait: bool,
    },
    /// Export all that is kept of a user into one zip
    ExportUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Where to write
        #[arg(long, short, default_value = "user.zip", value_name = "FILE")]
        output: PathBuf,
    },
    /// List erasures, newest first
    Erasures,
    /// Keep a user from being erased
    HoldUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Why, in 8 to 200 characters
        #[arg(long)]
        reason: String,
    },
    /// Let a held user be erased again
    ReleaseUser {
        /// The tenant's own id of the user
        external_id: String,
    },
}

impl Admin {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let desk = Desk { service: self.remote.connect()?, tenant: self.tenant, json: self.json };
        match self.command {
            Command::EraseUser { external_id, reason, wait } => desk.erase(&external_id, &reason, wait).await?,
            Command::ExportUser { external_id, output } => desk.export(&external_id, &output).await?,
            Command::Erasures => desk.list_erasures().await?,
            Command::HoldUser { external_id, reason } => desk.hold(&external_id, Some(&reason)).await?,
            Command::ReleaseUser { external_id } => desk.hold(&external_id, None).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The service, and how its answers are told.
struct Desk {
    service: Service,
    tenant: Option<String>,
    json: bool,
}

impl Desk {
    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let joined = if path.contains('?') { '&' } else { '?' };
        let path = match &self.tenant {
            Some(slug) => format!("{path}{joined}tenant={}", percent_encode(slug)),
            None => path.to_owned(),
        };
        let response = self.service.send(|service| {
            let request = service.request(method.clone(), &path);
            match body {
                Some(body) => request.json(body),
                None => request,
            }
        });
        let response = response.await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(Value::Null);
        }
        response.json().await.context("the answer cannot be read")
    }

    fn tell(&self, answer: &Value, sentence: String) {
        if self.json { println!("{answer:#}") } else { println!("{sentence}") }
    }

    async fn erase(&self, external_id: &str, reason: &str, wait: bool) -> Result<()> {
        let mut path = format!("/v1/admin/users/{}?reason={}", percent_encode(external_id), percent_encode(reason));
        // The request may be sent again by itself, and must not be about a new user of the name by then.
        if let Some(id) = self.find_user_id(external_id).await? {
            path = format!("{path}&user_id={id}");
        }
        let mut erasure = self.ask(Method::DELETE, &path, None).await?;
        if wait {
            erasure = self.await_end(erasure).await?;
        }
        self.tell(&erasure, sentence_of(&erasure));
        Ok(())
    }

    /// The id of whoever has the name now.
    async fn find_user_id(&self, external_id: &str) -> Result<Option<String>> {
        match self.ask(Method::GET, &format!("/v1/admin/users/{}", percent_encode(external_id)), None).await {
            Ok(user) => Ok(user["id"].as_str().map(str::to_owned)),
            Err(error) if error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == "not-found") => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn export(&self, external_id: &str, output: &Path) -> Result<()> {
        let tenant = self.tenant.as_deref().map(|slug| format!("?tenant={}", percent_encode(slug))).unwrap_or_default();
        let path = format!("/v1/admin/users/{}/export{tenant}", percent_encode(external_id));
        let response = self.service.send(|service| service.request(Method::GET, &path)).await?;
        let bytes = response.bytes().await.context("the archive did not come whole")?;
        // Whole or not at all: a broken write must not replace an earlier export.
        write_whole(output, &bytes).with_context(|| format!("cannot write {}", output.display()))?;
        let told = json!({ "file": output.display().to_string(), "bytes": bytes.len() });
        self.tell(&told, format!("{} bytes in {}", bytes.len(), output.display()));
        Ok(())
    }

    async fn await_end(&self, erasure: Value) -> Result<Value> {
        let began = std::time::Instant::now();
        let mut current = erasure;
        while current["finished_at"].is_null() {
            if began.elapsed() > PATIENCE {
                bail!("rows are left still; the workers go on: see `knowhow admin erasures`");
            }
            tokio::time::sleep(PAUSE).await;
            let page = self.ask(Method::GET, "/v1/admin/erasures?limit=200", None).await?;
            let items = page["items"].as_array().cloned().unwrap_or_default();
            current = items.into_iter().find(|item| item["id"] == current["id"]).unwrap_or(current);
        }
        Ok(current)
    }

    async fn list_erasures(&self) -> Result<()> {
        let mut path = "/v1/admin/erasures?limit=200".to_owned();
        let mut all = Vec::new();
        loop {
            let page = self.ask(Method::GET, &path, None).await?;
            all.extend(page["items"].as_array().cloned().unwrap_or_default());
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            path = format!("/v1/admin/erasures?limit=200&cursor={}", percent_encode(cursor));
        }
        let lines: Vec<String> = all.iter().map(sentence_of).collect();
        self.tell(&json!(all), if lines.is_empty() { "nobody was erased".into() } else { lines.join("\n") });
        Ok(())
    }

    async fn hold(&self, external_id: &str, reason: Option<&str>) -> Result<()> {
        let path = format!("/v1/admin/users/{}/hold", percent_encode(external_id));
        let body = reason.map(|reason| json!({ "reason": reason }));
        let method = if reason.is_some() { Method::PUT } else { Method::DELETE };
        let user = self.ask(method, &path, body.as_ref()).await?;
        let sentence = match user["held_at"].as_str() {
            Some(since) => format!("held since {since}: nothing of {external_id} can be erased"),
            None => format!("released: {external_id} can be erased"),
        };
        self.tell(&user, sentence);
        Ok(())
    }
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn sentence_of(erasure: &Value) -> String {
    let text = |member: &str| erasure[member].as_str().unwrap_or_default().to_owned();
    let removed = erasure["removed"].as_i64().unwrap_or_default();
    let end = match erasure["finished_at"].as_str() {
        Some(at) => format!("every row was removed by {at}, {removed} in all"),
        None => "the rows are being removed".to_owned(),
    };
    format!(
        "{} of user {}: gone since {} ({}); {end}",
        text("id"),
        text("user_id"),
        text("requested_at"),
        text("reason")
    )
}
