//! Commands that show and approve tainted texts of users.

use anyhow::Result;
use clap::Subcommand;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::admin::lines::{flag, items, labelled, quoted};
use crate::admin::requests::{AdminRequests, text, with};
use crate::admin::submissions::Access;

/// Commands for tainted texts.
#[derive(Subcommand)]
pub(super) enum ApprovalCommand {
    /// Show a version of a user's skill with its text and the sources of its taint
    Version {
        /// Id of the skill
        skill: Uuid,
        /// Number of the version
        number: u32,
        /// Reason to read it, 8 to 200 characters, for the audit log
        #[arg(long)]
        reason: String,
    },
    /// Approve a tainted version of a user's skill; other versions stay tainted
    ApproveVersion {
        /// Id of the skill
        skill: Uuid,
        /// Number of the version
        number: u32,
        /// Reason for the approval, 8 to 200 characters, for the audit log
        #[arg(long)]
        reason: String,
    },
    /// List a user's memories, newest first
    Memories {
        /// Only memories from sessions that had read untrusted content
        #[arg(long)]
        tainted: bool,
        #[command(flatten)]
        access: Access,
    },
    /// Approve a tainted memory, so that prompts may include it
    ApproveMemory {
        /// Id of the memory
        id: Uuid,
        /// The version that was read
        number: i32,
        /// Comment on the approval
        #[arg(long)]
        comment: Option<String>,
        #[command(flatten)]
        access: Access,
    },
    /// List the versions of a user's soul, newest first
    Souls {
        /// Only versions from sessions that had read untrusted content
        #[arg(long)]
        tainted: bool,
        #[command(flatten)]
        access: Access,
    },
    /// Approve a tainted version of a user's soul, so that prompts may include it
    ApproveSoul {
        /// Number of the version
        number: u32,
        /// Comment on the approval
        #[arg(long)]
        comment: Option<String>,
        #[command(flatten)]
        access: Access,
    },
}

impl AdminRequests {
    pub(super) async fn review_texts(self, command: ApprovalCommand) -> Result<()> {
        match command {
            ApprovalCommand::Version { skill, number, reason } => {
                let path = with(&format!("/v1/admin/skills/{skill}/versions/{number}"), "reason", &reason);
                let version = self.ask(Method::GET, &path, None).await?;
                self.tell_lines(&version, &version_lines(&version))
            }
            ApprovalCommand::ApproveVersion { skill, number, reason } => {
                let path = format!("/v1/admin/skills/{skill}/versions/{number}/approve");
                let version = self.ask(Method::POST, &path, Some(&json!({ "reason": reason }))).await?;
                self.tell(&version, version_line(&version))
            }
            ApprovalCommand::Memories { tainted, access } => {
                let path = access.path(&only("/v1/memories", tainted));
                self.with_reason(access.reason())?.list(&path, memory_line, "there is no such memory").await
            }
            ApprovalCommand::ApproveMemory { id, number, comment, access } => {
                let body = json!({ "comment": comment, "expected_version": number });
                self.approve(&format!("/v1/memories/{id}"), &body, &access).await
            }
            ApprovalCommand::Souls { tainted, access } => {
                let path = access.path(&only("/v1/soul/versions", tainted));
                self.with_reason(access.reason())?.list(&path, soul_line, "there is no such version").await
            }
            ApprovalCommand::ApproveSoul { number, comment, access } => {
                self.approve(&format!("/v1/soul/versions/{number}"), &json!({ "comment": comment }), &access).await
            }
        }
    }

    /// Approves the memory or version of the soul at `path`.
    async fn approve(self, path: &str, body: &Value, access: &Access) -> Result<()> {
        let requests = self.with_reason(access.reason())?;
        let path = access.path(&format!("{path}/approve"));
        let answer = requests.ask(Method::POST, &path, Some(body)).await?;
        let line = if answer["id"].is_null() { soul_line(&answer) } else { memory_line(&answer) };
        requests.tell(&answer, line)
    }
}

/// Returns the path of a list, optionally of tainted items only.
fn only(path: &'static str, tainted: bool) -> String {
    if tainted { with(path, "tainted", "true") } else { path.to_owned() }
}

/// Returns the marks of a text: tainted, or approved.
fn marks(of: &Value) -> String {
    format!("{}{}", flag(", tainted", of, "tainted"), labelled(", approved by ", of, "approved_by"))
}

fn version_line(version: &Value) -> String {
    format!(
        "version {}: {} by {}{}, {}",
        text(version, "version"),
        text(version, "change"),
        text(version, "actor"),
        marks(version),
        text(version, "created_at"),
    )
}

fn version_lines(version: &Value) -> Vec<String> {
    let details = [
        labelled("session: ", version, "session"),
        labelled("tainted by: ", version, "tainted_by"),
        labelled("tainted in: ", version, "tainted_in"),
        labelled("digest: ", version, "digest"),
    ];
    let mut lines = vec![version_line(version)];
    lines.extend(details.into_iter().filter(|line| !line.is_empty()));
    lines.extend(items(version, "resources").iter().map(|file| format!("file: {}", text(file, "path"))));
    lines.extend(quoted(&text(version, "skill_md")));
    lines
}

fn memory_line(memory: &Value) -> String {
    format!(
        "{} version {} {}{}, {}: {}",
        text(memory, "id"),
        text(memory, "version"),
        text(memory, "kind"),
        marks(memory),
        text(memory, "created_at"),
        text(memory, "content"),
    )
}

fn soul_line(soul: &Value) -> String {
    format!(
        "version {} by {}{}, {}: {}",
        text(soul, "version"),
        text(soul, "updated_by"),
        marks(soul),
        text(soul, "updated_at"),
        text(soul, "text"),
    )
}
