//! Which skills a user has, in which version and with which digest: what a folder is compared with.

use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal, Window};

/// A skill without its text.
pub struct DigestRow {
    pub id: SkillId,
    pub name: String,
    pub version: i32,
    /// Of all its files.
    pub digest: Vec<u8>,
    /// Who first wrote it.
    pub source: String,
    pub tainted: bool,
}

row! {
    DigestRow {
        id: Uuid = skill_id, name: String, version: i32, digest: Vec<u8>, source: String, tainted: bool,
    }
}

statement! {
    read ListDigests<'a> { source: Option<&'a str>, after: &'a str, limit: i64 } -> DigestRow,
    "-- skills.list_digests
    select s.skill_id, s.name, s.version, s.digest, s.source, s.tainted
    from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and ($3::text is null or s.source = $3) and s.name > $4
    order by s.name
    limit $5"
}

/// Lists skills by name, those of one source where one is given.
///
/// # Errors
/// `Unavailable`.
pub async fn list_digests(
    db: &Database,
    principal: &Principal,
    source: Option<&str>,
    window: Window<&str>,
) -> Result<Vec<DigestRow>> {
    read(db, principal, ListDigests { source, after: window.behind, limit: window.limit }).await
}
