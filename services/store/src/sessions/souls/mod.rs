//! The soul: the user's customization of the agent's personality, with past versions.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, Soul, new_id};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal, Window, WriteTx};

pub(crate) mod approve;

pub use approve::{WrittenSoul, approve, find_to_approve};

/// Maximum number of versions. The last untainted version, which prompts use, is kept in addition.
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

/// Lists versions before `page.behind`, newest first. If `tainted` is given, lists only tainted or only untainted
/// versions.
pub async fn list(db: &Database, principal: &Principal, page: Window<i32>, tainted: Option<bool>) -> Result<Vec<Soul>> {
    read(db, principal, ListSouls { before: page.behind, limit: page.limit, tainted }).await
}

// The higher revision prevents a snapshot that was rendered earlier from replacing a later one. An emptied soul
// invalidates older snapshots, like any deletion.
statement! {
    write PutSoul {
        text: String, actor: String, session: Option<String>, now: DateTime<Utc>, base: Option<i32>, audit_id: Uuid,
        named: Vec<String>, most: i32, is_doubtful: bool,
    } -> Soul,
    "-- souls.put
    with last as (
        select s.version, s.content, s.actor, s.tainted, s.created_at, s.approved_by, s.approved_at from souls s
        where s.tenant_id = $1 and s.user_id = $2 order by s.version desc limit 1
    ), weighed as materialized (
        select w.tainted or $11 as tainted, w.sessions from app.weigh($9, false, null, null, array[convert_to($3, 'UTF8')], '{}',
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

/// A new version of the soul.
#[derive(Debug, Clone, Copy)]
pub struct NewSoul<'a> {
    pub text: &'a str,
    /// Version that must be current for the write to happen; `None` writes after any version.
    pub base: Option<i32>,
    pub session: Option<&'a str>,
    /// Sessions named by the request. The text inherits their taint.
    pub named: &'a [&'a str],
    /// Whether the text looks like an attack. If so, the version is stored as tainted.
    pub is_doubtful: bool,
}

/// Writes a version after `base`, if given, and deletes the oldest version above the limit. No version is created if
/// `base` is not current, or if the text equals the current one. An equal text still creates a version if only the
/// current one is tainted. Returns the resulting soul; `None` if it has no version.
pub async fn put(tx: &mut WriteTx, new: &NewSoul<'_>, now: DateTime<Utc>) -> Result<Option<Soul>> {
    let NewSoul { text, base, session, named, is_doubtful } = *new;
    // The lock serializes writers, so that the next statement sees the previous writer's version.
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
        is_doubtful,
    };
    Ok(tx.write(put).await?.into_iter().next())
}
