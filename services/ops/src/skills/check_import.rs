//! Which skills of an import are there already: their digests are compared, so that their texts need not be sent.

use knowhow_domain::{Error, FieldError, Result, Scope, SkillName, Source};
use knowhow_store::skills;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;

/// Most skills that one request compares.
pub const MOST_CHECKED: usize = 2_000;

/// Skills that somebody is about to import.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckImport {
    /// Each by its full name.
    #[schema(min_items = 1, max_items = 2000)]
    pub skills: Vec<SkillDigest>,
}

/// A skill and what is in it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "plan-meeting", "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}))]
pub struct SkillDigest {
    /// Its full name.
    #[schema(max_length = 200)]
    pub name: String,
    /// 64 hex digits: SHA-256 over the SHA-256 of SKILL.md (32 bytes) and, for each other file in the order of paths, its
    /// path, a zero byte, the 64 lower-case hex digits of its own SHA-256, a zero byte.
    #[schema(min_length = 64, max_length = 64)]
    pub digest: String,
}

/// What an import of them would find.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CheckedImport {
    /// One for each skill, in the order of the request.
    pub items: Vec<CheckedSkill>,
    /// How many new skills the user's quota has room for.
    #[schema(minimum = 0)]
    pub room: u32,
    /// How many skills the user may have.
    #[schema(minimum = 0)]
    pub limit: u32,
}

/// A skill, compared.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CheckedSkill {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// How it compares with the user's own.
    pub state: SkillState,
    /// Who first wrote the user's own, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// How a skill compares with the user's own of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// The user has none of that name.
    New,
    /// The user's is another one.
    Changed,
    /// The user has it, byte for byte.
    Unchanged,
}

/// Compares skills with the user's own, and changes nothing. What it says may be out of date at once: the import compares
/// again.
///
/// # Errors
/// `Invalid` for a name or digest that is none, or too many of them.
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
