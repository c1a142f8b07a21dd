//! Finds the session that a call belongs to, records its activity, and counts tool calls.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Channel, Result, SessionId};
use uuid::Uuid;

use crate::vault::{row, statement, write};
use crate::{Database, Principal};

/// The session named by a call.
#[derive(Debug, Clone)]
pub struct JoinedSession {
    pub id: SessionId,
    /// Untrusted sources that the session has read.
    pub tainted_by: Vec<String>,
    /// Whether the session is open and has not been silent for too long.
    pub goes_on: bool,
    /// The budget of the current turn, if this tool call exceeds that budget.
    pub spent_budget: Option<i32>,
}

/// A call that names a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionCall<'a> {
    /// Id or key of the session.
    pub name: &'a str,
    /// Whether the call is a tool call by the agent, which counts towards the budget of the current turn.
    pub is_tool: bool,
    pub now: DateTime<Utc>,
}

/// Minimum time between two updates of a session's last activity, because calls come in bursts. If a quarter of the
/// silence that ends the session is shorter, that quarter applies.
const NOTED_EVERY: TimeDelta = TimeDelta::minutes(5);

row! { JoinedSession { id: Uuid = session_id, tainted_by: Vec<String>, goes_on: bool, spent_budget: Option<i32> } }

// A name may be the id of one session and the key of another. If several sessions have the key, the last one is used.
// The id takes precedence, but the taints of both sessions count, as in `app.find_taint`.
//
// Tool calls are counted in the row of the session, because calls of one turn may reach several processes. A session
// without a turn has no budget. The commit is asynchronous, so a crash of Postgres may lose the counts and activity
// of the last second.
statement! {
    count Join<'a> {
        id: Option<Uuid>, key: &'a str, channels: &'a [&'a str], now: DateTime<Utc>, noted_since: DateTime<Utc>,
        silent_since: &'a [DateTime<Utc>], is_tool: bool,
    } -> JoinedSession,
    "-- sessions.join
    with named as (
        select s.session_id, s.tainted_by || case when other.session_id <> s.session_id then other.tainted_by else '{}' end as tainted_by,
               s.ended_at is null and coalesce(s.last_message_at >= g.silent_since, true) as goes_on, g.silent_since,
               $9 and s.turns > 0 as is_counted
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
        update sessions s
        set last_message_at = greatest(s.last_message_at, $6), turn_calls = s.turn_calls + n.is_counted::integer
        from named n
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = n.session_id and n.goes_on
          and (n.is_counted
               or coalesce(s.last_message_at < greatest($7, $6::timestamptz - ($6::timestamptz - n.silent_since) / 4), true))
        returning case when n.is_counted and s.turn_calls > coalesce(s.turn_max_turns, s.max_turns)
                       then coalesce(s.turn_max_turns, s.max_turns) end as spent_budget
    )
    select n.session_id, n.tainted_by, n.goes_on, (select spent_budget from noted) as spent_budget from named n"
}

/// Finds the session with this id, or otherwise the last session with this key. If the session is open, the call
/// counts as activity like a message.
pub async fn join(db: &Database, principal: &Principal, call: SessionCall<'_>) -> Result<Option<JoinedSession>> {
    let SessionCall { name, is_tool, now } = call;
    let channels = Channel::ALL.map(Channel::as_str);
    let silent_since = Channel::ALL.map(|channel| now - principal.settings().conversation_gap(channel));
    let join = Join {
        id: Uuid::try_parse(name).ok(),
        key: name,
        channels: &channels,
        now,
        noted_since: now - NOTED_EVERY,
        silent_since: &silent_since,
        is_tool,
    };
    Ok(write(db, principal, join).await?.into_iter().next())
}
