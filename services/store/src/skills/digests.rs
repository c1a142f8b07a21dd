//! Lists a user's skills with versions and digests, for comparison with a folder.

use knowhow_domain::{Result, SkillId, Source};
use uuid::Uuid;

use crate::vault::enum_text::Word;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, Window};

/// A skill without its text.
pub struct DigestRow {
    pub id: SkillId,
    pub name: String,
    pub version: i32,
    /// Digest of all files.
    pub digest: Vec<u8>,
    /// Origin of the skill.
    pub source: Source,
    pub tainted: bool,
}

row! {
    DigestRow {
        id: Uuid = skill_id, name: String, version: i32, digest: Vec<u8>, source: Word<Source>, tainted: bool,
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

/// Lists skills ordered by name, optionally only those from one source.
pub async fn list_digests(
    db: &Database,
    principal: &Principal,
    source: Option<&str>,
    window: Window<&str>,
) -> Result<Vec<DigestRow>> {
    read(db, principal, ListDigests { source, after: window.behind, limit: window.limit }).await
}
