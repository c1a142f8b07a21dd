//! Snapshots: immutable rows, and the current snapshot that new sessions get.

mod parts;

use chrono::{DateTime, Utc};
use knowhow_domain::sessions::prompt;
use knowhow_domain::{Result, SnapshotForm, SnapshotId, new_id};
use serde_json::Value;
use uuid::Uuid;

pub(crate) use parts::ReadParts;
pub use parts::{Parts, read_parts};

use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

/// A rendered snapshot.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub id: SnapshotId,
    /// SHA-256 of the text.
    pub sha256: Vec<u8>,
    /// The text for the agent's prompt.
    pub text: String,
    /// Shortened and omitted parts of the index.
    pub omitted: Value,
    /// Time of the first rendering of these bytes.
    pub created_at: DateTime<Utc>,
}

/// The snapshot for new sessions.
#[derive(Debug, Clone)]
pub struct CurrentSnapshot {
    pub snapshot: Snapshot,
    /// Time at which the snapshot was last known to match the user's data.
    pub rendered_at: DateTime<Utc>,
    /// Whether all data in the snapshot still exists.
    pub is_whole: bool,
    /// Names of skills saved since the snapshot was rendered, at most 200.
    pub stale: Vec<String>,
}

row! {
    Snapshot {
        id: Uuid = snapshot_id, sha256: Vec<u8>, text: String = content, omitted: Value, created_at: DateTime<Utc>,
    }
}

row! { struct CurrentRow { rendered_at: DateTime<Utc>, is_whole: bool, stale: Vec<String> } }

statement! {
    count FindCurrent<'a> { index_budget: i32, now: DateTime<Utc>, form: &'a str } -> (Snapshot, CurrentRow),
    "-- snapshots.find_current
    with touched as (
        update current_snapshots set used_at = $4
        where tenant_id = $1 and user_id = $2 and index_budget = $3 and form = $5 and used_at < $4::timestamptz - interval '10 minutes'
    )
    select n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at, c.rendered_at, c.revision >= u.snapshot_floor as is_whole,
           case when u.revision > c.revision then array(
               select k.name::text from skill_states k
               where k.tenant_id = $1 and k.user_id = $2 and k.updated_at > c.rendered_at
               order by k.name limit 200) else '{}' end as stale
    from current_snapshots c
    join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = c.snapshot_id
    join user_catalogs u on u.tenant_id = $1 and u.user_id = $2
    where c.tenant_id = $1 and c.user_id = $2 and c.index_budget = $3 and c.form = $5"
}

statement! {
    read PeekCurrent<'a> { index_budget: i32, form: &'a str } -> (Snapshot, CurrentRow),
    "-- snapshots.peek_current
    select n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at, c.rendered_at, c.revision >= u.snapshot_floor as is_whole,
           case when u.revision > c.revision then array(
               select k.name::text from skill_states k
               where k.tenant_id = $1 and k.user_id = $2 and k.updated_at > c.rendered_at
               order by k.name limit 200) else '{}' end as stale
    from current_snapshots c
    join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = c.snapshot_id
    join user_catalogs u on u.tenant_id = $1 and u.user_id = $2
    where c.tenant_id = $1 and c.user_id = $2 and c.index_budget = $3 and c.form = $4"
}

