//! Stored reflections.

use chrono::{DateTime, NaiveDate, Utc};
use knowhow_domain::{Cadence, Error, Reflection, ReflectionId, ReflectionState, ReflectionText, Result};
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

row! {
    struct ReflectionRow {
        reflection_id: Uuid, cadence: Word<Cadence>, period: NaiveDate, state: Word<ReflectionState>,
        reason: Option<String>, texts: Json<Vec<ReflectionText>>, run_id: Option<Uuid>, tries: i32, tokens: i64, created_at: DateTime<Utc>,
        finished_at: Option<DateTime<Utc>>,
    }
}

impl From<ReflectionRow> for Reflection {
    fn from(row: ReflectionRow) -> Self {
        Self {
            id: ReflectionId(row.reflection_id),
            cadence: row.cadence.0,
            period: row.period,
            state: row.state.0,
            reason: row.reason,
            texts: row.texts.0,
            run: row.run_id.map(Into::into),
            tries: row.tries,
            tokens: row.tokens,
            created_at: row.created_at,
            finished_at: row.finished_at,
        }
    }
}

statement! {
    read FindReflection { cadence: &'static str, period: NaiveDate } -> ReflectionRow,
    "-- reflections.find
    select r.reflection_id, r.cadence, r.period, r.state, r.reason, t.texts, r.run_id, r.tries, r.tokens, r.created_at,
           r.finished_at
    from reflections r
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('memory', m.memory_id, 'text', m.content, 'tainted', m.tainted)
                                  order by array_position(r.memory_ids, m.memory_id)), '[]') as texts
        from memories m where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = any (r.memory_ids)) t
    where r.tenant_id = $1 and r.user_id = $2 and r.cadence = $3 and r.period = $4"
}

/// Returns the reflection for a period, if there is one.
pub async fn find(
    db: &Database,
    principal: &Principal,
    cadence: Cadence,
    period: NaiveDate,
) -> Result<Option<Reflection>> {
    let found = read(db, principal, FindReflection { cadence: cadence.as_str(), period }).await?.pop();
    Ok(found.map(Reflection::from))
}

statement! {
    read ListReflections { cadence: Option<&'static str>, before: Uuid, limit: i64 } -> ReflectionRow,
    "-- reflections.list
    select r.reflection_id, r.cadence, r.period, r.state, r.reason, t.texts, r.run_id, r.tries, r.tokens, r.created_at,
           r.finished_at
    from reflections r
    cross join lateral (
        select coalesce(jsonb_agg(jsonb_build_object('memory', m.memory_id, 'text', m.content, 'tainted', m.tainted)
                                  order by array_position(r.memory_ids, m.memory_id)), '[]') as texts
        from memories m where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = any (r.memory_ids)) t
    where r.tenant_id = $1 and r.user_id = $2 and ($3::text is null or r.cadence = $3) and r.reflection_id < $4
    order by r.reflection_id desc
    limit $5"
}

/// Filter and page of reflections.
#[derive(Debug, Clone, Copy)]
pub struct ReflectionListQuery {
    /// Only reflections of this cadence; `None` for all cadences.
    pub cadence: Option<Cadence>,
    /// Only reflections older than this one.
    pub before: ReflectionId,
    pub limit: i64,
}

/// Lists reflections of the principal's user, newest first.
pub async fn list(db: &Database, principal: &Principal, query: ReflectionListQuery) -> Result<Vec<Reflection>> {
    let ReflectionListQuery { cadence, before, limit } = query;
    let asked = ListReflections { cadence: cadence.map(Cadence::as_str), before: before.0, limit };
    Ok(read(db, principal, asked).await?.into_iter().map(Reflection::from).collect())
}

row! { struct TodayRow { today: NaiveDate } }

statement! {
    read FindToday<'a> { now: DateTime<Utc>, time_zone: &'a str } -> TodayRow,
    "-- reflections.find_today
    select ($3::timestamptz at time zone z.zone)::date as today
    from (select app.zone(coalesce((select l.time_zone from learning l where l.tenant_id = $1 and l.user_id = $2), $4)) as zone) z"
}

/// Returns the user's current date. `time_zone` is the tenant's time zone, for users without their own.
pub async fn find_today(
    db: &Database,
    principal: &Principal,
    now: DateTime<Utc>,
    time_zone: &str,
) -> Result<NaiveDate> {
    let found = read(db, principal, FindToday { now, time_zone }).await?.pop();
    found.map(|row| row.today).ok_or_else(|| Error::internal("reflections.find_today answers with one row"))
}
