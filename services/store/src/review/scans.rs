//! Scanner findings in current skills, and the skills to scan.

mod findings;

use chrono::{DateTime, Utc};
use knowhow_domain::{ResourceEntry, Result, SkillId};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use findings::{FindScan, ListFound};
pub use findings::{FoundInSkill, find, list_found};

use crate::vault::value::{Files, Utf8};
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal, WriteTx};

row! {
    struct UnscannedSkillRow {
        skill_id: Uuid, name: String, version: i32, digest: Vec<u8>, document: Utf8, resources: Files,
    }
}

row! { struct ScannedFileRow { path: String, content: Vec<u8> } }

row! { struct AskedRow { asked: bool } }

/// A skill to scan.
#[derive(Debug, Clone)]
pub struct UnscannedSkill {
    pub skill: SkillId,
    pub name: String,
    pub version: i32,
    /// Digest of the current state.
    pub digest: Vec<u8>,
    pub document: String,
    /// All files of the skill other than SKILL.md.
    pub resources: Vec<ResourceEntry>,
}

/// Result of scanning a whole skill.
#[derive(Debug, Clone)]
pub struct Scanned {
    pub skill: SkillId,
    /// Digest of the scanned state.
    pub digest: Vec<u8>,
    /// The most severe verdict. The verdict `ok` deletes earlier findings.
    pub verdict: String,
    /// JSON array of findings.
    pub findings: Value,
}

// Unchanged starters were scanned when they were released. `offset 0` makes Postgres use each document's digest in the
// index search. A plain join would compare all files of the user.
statement! {
    read ListUnread { after: Uuid, rules: i32, limit: i64 } -> UnscannedSkillRow,
    "-- scans.list_unread
    select s.skill_id, s.name, s.version, s.digest, r.content as document, s.resources
    from skills s
    cross join lateral (
        select f.content from skill_resources f
        where f.tenant_id = $1 and f.user_id = $2 and f.digest = s.document_digest offset 0) r
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id > $3
      and ((select c.scanned_rules from user_catalogs c where c.tenant_id = $1 and c.user_id = $2) < $4
           or s.skill_id = any (array(
               select f.skill_id from skill_scans f join skills k on k.tenant_id = $1 and k.user_id = $2 and k.skill_id = f.skill_id
               where f.tenant_id = $1 and f.user_id = $2 and f.digest is distinct from k.digest)))
    order by s.skill_id
    limit $5"
}

statement! {
    read ListFiles { skill: Uuid } -> ScannedFileRow,
    "-- scans.list_files
    select e.path, r.content
    from skills s
    cross join lateral jsonb_to_recordset(s.resources) as e (path text, digest text)
    cross join lateral (
        select r.content from skill_resources r
        where r.tenant_id = $1 and r.user_id = $2 and r.digest = decode(e.digest, 'hex') offset 0) r
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3"
}

// Skips skills that were deleted in the meantime.
statement! {
    write PutScans { scans: Value, rules: i32, now: DateTime<Utc> } -> (),
    "-- scans.put
    with given as materialized (
        select g.skill_id, decode(g.digest, 'hex') as digest, g.verdict, g.findings
        from jsonb_to_recordset($3::jsonb) as g (skill_id uuid, digest text, verdict text, findings jsonb)
    ), clean as (
        delete from skill_scans k using given g
        where k.tenant_id = $1 and k.user_id = $2 and k.skill_id = g.skill_id and g.verdict = 'ok'
    )
    insert into skill_scans as k (tenant_id, user_id, skill_id, digest, rules, verdict, findings, scanned_at)
    select $1, $2, g.skill_id, g.digest, $4, g.verdict, g.findings, $5
    from given g
    join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = g.skill_id
    where g.verdict <> 'ok'
    on conflict (tenant_id, user_id, skill_id) do update
    set digest = excluded.digest, rules = excluded.rules, verdict = excluded.verdict, findings = excluded.findings,
        scanned_at = excluded.scanned_at"
}

statement! {
    write FinishScan { rules: i32 } -> (),
    "-- scans.finish
    update user_catalogs set scanned_rules = $3 where tenant_id = $1 and user_id = $2 and scanned_rules < $3"
}

