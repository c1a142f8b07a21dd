//! Finds a session by its id, with its snapshot.

use knowhow_domain::{Result, Session, SessionId};
use uuid::Uuid;

use super::open::{Opened, OpenedSessionRow};
use crate::sessions::snapshots::Snapshot;
use crate::vault::{read, statement};
use crate::{Database, Principal, WriteTx};

// The join with the snapshot is an outer one for the reason given at `sessions.read_turn`.
statement! {
    read Find { id: Uuid } -> (Session, (Snapshot, OpenedSessionRow)),
    "-- sessions.find
    select s.session_id, s.key, s.channel, s.max_turns, s.turns, s.index_budget, s.inline_top, s.tainted_by, s.quality,
           s.previous_session_id, s.started_at, s.last_message_at, s.ended_at, s.tools, s.budgets_spent,
           n.snapshot_id, n.sha256, n.content, n.omitted, n.created_at, p.summary as previous_summary,
           coalesce(p.tainted or o.tainted_by <> '{}', o.tainted_by <> '{}', p.tainted, false) as previous_tainted,
           o.started_at as previous_started_at,
           coalesce(c.marked_at > greatest(n.created_at, s.started_at), false) as is_marked_since
    from sessions s
    join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
    left join snapshots n on n.tenant_id = $1 and n.user_id = $2 and n.snapshot_id = s.snapshot_id
    left join sessions o on o.tenant_id = $1 and o.user_id = $2 and o.session_id = s.previous_session_id
    left join conversation_summaries p
        on p.tenant_id = $1 and p.user_id = $2 and p.session_id = s.previous_session_id
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3"
}

/// Finds one of the caller's sessions.
pub async fn find(db: &Database, principal: &Principal, session: SessionId) -> Result<Option<Opened>> {
    Ok(read(db, principal, Find { id: session.0 }).await?.pop().map(Opened::from))
}

/// Finds a session in an open transaction.
pub(super) async fn find_in(tx: &mut WriteTx, session: SessionId) -> Result<Option<Opened>> {
    Ok(tx.read(Find { id: session.0 }).await?.pop().map(Opened::from))
}
