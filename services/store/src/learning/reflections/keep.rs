//! Stores reflections.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::learning::dream::ModelCall;
use knowhow_domain::{Cadence, DreamId, MemoryId, ReflectionState, Result, SessionId, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::vault::value::uuids;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal, WriteTx};
use knowhow_domain::first_id_of;

/// A requested reflection.
#[derive(Debug, Clone, Copy)]
pub struct QueuedReflection {
    pub cadence: Cadence,
    pub period: NaiveDate,
    pub now: DateTime<Utc>,
    /// Time until which its model calls are stored.
    pub texts_until: DateTime<Utc>,
}

// If a reflection is finished, or failed too often, it stays unchanged. No row is returned then.
statement! {
    write QueueReflection {
        cadence: &'static str, period: NaiveDate, id: Uuid, now: DateTime<Utc>, texts_until: DateTime<Utc>, task: &'static str,
    } -> (),
    "-- reflections.queue
    with asked as (
        insert into reflections as r (tenant_id, user_id, reflection_id, cadence, period, state, created_at, texts_until)
        values ($1, $2, $5, $3, $4, 'queued', $6, $7)
        on conflict (tenant_id, user_id, cadence, period) do update set state = 'queued', reason = null
        where r.state <> 'made' and r.tries < 3
        returning r.cadence, r.period
    )
    select app.enqueue($8, jsonb_build_object('cadence', cadence, 'period', period), cadence || ' ' || period) from asked"
}

/// Queues a reflection for a worker, together with COMMIT. If the reflection is finished, or failed too often, it
/// stays unchanged.
pub fn queue(tx: &mut WriteTx, of: QueuedReflection) {
    let QueuedReflection { cadence, period, now, texts_until } = of;
    tx.send_ahead(QueueReflection {
        cadence: cadence.as_str(),
        period,
        id: new_id(),
        now,
        texts_until,
        task: task::REFLECT,
    });
}

row! { struct ReflectionStateRow { state: Word<ReflectionState> } }

statement! {
    read FindState { cadence: &'static str, period: NaiveDate } -> ReflectionStateRow,
    "-- reflections.find_state
    select r.state from reflections r
    where r.tenant_id = $1 and r.user_id = $2 and r.cadence = $3 and r.period = $4"
}

/// Locks the user's catalogue row, and returns the state of a period's reflection.
pub async fn lock(tx: &mut WriteTx, cadence: Cadence, period: NaiveDate) -> Result<Option<ReflectionState>> {
    tx.lock_user();
    let found = tx.read(FindState { cadence: cadence.as_str(), period }).await?;
    Ok(found.into_iter().next().map(|row| row.state.0))
}

/// Result of a reflection.
#[derive(Debug, Clone)]
pub struct Finished<'a> {
    pub of: QueuedReflection,
    pub state: ReflectionState,
    pub reason: Option<&'a str>,
    /// Memories that store the text.
    pub memories: &'a [MemoryId],
    /// Conversations that the reflection is based on.
    pub sessions: &'a [SessionId],
    pub run: Option<DreamId>,
    /// Whether to count a failed attempt, because the model's answer was unusable.
    pub is_try: bool,
    pub calls: &'a [ModelCall],
}

statement! {
    write FinishReflection {
        cadence: &'static str, period: NaiveDate, id: Uuid, now: DateTime<Utc>, texts_until: DateTime<Utc>,
        state: &'static str, reason: Option<String>, memories: Vec<Uuid>, sessions: Vec<Uuid>, run: Option<Uuid>,
        tries: i32, calls: Value, tokens: i64,
    } -> (),
    "-- reflections.finish
    insert into reflections as r (tenant_id, user_id, reflection_id, cadence, period, state, reason, memory_ids, session_ids,
        run_id, tries, calls, tokens, created_at, finished_at, texts_until)
    values ($1, $2, $5, $3, $4, $8, $9, $10, $11, $12, $13, $14, $15, $6, $6, $7)
    on conflict (tenant_id, user_id, cadence, period) do update
    set state = excluded.state, reason = excluded.reason, memory_ids = excluded.memory_ids,
        session_ids = excluded.session_ids, run_id = excluded.run_id, tries = r.tries + excluded.tries,
        calls = r.calls || excluded.calls, tokens = r.tokens + excluded.tokens, finished_at = excluded.finished_at
    where r.state <> 'made'"
}

