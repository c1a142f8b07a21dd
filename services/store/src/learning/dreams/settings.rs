//! Settings and state of dreams for a user, and proposals that must not be repeated yet.

mod status;

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::learning::dream::{Mode, Pass};
use serde_json::{Value, json};
use uuid::Uuid;

pub use status::{LearningRow, PassRow};

use self::status::StoredPass;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};
use knowhow_domain::first_id_of;

statement! {
    read FindLearning { now: DateTime<Utc>, first: Uuid } -> LearningRow,
    "-- dreams.find_learning
    select l.time_zone,
           case when l.tokens_on = ($3::timestamptz at time zone 'UTC')::date then l.tokens else 0 end as tokens_today,
           (select coalesce(sum(r.archived), 0)::bigint from dream_runs r
            where r.tenant_id = $1 and r.user_id = $2 and r.run_id >= $4 and r.state <> 'undone') as archived_lately,
           coalesce(w.dreams, 0) as waiting_in_dreams, coalesce(w.reflections, 0) as waiting_in_reflections
    from (select 1) one
    cross join lateral (
        select count(*) filter (where r.pass <> 'reflection') as dreams,
               count(*) filter (where r.pass = 'reflection') as reflections
        from dream_runs r
        cross join lateral (
            select 1 from dream_ops o
            where o.tenant_id = $1 and o.user_id = $2 and o.run_id = r.run_id and o.outcome in ('proposed', 'waiting')
            offset 0) pending
        where r.tenant_id = $1 and r.user_id = $2 and r.state in ('planned', 'partly') and not r.dry_run) w
    left join learning l on l.tenant_id = $1 and l.user_id = $2"
}

statement! {
    read ListPasses { first: Uuid, since: DateTime<Utc> } -> StoredPass,
    "-- dreams.list_passes
    select p.pass, d.mode, coalesce(d.failures, 0) as failures, d.paused_at, d.fingerprint, d.fingerprint_at,
           (select count(*) from dream_runs r
            where r.tenant_id = $1 and r.user_id = $2 and r.run_id >= $3 and r.created_at > $4 and r.pass = p.pass
              and r.cause = 'demand') as runs_today
    from unnest(array['gaps', 'consolidate', 'optimize']) as p (pass)
    left join dream_passes d on d.tenant_id = $1 and d.user_id = $2 and d.pass = p.pass"
}

/// Returns the settings and state of dreams for the principal's user.
pub async fn find_learning(
    db: &Database,
    principal: &Principal,
    now: DateTime<Utc>,
) -> Result<(LearningRow, Vec<PassRow>)> {
    let own = read(db, principal, FindLearning { now, first: first_id_of(now - TimeDelta::days(30)) });
    let since = now - TimeDelta::days(1);
    let passes = read(db, principal, ListPasses { first: first_id_of(since), since });
    let (own, passes) = futures_util::try_join!(own, passes)?;
    let own = own.into_iter().next();
    let nobody = LearningRow::default();
    Ok((own.unwrap_or(nobody), passes.into_iter().map(PassRow::from).collect()))
}

/// Changes to a user's settings. `None` leaves a member unchanged. An inner `None` resets it to the tenant's setting.
#[derive(Debug, Clone, Default)]
pub struct PutLearning<'a> {
    pub time_zone: Option<Option<&'a str>>,
    pub modes: Vec<(Pass, Option<Mode>)>,
    /// The paused passes to resume.
    pub resumed: Vec<Pass>,
}

row! { struct KnownUserRow { known: bool } }

statement! {
    write PutTimeZone { time_zone: Option<String> } -> KnownUserRow,
    "-- dreams.put_time_zone
    with known as (
        select $3::text is null or exists (select from pg_timezone_names n where n.name = $3) as known
    ), put as (
        insert into learning as l (tenant_id, user_id, time_zone)
        select $1, $2, $3 from known where known
        on conflict (tenant_id, user_id) do update set time_zone = excluded.time_zone
    )
    select known from known"
}

