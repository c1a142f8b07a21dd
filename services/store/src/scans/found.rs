//! What was found in a user's skills: in one of them, and in which of them there is anything.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId};
use serde_json::Value;
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

row! { struct IdRow { skill_id: Uuid } }

row! {
    FoundInSkill { verdict: String, findings: Value, rules: i32, scanned_at: DateTime<Utc>, is_current: bool }
}

/// What was found in a skill.
#[derive(Debug, Clone)]
pub struct FoundInSkill {
    /// The gravest verdict.
    pub verdict: String,
    /// An array of findings.
    pub findings: Value,
    /// The version of the rules.
    pub rules: i32,
    /// When it was read.
    pub scanned_at: DateTime<Utc>,
    /// Whether the whole skill was read, as it is now.
    pub is_current: bool,
}

statement! {
    read ListFound<'a> { verdicts: &'a [String] } -> IdRow,
    "-- scans.list_found
    select f.skill_id from skill_scans f where f.tenant_id = $1 and f.user_id = $2 and f.verdict = any ($3)"
}

statement! {
    read FindScan { skill: String } -> FoundInSkill,
    "-- scans.find
    select f.verdict, f.findings, f.rules, f.scanned_at, f.digest is not distinct from s.digest as is_current
    from skills s
    join skill_scans f on f.tenant_id = $1 and f.user_id = $2 and f.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3"
}

/// What was found in the skill of this name, if anything.
///
/// # Errors
/// `Unavailable`.
pub async fn find(db: &Database, principal: &Principal, name: &str) -> Result<Option<FoundInSkill>> {
    Ok(read(db, principal, FindScan { skill: name.to_owned() }).await?.pop())
}

/// The skills in which something was found that led to one of these verdicts, in no order.
///
/// # Errors
/// `Unavailable`.
pub async fn list_found(db: &Database, principal: &Principal, verdicts: &[String]) -> Result<Vec<SkillId>> {
    Ok(read(db, principal, ListFound { verdicts }).await?.into_iter().map(|row| SkillId(row.skill_id)).collect())
}