/// Stores the result of a reflection, together with COMMIT. If the reflection is already finished, it stays
/// unchanged.
pub fn finish(tx: &mut WriteTx, finished: &Finished<'_>) {
    let Finished { of, state, reason, memories, sessions, run, is_try, calls } = *finished;
    tx.send_ahead(FinishReflection {
        cadence: of.cadence.as_str(),
        period: of.period,
        id: new_id(),
        now: of.now,
        texts_until: of.texts_until,
        state: state.as_str(),
        reason: reason.map(str::to_owned),
        memories: uuids(memories.iter().copied()),
        sessions: uuids(sessions.iter().copied()),
        run: run.map(|run| run.0),
        tries: i32::from(is_try),
        calls: json!(calls),
        tokens: calls.iter().map(|call| call.tokens).sum(),
    });
}

/// A memory that stores a reflection based on other reflections.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    pub memory: MemoryId,
    /// Memories that this one is based on. It inherits their sessions, so if such a session is marked as tainted,
    /// this memory is marked too.
    pub from: &'a [MemoryId],
    /// Whether an input of the reflection is untrusted.
    pub is_tainted: bool,
}

statement! {
    write Carry { memory: Uuid, from: Vec<Uuid>, is_tainted: bool } -> (),
    "-- reflections.carry
    with noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select distinct $1::uuid, $2::uuid, w.session_id, 'memory', $3::uuid, 0
        from session_texts w
        where w.tenant_id = $1 and w.user_id = $2 and w.kind = 'memory' and w.text_id = any ($4::uuid[])
        on conflict do nothing
    ), marked as (
        update memories m set tainted = true
        where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3 and not m.tainted
          and ($5 or exists (select from memories f
                             where f.tenant_id = $1 and f.user_id = $2 and f.memory_id = any ($4::uuid[]) and f.tainted))
        returning m.memory_id, m.content
    )
    select app.keep_passages(app.passages(convert_to(k.content, 'UTF8')), k.memory_id, 0) from marked k"
}

/// Records the origin of a memory, together with COMMIT. Marks the memory as tainted if an input is untrusted.
pub fn carry(tx: &mut WriteTx, carried: Carried<'_>) {
    let Carried { memory, from, is_tainted } = carried;
    tx.send_ahead(Carry { memory: memory.0, from: uuids(from.iter().copied()), is_tainted });
}

row! { struct CountRow { actions: i64 } }

statement! {
    read CountActions<'a> { now: DateTime<Utc>, time_zone: &'a str, first: Uuid } -> CountRow,
    "-- reflections.count_actions
    select count(*) as actions
    from (select app.zone(coalesce((select l.time_zone from learning l where l.tenant_id = $1 and l.user_id = $2), $4)) as zone) z
    join dream_runs r on r.tenant_id = $1 and r.user_id = $2 and r.run_id >= $5 and r.pass = 'reflection'
        and r.created_at >= ($3::timestamptz at time zone z.zone)::date::timestamp at time zone z.zone
    join dream_ops o on o.tenant_id = $1 and o.user_id = $2 and o.run_id = r.run_id"
}

/// Counts the actions that reflections have proposed on the user's current day. `time_zone` is the tenant's time zone.
pub async fn count_actions(db: &Database, principal: &Principal, now: DateTime<Utc>, time_zone: &str) -> Result<i64> {
    // The current day in any time zone began at most two days ago.
    let asked = CountActions { now, time_zone, first: first_id_of(now - TimeDelta::days(2)) };
    Ok(read(db, principal, asked).await?.into_iter().map(|row| row.actions).sum())
}
