//! Scanner findings in a user's skills: in one skill, or a list of the skills with findings.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId};
use serde_json::Value;
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

row! { struct SkillIdRow { skill_id: Uuid } }

row! {
    FoundInSkill { verdict: String, findings: Value, rules: i32, scanned_at: DateTime<Utc>, is_current: bool }
}

/// Findings in a skill.
#[derive(Debug, Clone)]
pub struct FoundInSkill {
    /// The most severe verdict.
    pub verdict: String,
    /// JSON array of findings.
    pub findings: Value,
    pub rules: i32,
    /// Time of the scan.
    pub scanned_at: DateTime<Utc>,
    /// Whether the scan covered the whole current skill.
    pub is_current: bool,
}

statement! {
    read ListFound<'a> { verdicts: &'a [String] } -> SkillIdRow,
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

/// Returns the findings in the skill with this name, if there are any.
pub async fn find(db: &Database, principal: &Principal, name: &str) -> Result<Option<FoundInSkill>> {
    Ok(read(db, principal, FindScan { skill: name.to_owned() }).await?.pop())
}

/// Lists the skills with one of these verdicts, unordered.
pub async fn list_found(db: &Database, principal: &Principal, verdicts: &[String]) -> Result<Vec<SkillId>> {
    Ok(read(db, principal, ListFound { verdicts }).await?.into_iter().map(|row| SkillId(row.skill_id)).collect())
}
