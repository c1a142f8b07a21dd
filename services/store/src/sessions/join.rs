//! The session that a call comes from: found, and kept from falling silent.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Channel, Result, SessionId};
use uuid::Uuid;

use crate::vault::{row, statement, write};
use crate::{Database, Principal};

/// The session that a call names.
#[derive(Debug, Clone)]
pub struct Joined {
    pub id: SessionId,
    /// What it read that is not to be trusted.
    pub tainted_by: Vec<String>,
    /// Whether it is open and has not been silent for too long.
    pub goes_on: bool,
}

/// Calls within this time after another sign of life write nothing: many calls come in a row. Nor within a quarter of the
/// silence that ends the session, where that is less.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(5);

row! { Joined { id: Uuid = session_id, tainted_by: Vec<String>, goes_on: bool } }

// A name may be the id of one session and the key of another, by key the last one: the id goes before, the marks of both
// count, as `app.find_taint` says.
statement! {
    write Join<'a> {
        id: Option<Uuid>, key: &'a str, channels: &'a [&'a str], now: DateTime<Utc>, noted_since: DateTime<Utc>,
        silent_since: &'a [DateTime<Utc>],
    } -> Joined,
    "-- sessions.join
    with named as (
        select s.session_id, s.tainted_by || case when other.session_id <> s.session_id then other.tainted_by else '{}' end as tainted_by,
               s.ended_at is null and coalesce(s.last_message_at >= g.silent_since, true) as goes_on, g.silent_since
        from sessions s
        join unnest($5::text[], $8::timestamptz[]) as g (channel, silent_since) on g.channel = s.channel
        left join lateral (
            select o.session_id, o.tainted_by from sessions o
            where o.tenant_id = $1 and o.user_id = $2 and o.key = $4
            order by o.session_id desc limit 1) other on true
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = coalesce((
            select i.session_id from sessions i
            where i.tenant_id = $1 and i.user_id = $2 and i.session_id = $3), other.session_id)
    ), noted as (
        update sessions s set last_message_at = $6
        from named n
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = n.session_id and n.goes_on
          and coalesce(s.last_message_at < greatest($7, $6::timestamptz - ($6::timestamptz - n.silent_since) / 4), true)
    )
    select session_id, tainted_by, goes_on from named"
}

/// The session whose id the name is, else the last one of that key. Where it goes on, this is a sign of life as a message is.
///
/// # Errors
/// `Unavailable`.
pub async fn join(db: &Database, principal: &Principal, name: &str, now: DateTime<Utc>) -> Result<Option<Joined>> {
    let channels = Channel::ALL.map(Channel::as_str);
    let silent_since = Channel::ALL.map(|channel| now - principal.settings().conversation_gap(channel));
    let join = Join {
        id: Uuid::try_parse(name).ok(),
        key: name,
        channels: &channels,
        now,
        noted_since: now - NOTED_EVERY,
        silent_since: &silent_since,
    };
    Ok(write(db, principal, join).await?.into_iter().next())
}