// Adds the findings of a change. If the whole skill was scanned before, those findings stay until the next scan.
statement! {
    write NoteScan { skill: Uuid, rules: i32, verdict: String, findings: Value, now: DateTime<Utc> } -> (),
    "-- scans.note
    insert into skill_scans as k (tenant_id, user_id, skill_id, rules, verdict, findings, scanned_at)
    values ($1, $2, $3, $4, $5, $6, $7)
    on conflict (tenant_id, user_id, skill_id) do update set digest = null"
}

statement! {
    read WasAsked { skill: Uuid, digest: Vec<u8>, submitter: String } -> AskedRow,
    "-- scans.was_asked
    select exists (select from submissions b
                   where b.tenant_id = $1 and b.user_id = $2 and b.skill_id = $3 and b.base_digest = $4
                     and b.submitter = $5) as asked"
}

/// Position and rules for listing the next skills to scan.
#[derive(Debug, Clone, Copy)]
pub struct DueScans {
    pub rules: i32,
    /// The last scanned skill; the nil id at the start.
    pub after: SkillId,
    pub limit: i64,
}

/// Results of one round.
#[derive(Debug, Clone, Copy)]
pub struct ScanRound<'a> {
    pub scans: &'a [Scanned],
    pub rules: i32,
    pub now: DateTime<Utc>,
}

/// Lists the user's next skills to scan, ordered by id. These are skills that were not fully scanned with these rules,
/// and skills that had findings and have changed since.
pub async fn list_unread(db: &Database, principal: &Principal, due: DueScans) -> Result<Vec<UnscannedSkill>> {
    let DueScans { rules, after, limit } = due;
    let rows = read(db, principal, ListUnread { after: after.0, rules, limit }).await?;
    let unread = rows.into_iter().map(|row| UnscannedSkill {
        skill: SkillId(row.skill_id),
        name: row.name,
        version: row.version,
        digest: row.digest,
        document: row.document.into(),
        resources: row.resources.into(),
    });
    Ok(unread.collect())
}

/// Lists the paths and contents of a skill's files other than SKILL.md.
pub async fn list_files(db: &Database, principal: &Principal, skill: SkillId) -> Result<Vec<(String, Vec<u8>)>> {
    let rows = read(db, principal, ListFiles { skill: skill.0 }).await?;
    Ok(rows.into_iter().map(|file| (file.path, file.content)).collect())
}

/// Stores the findings of whole skills and deletes findings that no longer apply.
pub async fn put(db: &Database, principal: &Principal, round: ScanRound<'_>) -> Result<()> {
    let ScanRound { scans, rules, now } = round;
    let scan = |scanned: &Scanned| {
        let Scanned { skill, digest, verdict, findings } = scanned;
        json!({"skill_id": skill, "digest": knowhow_domain::skills::manifest::hex(digest), "verdict": verdict, "findings": findings})
    };
    let scans = Value::Array(scans.iter().map(scan).collect());
    write(db, principal, PutScans { scans, rules, now }).await?;
    Ok(())
}

/// Records that all of the user's skills were scanned with these rules.
pub async fn finish(db: &Database, principal: &Principal, rules: i32) -> Result<()> {
    write(db, principal, FinishScan { rules }).await?;
    Ok(())
}

/// Records the findings of an accepted change, in the transaction of the change. A job scans the whole skill later.
pub fn note(tx: &mut WriteTx, scanned: Scanned, rules: i32, now: DateTime<Utc>) {
    let Scanned { skill, verdict, findings, .. } = scanned;
    tx.send_ahead(NoteScan { skill: skill.0, rules, verdict, findings, now });
}

/// Returns whether this submitter has already proposed a change to this skill in exactly this state.
pub async fn was_asked(tx: &mut WriteTx, skill: SkillId, digest: &[u8], submitter: &str) -> Result<bool> {
    let asked = WasAsked { skill: skill.0, digest: digest.to_vec(), submitter: submitter.to_owned() };
    Ok(tx.read(asked).await?.pop().is_some_and(|row| row.asked))
}
