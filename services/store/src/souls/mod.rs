//! The soul: the user's overlay of the agent's personality, with its last versions.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Soul, new_id};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal, Window, WriteTx};

pub(crate) mod approve;

pub use approve::{WrittenSoul, approve, find_to_approve};

/// Versions that are kept, and the last one that is not tainted, which prompts have.
pub const VERSIONS: i32 = 100;

row! {
    Soul {
        version: i32, text: String = content, updated_by: String = actor, tainted: bool,
        updated_at: DateTime<Utc> = created_at, approved_by: Option<String>, approved_at: Option<DateTime<Utc>>,
    }
}

statement! {
    read ListSouls { before: i32, limit: i64, tainted: Option<bool> } -> Soul,
    "-- souls.list
    select s.version, s.content, app.shown_actor(s.actor) as actor, s.tainted, s.created_at,
           app.shown_actor(s.approved_by) as approved_by, s.approved_at
    from souls s
    where s.tenant_id = $1 and s.user_id = $2 and s.version < $3 and ($5::boolean is null or s.tainted = $5)
    order by s.version desc
    limit $4"
}

/// Versions before one, the newest first; with `tainted`, those that are or are not.
///
/// # Errors
/// `Unavailable`.
pub async fn list(db: &Database, principal: &Principal, page: Window<i32>, tainted: Option<bool>) -> Result<Vec<Soul>> {
    read(db, principal, ListSouls { before: page.behind, limit: page.limit, tainted }).await
}

// The revision keeps a snapshot that was rendered before from replacing a later one; who empties the soul wants it out of
// the sessions to come, as with all that is deleted.
statement! {
    write PutSoul {
        text: String, actor: String, session: Option<String>, now: DateTime<Utc>, base: Option<i32>, audit_id: Uuid,
        named: Vec<String>, most: i32,
    } -> Soul,
    "-- souls.put
    with last as (
        select s.version, s.content, s.actor, s.tainted, s.created_at, s.approved_by, s.approved_at from souls s
        where s.tenant_id = $1 and s.user_id = $2 order by s.version desc limit 1
    ), weighed as materialized (
        select w.* from app.weigh($9, false, null, null, array[convert_to($3, 'UTF8')], '{}',
            (select convert_to(content, 'UTF8') from last where not tainted), null, $2,
            coalesce((select version from last), 0) + 1) w
    ), made as (
        insert into souls (tenant_id, user_id, version, content, actor, session, tainted, created_at)
        select $1, $2, coalesce((select version from last), 0) + 1, $3, $4, $5::text, w.tainted, $6
        from weighed w
        where ($7::integer is null or $7 = coalesce((select version from last), 0))
          and ($3 is distinct from (select content from last)
               or (select tainted from last) and not w.tainted)
        returning version, content, actor, tainted, created_at, approved_by, approved_at
    ), forgotten as (
        delete from souls s using made
        where s.tenant_id = $1 and s.user_id = $2 and s.version <= made.version - $10
          and s.version is distinct from (
              select max(c.version) from souls c where c.tenant_id = $1 and c.user_id = $2 and not c.tainted)
    ), catalog as (
        update user_catalogs c
        set revision = c.revision + 1,
            snapshot_floor = case when $3 = '' then c.revision + 1 else c.snapshot_floor end
        from made where c.tenant_id = $1 and c.user_id = $2
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'soul', $2, version from made, weighed w, unnest(w.sessions) s
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $8, $6, $4, 'soul.update', 'soul', jsonb_build_object('version', version),
               (select sha256(convert_to(content, 'UTF8')) from last), sha256(convert_to($3, 'UTF8'))
        from made
    )
    select version as version, content as content, app.shown_actor(actor) as actor, tainted as tainted,
           created_at as created_at, app.shown_actor(approved_by) as approved_by, approved_at as approved_at
    from (select * from made union all select * from last) soul
    order by version desc
    limit 1"
}

/// A version of the soul to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewSoul<'a> {
    pub text: &'a str,
    /// The version that must be the current one.
    pub base: Option<i32>,
    /// The session that it is written in.
    pub session: Option<&'a str>,
    /// Sessions that the request names, whose taint it takes over.
    pub named: &'a [&'a str],
}

/// Writes a version on top of `base`, where one is given; the oldest leaves. None is made where the text is that of the current version
/// (unless that is tainted and this is not), or another version than `base` is current. The soul as it is then; `None` where there is none.
///
/// # Errors
/// `Unavailable`.
pub async fn put(tx: &mut WriteTx, new: &NewSoul<'_>, now: DateTime<Utc>) -> Result<Option<Soul>> {
    let NewSoul { text, base, session, named } = *new;
    // Writers stand in line here, so that the statement behind it sees the version of the one before.
    tx.lock_user();
    let put = PutSoul {
        text: text.to_owned(),
        actor: tx.actor(),
        session: session.map(str::to_owned),
        now,
        base,
        audit_id: new_id(),
        named: named.iter().map(|name| (*name).to_owned()).collect(),
        most: VERSIONS,
    };
    Ok(tx.write(put).await?.into_iter().next())
}
