//! What the scanner has found in live skills, and the skills that it is to read.

mod found;

use chrono::{DateTime, Utc};
use knowhow_domain::{ResourceEntry, Result, SkillId};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use found::{FindScan, ListFound};
pub use found::{FoundInSkill, find, list_found};

use crate::vault::value::{Files, Utf8};
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal, WriteTx};

row! {
    struct UnreadRow {
        skill_id: Uuid, name: String, version: i32, digest: Vec<u8>, document: Utf8, resources: Files,
    }
}

row! { struct FileRow { path: String, content: Vec<u8> } }

row! { struct AskedRow { asked: bool } }

/// A skill to read.
#[derive(Debug, Clone)]
pub struct Unread {
    pub skill: SkillId,
    /// Its full name.
    pub name: String,
    /// Its version now,
    pub version: i32,
    /// and the digest of that state.
    pub digest: Vec<u8>,
    /// SKILL.md.
    pub document: String,
    /// The files beside it.
    pub resources: Vec<ResourceEntry>,
}

/// What a scan of a whole skill has come to.
#[derive(Debug, Clone)]
pub struct Scanned {
    pub skill: SkillId,
    /// The digest of the state that was read.
    pub digest: Vec<u8>,
    /// The gravest verdict; `ok` removes what was found before.
    pub verdict: String,
    /// An array of findings.
    pub findings: Value,
}

// Skills that are as a starter is were read by whoever released it. `offset 0` keeps each document's digest in the search of
// the index; joined, all files of the user would be compared with it.
statement! {
    read ListUnread { after: Uuid, rules: i32, limit: i64 } -> UnreadRow,
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
    read ListFiles { skill: Uuid } -> FileRow,
    "-- scans.list_files
    select e.path, r.content
    from skills s
    cross join lateral jsonb_to_recordset(s.resources) as e (path text, digest text)
    cross join lateral (
        select r.content from skill_resources r
        where r.tenant_id = $1 and r.user_id = $2 and r.digest = decode(e.digest, 'hex') offset 0) r
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3"
}

// A skill that has gone since is left out.
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

// Of a skill whose whole was read before, what was found then stays until the whole is read again.
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

/// Which skills are to be read next.
#[derive(Debug, Clone, Copy)]
pub struct Due {
    /// The version of the rules that they are read with.
    pub rules: i32,
    /// The last one that was read; the nil id before the first.
    pub after: SkillId,
    /// How many at most.
    pub limit: i64,
}

/// What one round of reading has come to.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    pub scans: &'a [Scanned],
    /// The version of the rules.
    pub rules: i32,
    pub now: DateTime<Utc>,
}

/// The next of the user's skills, by id, that were not read whole with these rules, or have changed since something was
/// found in them.
///
/// # Errors
/// `Unavailable`.
pub async fn list_unread(db: &Database, principal: &Principal, due: Due) -> Result<Vec<Unread>> {
    let Due { rules, after, limit } = due;
    let rows = read(db, principal, ListUnread { after: after.0, rules, limit }).await?;
    let unread = rows.into_iter().map(|row| Unread {
        skill: SkillId(row.skill_id),
        name: row.name,
        version: row.version,
        digest: row.digest,
        document: row.document.into(),
        resources: row.resources.into(),
    });
    Ok(unread.collect())
}

/// The files of a skill beside SKILL.md, with their paths.
///
/// # Errors
/// `Unavailable`.
pub async fn list_files(db: &Database, principal: &Principal, skill: SkillId) -> Result<Vec<(String, Vec<u8>)>> {
    let rows = read(db, principal, ListFiles { skill: skill.0 }).await?;
    Ok(rows.into_iter().map(|file| (file.path, file.content)).collect())
}

/// Keeps what was found in whole skills, and forgets what is found no more.
///
/// # Errors
/// `Unavailable`.
pub async fn put(db: &Database, principal: &Principal, round: Round<'_>) -> Result<()> {
    let Round { scans, rules, now } = round;
    let scan = |scanned: &Scanned| {
        let Scanned { skill, digest, verdict, findings } = scanned;
        json!({"skill_id": skill, "digest": knowhow_domain::manifest::hex(digest), "verdict": verdict, "findings": findings})
    };
    let scans = Value::Array(scans.iter().map(scan).collect());
    write(db, principal, PutScans { scans, rules, now }).await?;
    Ok(())
}

/// Notes that all of the user's skills were read with these rules.
///
/// # Errors
/// `Unavailable`.
pub async fn finish(db: &Database, principal: &Principal, rules: i32) -> Result<()> {
    write(db, principal, FinishScan { rules }).await?;
    Ok(())
}

/// Notes what was found in a change that is let in, with the change; the whole skill is read soon.
pub fn note(tx: &mut WriteTx, scanned: Scanned, rules: i32, now: DateTime<Utc>) {
    let Scanned { skill, verdict, findings, .. } = scanned;
    tx.send_ahead(NoteScan { skill: skill.0, rules, verdict, findings, now });
}

/// Whether this submitter has proposed a change of exactly this state of the skill before.
///
/// # Errors
/// `Unavailable`.
pub async fn was_asked(tx: &mut WriteTx, skill: SkillId, digest: &[u8], submitter: &str) -> Result<bool> {
    let asked = WasAsked { skill: skill.0, digest: digest.to_vec(), submitter: submitter.to_owned() };
    Ok(tx.read(asked).await?.pop().is_some_and(|row| row.asked))
}
