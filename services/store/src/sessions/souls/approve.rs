//! Approves tainted versions of the soul.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Soul, new_id};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

row! { struct SoulWriterRow { writer: String } }

statement! {
    write FindToApprove { version: i32 } -> (Soul, SoulWriterRow),
    "-- souls.find_to_approve
    select s.version, s.content, app.shown_actor(s.actor) as actor, s.tainted, s.created_at,
           app.shown_actor(s.approved_by) as approved_by, s.approved_at, s.actor as writer
    from souls s
    where s.tenant_id = $1 and s.user_id = $2 and s.version = $3
    for update"
}

/// A version of the soul and its author.
#[derive(Debug, Clone)]
pub struct WrittenSoul {
    /// The version, with the same fields as in a list.
    pub soul: Soul,
    /// Stored name of the author.
    pub writer: String,
}

/// Locks and reads a version for approval. The lock serializes the approval with marking its session as tainted.
pub async fn find_to_approve(tx: &mut WriteTx, version: i32) -> Result<Option<WrittenSoul>> {
    tx.lock_user();
    let row = tx.write(FindToApprove { version }).await?.pop();
    Ok(row.map(|(soul, SoulWriterRow { writer })| WrittenSoul { soul, writer }))
}

// The version's passages are trusted in all texts from now on. The next snapshot includes this version, unless a
// later version is untainted.
statement! {
    write ApproveSoul { version: i32, actor: String, now: DateTime<Utc>, audit_id: Uuid, comment: Option<String> } -> (),
    "-- souls.approve
    with approved as (
        update souls s set tainted = false, approved_by = $4, approved_at = $5
        where s.tenant_id = $1 and s.user_id = $2 and s.version = $3 and s.tainted
        returning s.version, convert_to(s.content, 'UTF8') as content
    ), known as (
        delete from tainted_passages p
        where p.tenant_id = $1 and p.user_id = $2
          and p.passage = any (array(select unnest(app.passages(a.content)) from approved a))
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1 from approved where c.tenant_id = $1 and c.user_id = $2
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
        select $1, $2, $6, $5, $4, 'soul.approve', 'soul', jsonb_build_object('version', version, 'comment', $7::text),
               sha256(content)
        from approved
    )
    select version from approved"
}

/// Approves a version locked by [`find_to_approve`], together with COMMIT.
pub fn approve(tx: &mut WriteTx, version: i32, comment: Option<&str>, now: DateTime<Utc>) {
    let (actor, comment) = (tx.actor(), comment.map(str::to_owned));
    tx.send_ahead(ApproveSoul { version, actor, now, audit_id: new_id(), comment });
}
