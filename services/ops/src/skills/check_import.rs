//! Compares the digests of a client's skills with the stored ones, so that the client imports only changed skills.

use knowhow_domain::{Error, FieldError, Result, Scope, SkillName, Source};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;

/// Maximum number of skills in one request.
pub const MOST_CHECKED: usize = 2_000;

/// Skills that a client plans to import.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckImport {
    /// The skills, each by its full name.
    #[schema(min_items = 1, max_items = 2000)]
    pub skills: Vec<SkillDigest>,
}

/// A skill's name, and the digest of its files.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "plan-meeting", "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}))]
pub struct SkillDigest {
    /// The skill's full name.
    #[schema(max_length = 200)]
    pub name: String,
    /// 64 hex digits: the SHA-256 over the following bytes. First the SHA-256 of SKILL.md (32 bytes). Then for each
    /// other file, in the order of paths: its path, a zero byte, the 64 lower-case hex digits of its own SHA-256, a
    /// zero byte.
    #[schema(min_length = 64, max_length = 64)]
    pub digest: String,
}

/// The result of the comparison.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CheckedImport {
    /// An entry for each skill, in the order of the request.
    pub items: Vec<CheckedSkill>,
    /// Number of further skills that the user's quota allows.
    #[schema(minimum = 0)]
    pub room: u32,
    /// Maximum number of skills of the user, by the quota.
    #[schema(minimum = 0)]
    pub limit: u32,
}

/// A compared skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CheckedSkill {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// Result of the comparison with the user's skill of the same name.
    pub state: SkillState,
    /// Source of the user's skill; null if it does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// Result of comparing a skill with the user's skill of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// The user has no skill of that name.
    New,
    /// The user's skill of that name differs.
    Changed,
    /// The user's skill is byte for byte the same.
    Unchanged,
}

/// Compares a client's skills with the user's, without a change. The result may be outdated at the time of the
/// import, which compares again.
///
/// # Errors
/// `Invalid` if a name or digest is invalid, or if there are too many skills.
pub async fn check_import(ctx: &Ctx, input: &CheckImport) -> Result<CheckedImport> {
    ctx.principal.require(Scope::SkillsRead)?;
    if input.skills.is_empty() || input.skills.len() > MOST_CHECKED {
        let detail =
            format!("takes 1 to {MOST_CHECKED} skills, has {}; send the rest in other requests", input.skills.len());
        return Err(Error::invalid("/skills", detail));
    }
    let digests = read_digests(&input.skills)?;
    let names: Vec<&str> = input.skills.iter().map(|skill| skill.name.as_str()).collect();
    let compared = skills::compare(&ctx.app.db, &ctx.principal, &names, &digests).await?;
    let items = input.skills.iter().zip(compared.held).map(|(skill, held)| CheckedSkill {
        name: skill.name.clone(),
        state: match &held {
            None => SkillState::New,
            Some(held) if held.is_same => SkillState::Unchanged,
            Some(_) => SkillState::Changed,
        },
        source: held.map(|held| held.source),
    });
    let limit = ctx.principal.settings().skills_per_user;
    let kept = u32::try_from(compared.skill_count).unwrap_or_default();
    Ok(CheckedImport { items: items.collect(), room: limit.saturating_sub(kept), limit })
}

fn read_digests(skills: &[SkillDigest]) -> Result<Vec<Vec<u8>>> {
    let mut findings = Vec::new();
    let mut digests = Vec::with_capacity(skills.len());
    for (index, skill) in skills.iter().enumerate() {
        if let Err(Error::Invalid(wrong)) = SkillName::parse(&skill.name) {
            findings.extend(wrong.into_iter().map(|f| FieldError::new(format!("/skills/{index}/name"), f.detail)));
        }
        match bytes_of(&skill.digest) {
            Some(digest) => digests.push(digest),
            None => findings.push(FieldError::new(format!("/skills/{index}/digest"), "must be 64 hex digits")),
        }
    }
    if findings.is_empty() { Ok(digests) } else { Err(Error::Invalid(findings)) }
}

fn bytes_of(digest: &str) -> Option<Vec<u8>> {
    hex::decode(digest).ok().filter(|bytes| bytes.len() == 32)
}
