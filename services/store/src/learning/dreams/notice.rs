//! Notices to reviewers about runs with operations that wait for a decision.

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::learning::dream::{DreamNotice, RunPass};
use knowhow_domain::{DreamId, Result};
use uuid::Uuid;

use crate::vault::{Word, read, row, statement, write};
use crate::{Database, Principal, WriteTx};

statement! {
    write EnqueueNotice { run: Uuid, task: &'static str } -> (),
    "-- dreams.enqueue_notice
    select app.enqueue($4, jsonb_build_object('run_id', r.run_id), r.run_id::text, true)
    from dream_runs r
    join webhooks w on w.tenant_id = $1
    where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3 and r.state in ('planned', 'partly') and not r.dry_run
      and r.notified_at is null"
}

/// Queues a notice about a run to the tenant's webhook, together with COMMIT. Has no effect unless the tenant has a
/// webhook and operations of the run wait for a person for the first time.
pub(super) fn notify_reviewers(tx: &mut WriteTx, run: DreamId) {
    tx.send_ahead(EnqueueNotice { run: run.0, task: task::NOTIFY_DREAM });
}

row! {
    struct DreamNoticeRow {
        run_id: Uuid, pass: Word<RunPass>, external_id: String, waiting: i64, tainted: bool, created_at: DateTime<Utc>,
        texts_until: DateTime<Utc>,
    }
}

statement! {
    read FindUnnotified { run: Uuid } -> DreamNoticeRow,
    "-- dreams.find_unnotified
    select r.run_id, r.pass, u.external_id, o.waiting, o.tainted, r.created_at, r.texts_until
    from dream_runs r
    join users u on u.tenant_id = $1 and u.user_id = $2
    cross join lateral (
        select count(*) as waiting, coalesce(bool_or(p.tainted_by <> '{}'), false) as tainted from dream_ops p
        where p.tenant_id = $1 and p.user_id = $2 and p.run_id = r.run_id and p.outcome in ('proposed', 'waiting')) o
    where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3 and not r.dry_run and r.notified_at is null
      and o.waiting > 0"
}

/// Returns the notice about a run of the principal's user. Returns `None` if the notice was already sent, or if no
/// operation of the run waits for a person.
pub async fn find_unnotified(db: &Database, principal: &Principal, run: DreamId) -> Result<Option<DreamNotice>> {
    let found = read(db, principal, FindUnnotified { run: run.0 }).await?.pop();
    Ok(found.map(|row| DreamNotice {
        tenant: principal.tenant_slug().to_owned(),
        run: DreamId(row.run_id),
        pass: row.pass.0,
        user: row.external_id,
        waiting: row.waiting,
        tainted: row.tainted,
        created_at: row.created_at,
        expires_at: row.texts_until,
    }))
}

statement! {
    write NoteNotified { run: Uuid, now: DateTime<Utc> } -> (),
    "-- dreams.note_notified
    update dream_runs r set notified_at = $4 where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3"
}

/// Records that the notice about a run was sent.
pub async fn note_notified(db: &Database, principal: &Principal, run: DreamId, now: DateTime<Utc>) -> Result<()> {
    write(db, principal, NoteNotified { run: run.0, now }).await.map(drop)
}