statement! {
    write PutPasses { modes: Value, resumed: Vec<&'static str> } -> (),
    "-- dreams.put_passes
    insert into dream_passes as d (tenant_id, user_id, pass, mode)
    select $1, $2, g.pass, g.mode
    from jsonb_to_recordset($3::jsonb) as g (pass text, mode text, is_given boolean)
    on conflict (tenant_id, user_id, pass) do update
    set mode = case when exists (select from jsonb_to_recordset($3::jsonb) as g (pass text, is_given boolean)
                                 where g.pass = d.pass and g.is_given) then excluded.mode else d.mode end,
        failures = case when d.pass = any ($4) then 0 else d.failures end,
        paused_at = case when d.pass = any ($4) then null else d.paused_at end"
}

/// Changes a user's settings. Returns `false`, without any further change, if Postgres does not know the time zone.
pub async fn put_learning(tx: &mut WriteTx, put: &PutLearning<'_>) -> Result<bool> {
    if let Some(time_zone) = put.time_zone {
        let known = tx.write(PutTimeZone { time_zone: time_zone.map(str::to_owned) }).await?;
        if !known.iter().all(|row| row.known) {
            return Ok(false);
        }
    }
    let mut rows: Vec<Value> =
        put.modes.iter().map(|(pass, mode)| json!({ "pass": pass, "mode": mode, "is_given": true })).collect();
    let others = put.resumed.iter().filter(|pass| put.modes.iter().all(|(given, _)| given != *pass));
    rows.extend(others.map(|pass| json!({ "pass": pass, "mode": null, "is_given": false })));
    if !rows.is_empty() {
        let resumed = put.resumed.iter().map(|pass| pass.as_str()).collect();
        tx.send_ahead(PutPasses { modes: json!(rows), resumed });
    }
    Ok(true)
}

statement! {
    write NoteFailure { pass: &'static str, now: DateTime<Utc>, most: i32 } -> (),
    "-- dreams.note_failure
    insert into dream_passes as d (tenant_id, user_id, pass, failures)
    values ($1, $2, $3, 1)
    on conflict (tenant_id, user_id, pass) do update
    set failures = d.failures + 1,
        paused_at = case when d.failures + 1 >= $5 then coalesce(d.paused_at, $4) else d.paused_at end"
}

/// Number of consecutive failed runs after which a pass is paused.
pub const FAILURES: i32 = 3;

/// Counts a failed run, together with COMMIT. The third failure in a row pauses the pass.
pub fn note_failure(tx: &mut WriteTx, pass: Pass, now: DateTime<Utc>) {
    tx.send_ahead(NoteFailure { pass: pass.as_str(), now, most: FAILURES });
}

/// Digest of a run's inputs, which shows whether the inputs have changed.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint<'a> {
    pub pass: Pass,
    pub digest: &'a [u8],
    pub now: DateTime<Utc>,
}

statement! {
    write NoteSuccess { pass: &'static str, fingerprint: Vec<u8>, now: DateTime<Utc> } -> (),
    "-- dreams.note_success
    insert into dream_passes as d (tenant_id, user_id, pass, fingerprint, fingerprint_at)
    values ($1, $2, $3, $4, $5)
    on conflict (tenant_id, user_id, pass) do update
    set failures = 0, paused_at = null, fingerprint = excluded.fingerprint, fingerprint_at = excluded.fingerprint_at"
}

/// Records the inputs of a run that produced a plan, together with COMMIT.
pub fn note_success(tx: &mut WriteTx, of: Fingerprint<'_>) {
    tx.send_ahead(NoteSuccess { pass: of.pass.as_str(), fingerprint: of.digest.to_vec(), now: of.now });
}

statement! {
    write TakeTokens { tokens: i64, now: DateTime<Utc> } -> (),
    "-- dreams.take_tokens
    insert into learning as l (tenant_id, user_id, tokens_on, tokens)
    values ($1, $2, ($4::timestamptz at time zone 'UTC')::date, $3)
    on conflict (tenant_id, user_id) do update
    set tokens = case when l.tokens_on = excluded.tokens_on then l.tokens else 0 end + $3, tokens_on = excluded.tokens_on"
}

/// Adds used tokens to the current UTC day, together with COMMIT. The day does not depend on the user's time zone.
pub fn take_tokens(tx: &mut WriteTx, tokens: i64, now: DateTime<Utc>) {
    tx.send_ahead(TakeTokens { tokens, now });
}

row! { struct RestRow { key: String, rests_until: DateTime<Utc> } }

statement! {
    read ListResting {} -> RestRow,
    "-- dreams.list_resting
    select r.key, r.rests_until from dream_rests r where r.tenant_id = $1 and r.user_id = $2"
}

/// Returns the keys of proposals that must not be repeated yet, each with the end of this pause.
pub async fn list_resting(
    db: &Database,
    principal: &Principal,
    now: DateTime<Utc>,
) -> Result<BTreeMap<String, DateTime<Utc>>> {
    let rows = read(db, principal, ListResting {}).await?;
    Ok(rows.into_iter().filter(|row| row.rests_until > now).map(|row| (row.key, row.rests_until)).collect())
}

statement! {
    write PutRests { keys: Vec<String>, until: DateTime<Utc> } -> (),
    "-- dreams.put_rests
    insert into dream_rests as r (tenant_id, user_id, key, rests_until)
    select distinct $1::uuid, $2::uuid, k, $4::timestamptz from unnest($3::text[]) k
    on conflict (tenant_id, user_id, key) do update set rests_until = greatest(r.rests_until, excluded.rests_until)"
}

/// Stores keys of proposals that must not be repeated until `until`, together with COMMIT.
pub fn put_rests(tx: &mut WriteTx, keys: Vec<String>, until: DateTime<Utc>) {
    if !keys.is_empty() {
        tx.send_ahead(PutRests { keys, until });
    }
}

statement! {
    write NoteNight { night: NaiveDate } -> (),
    "-- dreams.note_night
    insert into dream_passes as d (tenant_id, user_id, pass, last_night)
    select $1, $2, p, $3 from unnest(array['gaps', 'consolidate', 'optimize']) p
    on conflict (tenant_id, user_id, pass) do update set last_night = excluded.last_night
    where d.last_night is null or d.last_night < excluded.last_night
    returning d.pass"
}

/// Records that the nightly runs of a date have begun. Returns `false` if they had already begun.
pub async fn note_night(tx: &mut WriteTx, night: NaiveDate) -> Result<bool> {
    Ok(!tx.write(NoteNight { night }).await?.is_empty())
}

/// Locks the user's row, so that no runs begin concurrently, and returns the state of the passes.
pub async fn lock_passes(tx: &mut WriteTx, now: DateTime<Utc>) -> Result<Vec<PassRow>> {
    tx.lock_user();
    let since = now - TimeDelta::days(1);
    let passes = tx.read(ListPasses { first: first_id_of(since), since }).await?;
    Ok(passes.into_iter().map(PassRow::from).collect())
}
