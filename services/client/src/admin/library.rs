//! Commands for the skills of the tenant's library, and for the archive of deleted skills.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::admin::lines::{finding_line, flag, items, labelled, quoted};
use crate::admin::requests::{AdminRequests, encoded, text, with};
use crate::import::contents::{self, SkillFiles};

/// Commands for the library and the archive.
#[derive(Subcommand)]
pub(super) enum LibraryCommand {
    /// List the skills of the tenant's library
    Library,
    /// Show a skill of the tenant's library with its findings, its text and the number of its users
    LibrarySkill {
        /// Name of the skill
        name: String,
    },
    /// List users with the state of their copy of a library skill
    LibraryUsers {
        /// Name of the skill
        name: String,
    },
    /// Put a skill into the tenant's library; users receive it with their next request
    PutLibrarySkill(PutSkill),
    /// Remove a skill from the tenant's library; users who changed or pinned it keep it
    DeleteLibrarySkill {
        /// Name of the skill
        name: String,
    },
    /// List deleted skills, newest first
    Archive {
        /// Only skills of the user with this external id
        #[arg(long, value_name = "USER")]
        of: Option<String>,
    },
    /// Restore a deleted skill with its id and history
    Restore {
        /// Id of the entry in the archive
        id: Uuid,
        /// Reason, for the audit log
        #[arg(long)]
        reason: String,
    },
}

/// A skill for the library.
#[derive(Args)]
pub(super) struct PutSkill {
    /// Name of the skill; its last part is the name in the SKILL.md
    name: String,
    /// The SKILL.md, or a folder with it and no other file
    source: PathBuf,
    /// Accept a skill that looks like an attack; the audit log records this
    #[arg(long)]
    accept_findings: bool,
    /// The version that must be current, 0 for a new skill; by default any version is replaced
    #[arg(long, value_name = "VERSION")]
    expected_version: Option<u32>,
}

impl AdminRequests {
    pub(super) async fn manage_library(&self, command: LibraryCommand) -> Result<()> {
        match command {
            LibraryCommand::Library => self.list("/v1/admin/starter-skills", line_of, "the library has no skill").await,
            LibraryCommand::LibrarySkill { name } => {
                let skill = self.ask(Method::GET, &path_of(&name), None).await?;
                self.tell_lines(&skill, &lines_of(&skill))
            }
            LibraryCommand::LibraryUsers { name } => {
                let path = format!("{}/users", path_of(&name));
                self.list(&path, user_line, "the tenant has no user").await
            }
            LibraryCommand::PutLibrarySkill(skill) => self.put_skill(&skill).await,
            LibraryCommand::DeleteLibrarySkill { name } => {
                self.delete(&path_of(&name), &name, format!("{name} is removed from the library")).await
            }
            LibraryCommand::Archive { of } => {
                let path = "/v1/admin/archive".to_owned();
                let path = of.iter().fold(path, |path, user| with(&path, "user", user));
                self.list(&path, archived_line, "there is no deleted skill").await
            }
            LibraryCommand::Restore { id, reason } => {
                let path = format!("/v1/admin/archive/{id}/restore");
                let restored = self.ask(Method::POST, &path, Some(&json!({ "reason": reason }))).await?;
                self.tell(&restored, format!("{} is restored", text(&restored, "name")))
            }
        }
    }

    async fn put_skill(&self, skill: &PutSkill) -> Result<()> {
        let body = json!({
            "skill_md": read_document(&skill.source)?,
            "accept_findings": skill.accept_findings,
            "expected_version": skill.expected_version,
        });
        let answer = self.ask(Method::PUT, &path_of(&skill.name), Some(&body)).await?;
        self.tell(&answer, format!("{}{}", line_of(&answer), flag(" (unchanged)", &answer, "unchanged")))
    }
}

/// Reads the SKILL.md of a file or folder.
///
/// # Errors
/// Fails if the source has no skill or several, or a skill with other files, because the library stores only the
/// SKILL.md.
fn read_document(source: &Path) -> Result<String> {
    let contents = contents::read(source, None)?;
    let [SkillFiles { document, resources, .. }] = contents.skills.as_slice() else {
        match contents.unread.first() {
            Some(file) if contents.skills.is_empty() => bail!("cannot read {}: {}", file.path, file.reason),
            _ => bail!("{} has {} skills: name the SKILL.md of one", source.display(), contents.skills.len()),
        }
    };
    if let Some(file) = resources.first() {
        bail!("a skill of the library is a SKILL.md without other files, and there is {}", file.shown);
    }
    let document = std::str::from_utf8(document);
    Ok(document.with_context(|| format!("the SKILL.md of {} is not UTF-8 text", source.display()))?.to_owned())
}

fn path_of(name: &str) -> String {
    format!("/v1/admin/starter-skills/{}", encoded(name))
}

fn line_of(skill: &Value) -> String {
    format!(
        "{}: version {}, {} bytes, by {}{}{}, {}: {}",
        text(skill, "name"),
        text(skill, "version"),
        text(skill, "bytes"),
        text(skill, "actor"),
        labelled(", approved by ", skill, "approved_by"),
        labelled(", scan ", skill, "verdict"),
        text(skill, "created_at"),
        text(skill, "description"),
    )
}

fn lines_of(skill: &Value) -> Vec<String> {
    let mut lines = vec![line_of(skill), labelled("digest: ", skill, "digest")];
    let users = &skill["users"];
    if users.is_object() {
        lines.push(format!(
            "users: {} unchanged, {} changed, {} deleted, {} with their own skill, {} not yet{}",
            text(users, "unchanged"),
            text(users, "changed"),
            text(users, "deleted"),
            text(users, "own"),
            text(users, "not_yet"),
            flag(" (more users were not counted)", users, "is_partial"),
        ));
    }
    lines.extend(items(skill, "findings").iter().map(finding_line));
    lines.extend(quoted(&text(skill, "skill_md")));
    lines
}

fn user_line(user: &Value) -> String {
    format!("{}: {}{}", text(user, "user"), text(user, "state"), labelled(", version ", user, "version"))
}

fn archived_line(skill: &Value) -> String {
    format!(
        "{} {} of {}: {} versions{}, deleted {} by {}, destroyed {}",
        text(skill, "id"),
        text(skill, "name"),
        text(skill, "user"),
        text(skill, "versions"),
        labelled(", absorbed into ", skill, "absorbed_into"),
        text(skill, "deleted_at"),
        text(skill, "deleted_by"),
        text(skill, "purge_at"),
    )
}