statement! {
    write PutSnapshot<'a> {
        index_budget: i32, sha256: &'a [u8], id: Uuid, text: &'a str, omitted: &'a Value, now: DateTime<Utc>,
        revision: i64, is_asked: bool, kept_kinds: i64, form: &'a str, rendered_by: &'a str,
    } -> Snapshot,
    "-- snapshots.put
    with known as (
        select n.* from snapshots n
        where n.tenant_id = $1 and n.user_id = $2 and n.sha256 = $4
        order by n.snapshot_id desc limit 1
    ), unused as (
        delete from snapshots n where n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id in (
            select o.snapshot_id from snapshots o
            where o.tenant_id = $1 and o.user_id = $2 and o.sha256 <> $4
              and o.created_at < $8::timestamptz - interval '10 minutes'
              and not exists (select from sessions s where s.tenant_id = $1 and s.user_id = $2
                              and s.snapshot_id = o.snapshot_id)
              and not exists (select from current_snapshots c where c.tenant_id = $1 and c.user_id = $2
                              and c.snapshot_id = o.snapshot_id)
            limit 8)
    ), made as (
        insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
        select $1, $2, $5, $4, $6, $7, $8 where not exists (select from known)
        returning *
    ), wanted as (
        select * from known union all select * from made
    ), current as (
        insert into current_snapshots as c (tenant_id, user_id, index_budget, form, snapshot_id, revision, rendered_at, used_at,
            rendered_by)
        select $1, $2, $3, $12, snapshot_id, $9, $8, $8, $13 from wanted
        on conflict (tenant_id, user_id, index_budget, form) do update
        set snapshot_id = excluded.snapshot_id, revision = excluded.revision, rendered_at = excluded.rendered_at,
            rendered_by = excluded.rendered_by,
            used_at = case when $10 then excluded.used_at else c.used_at end
        where c.tenant_id = $1 and c.user_id = $2 and c.revision <= excluded.revision
    ), evicted as (
        delete from current_snapshots where tenant_id = $1 and user_id = $2 and (index_budget, form) in (
            select c.index_budget, c.form from current_snapshots c
            where c.tenant_id = $1 and c.user_id = $2 and (c.index_budget, c.form) <> ($3, $12)
            order by c.used_at desc offset $11)
    )
    select n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at from wanted n"
}

/// Kind of a user's snapshot. The text differs by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotKind {
    /// Maximum number of characters of the skill index.
    pub index_budget: i32,
    /// Form of the instructions for the agent.
    pub form: SnapshotForm,
}

/// Returns the user's current snapshot of a kind. The call counts as user activity.
pub async fn find_current(
    db: &Database,
    principal: &Principal,
    kind: SnapshotKind,
    now: DateTime<Utc>,
) -> Result<Option<CurrentSnapshot>> {
    let found = FindCurrent { index_budget: kind.index_budget, now, form: kind.form.as_str() };
    Ok(write(db, principal, found).await?.into_iter().next().map(current_of))
}

/// Returns the user's current snapshot of a kind. The call does not count as user activity.
pub async fn peek_current(db: &Database, principal: &Principal, kind: SnapshotKind) -> Result<Option<CurrentSnapshot>> {
    let peeked = PeekCurrent { index_budget: kind.index_budget, form: kind.form.as_str() };
    Ok(read(db, principal, peeked).await?.into_iter().next().map(current_of))
}

fn current_of((snapshot, row): (Snapshot, CurrentRow)) -> CurrentSnapshot {
    CurrentSnapshot { snapshot, rendered_at: row.rendered_at, is_whole: row.is_whole, stale: row.stale }
}

/// A snapshot to store.
#[derive(Debug, Clone)]
pub struct NewSnapshot<'a> {
    /// SHA-256 of the text.
    pub sha256: [u8; 32],
    pub text: &'a str,
    /// Shortened and omitted parts of the index.
    pub omitted: &'a Value,
    /// Revision of the inputs.
    pub revision: i64,
    /// Time at which the inputs were read.
    pub now: DateTime<Utc>,
    /// Whether a request needs the snapshot, so that the user counts as active.
    pub is_asked: bool,
    /// Whether the user's snapshots of other kinds stop being current.
    pub is_alone: bool,
}

/// Maximum number of other kinds of a user's snapshots that stay current. Each of them is rendered again throughout
/// the day.
const OTHER_KINDS: i64 = 3;

/// Makes `new` the user's current snapshot of its kind. If the current snapshot has the same bytes, its row stays. A
/// snapshot of an older revision never replaces one of a newer revision.
pub async fn put(
    db: &Database,
    principal: &Principal,
    kind: SnapshotKind,
    new: &NewSnapshot<'_>,
) -> Result<Option<Snapshot>> {
    let NewSnapshot { text, omitted, revision, now, is_asked, is_alone, .. } = *new;
    let put = PutSnapshot {
        index_budget: kind.index_budget,
        sha256: new.sha256.as_slice(),
        id: new_id(),
        text,
        omitted,
        now,
        revision,
        is_asked,
        kept_kinds: if is_alone { 0 } else { OTHER_KINDS },
        form: kind.form.as_str(),
        rendered_by: prompt::wording(),
    };
    Ok(write(db, principal, put).await?.into_iter().next())
}
