//! Stored files of a skill, byte for byte: its SKILL.md, or one resource.

use knowhow_domain::Result;

use super::SkillKey;
use super::load::name_of;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// A stored file.
#[derive(Debug, Clone)]
pub struct RawFile {
    pub content: Vec<u8>,
    /// SHA-256 of the content.
    pub digest: Vec<u8>,
    /// Whether a part of the skill's text came from untrusted content and was not approved by a person.
    pub tainted: bool,
}

row! { RawFile { content: Vec<u8>, digest: Vec<u8>, tainted: bool } }

statement! {
    read ReadRaw<'a> { name: &'a str } -> RawFile,
    "-- skills.raw
    select s.document as content, s.document_digest as digest, s.tainted
    from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3"
}

// `offset 0` makes Postgres use the file's digest in the index search. A plain join would compare all files of the
// user.
statement! {
    read FindResource<'a> { name: &'a str, path: &'a str } -> RawFile,
    "-- skills.resource
    select r.content, r.digest, s.tainted
    from skills s
    cross join lateral jsonb_to_recordset(s.resources) as e (path text, digest text)
    cross join lateral (
        select r.content, r.digest from skill_resources r
        where r.tenant_id = $1 and r.user_id = $2 and r.digest = decode(e.digest, 'hex') offset 0) r
    where s.tenant_id = $1 and s.user_id = $2 and s.name = $3 and e.path = $4"
}

/// Reads a skill's SKILL.md, byte for byte.
pub async fn raw(db: &Database, principal: &Principal, key: &SkillKey) -> Result<Option<RawFile>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    Ok(read(db, principal, ReadRaw { name: &name }).await?.into_iter().next())
}

/// Reads one resource file.
pub async fn find_resource(
    db: &Database,
    principal: &Principal,
    key: &SkillKey,
    path: &str,
) -> Result<Option<RawFile>> {
    let Some(name) = name_of(db, principal, key).await? else { return Ok(None) };
    Ok(read(db, principal, FindResource { name: &name, path }).await?.into_iter().next())
}
