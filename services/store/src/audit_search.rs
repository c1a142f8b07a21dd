//! Looking for entries of the audit log. A question reads a bounded piece of the tenant's log, newest first, and says where it
//! stopped: so a rare thing in a long log is never one long scan, and no index is written with every change.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{AuditEntry, AuditId, Result, first_id_of};
use uuid::Uuid;

use crate::error::refuse;
use crate::{TenantTx, users};

/// Entries that one question looks at.
const LOOKED_AT: i64 = 5_000;
/// An entry's id and its time are taken one after the other, by clocks of the same process.
const SLACK: TimeDelta = TimeDelta::hours(1);

/// What entries must have; what is left out fits all.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Who, as an entry shows it (`user:alice`), or a user's external id, for all that was done by or for that user's calls.
    pub actor: Option<String>,
    /// The action, or with `*` at its end how it begins.
    pub action: Option<String>,
    /// What was acted on, as an entry shows it.
    pub target: Option<String>,
    /// Of which user, by external id.
    pub user: Option<String>,
    /// At this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Before this time.
    pub until: Option<DateTime<Utc>>,
}

impl AuditFilter {
    /// Whether it says nothing but of which user.
    pub fn is_of_user_alone(&self) -> bool {
        let Self { actor, action, target, since, until, .. } = self;
        actor.is_none() && action.is_none() && target.is_none() && since.is_none() && until.is_none()
    }
}

/// What a piece of the log had.
#[derive(Debug)]
pub struct Searched {
    /// The newest of it, at most as many as were asked for.
    pub entries: Vec<AuditEntry>,
    /// Where the piece ended, where there is more of the log behind it.
    pub stopped_at: Option<AuditId>,
}

/// The names of a filter as the log keeps them.
struct Named {
    actors: Option<Vec<String>>,
    for_user: Option<String>,
    targets: Option<Vec<String>>,
    user: Option<Uuid>,
}

/// Looks for entries before one, at most `limit`.
///
/// # Errors
/// `Unavailable`.
pub async fn search(tx: &mut TenantTx, filter: &AuditFilter, before: Option<AuditId>, limit: i64) -> Result<Searched> {
    let named = Named::of(tx, filter).await?;
    if filter.user.is_some() && named.user.is_none() {
        return Ok(Searched { entries: Vec::new(), stopped_at: None });
    }
    let latest = filter.until.map_or(Uuid::max(), |until| first_id_of(until + SLACK));
    let before = before.map_or(latest, |entry| entry.0.min(latest));
    let earliest = filter.since.map_or(Uuid::nil(), |since| first_id_of(since - SLACK));
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    let end = sqlx::query_scalar!(
        "-- audit_search.end_of_piece (a tenant's admin: all users of the tenant)
        select audit_id from audit_log where tenant_id = $1 and audit_id < $2 order by audit_id desc offset $3 limit 1",
        tenant,
        before,
        LOOKED_AT - 1
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .filter(|end| *end > earliest);
    let action = filter.action.as_deref();
    let beginning = action.and_then(|action| action.strip_suffix('*'));
    let entries = sqlx::query_as!(
        AuditEntry,
        r#"-- audit_search.search (a tenant's admin: all users of the tenant)
        select a.audit_id as id, $2::text as "tenant!", a.at, app.shown_actor(a.actor) as "actor!", a.action,
               case when u.erased_at is null then app.shown_user(a.target) else '' end as "target!",
               case when u.erased_at is null then a.detail else '{}' end as "detail!",
               case when u.erased_at is null then u.external_id end as "user?", a.request_id, host(a.address) as address,
               encode(a.before_digest, 'hex') as before, encode(a.after_digest, 'hex') as after
        from audit_log a
        left join users u on u.tenant_id = a.tenant_id and u.user_id = a.user_id
        where a.tenant_id = $1 and a.audit_id < $3 and a.audit_id >= $4
          and ($5::text[] is null or a.actor = any ($5) or right(a.actor, 41) = $6)
          and ($7::text is null or a.action = $7) and ($8::text is null or starts_with(a.action, $8))
          and ($9::text[] is null or (u.erased_at is null and a.target = any ($9)))
          and ($10::uuid is null or a.user_id = $10)
          and ($11::timestamptz is null or a.at >= $11) and ($12::timestamptz is null or a.at < $12)
        order by a.audit_id desc
        limit $13"#,
        tenant,
        slug,
        before,
        end.unwrap_or(earliest),
        named.actors.as_deref(),
        named.for_user,
        action.filter(|_| beginning.is_none()),
        beginning,
        named.targets.as_deref(),
        named.user,
        filter.since,
        filter.until,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(Searched { entries, stopped_at: end.map(AuditId) })
}

impl Named {
    async fn of(tx: &mut TenantTx, filter: &AuditFilter) -> Result<Self> {
        let mut named = Self { actors: None, for_user: None, targets: None, user: None };
        if let Some(actor) = &filter.actor {
            let (kind, name) = kind_of(actor);
            let mut actors = vec![actor.clone()];
            if let Some(id) = users::find_id(tx, name).await? {
                let kind = if kind.is_empty() { "user:" } else { kind };
                actors.push(format!("{kind}{id}"));
                // A bare name is also that for which a key or a shell acted.
                named.for_user = (kind_of(actor).0.is_empty()).then(|| format!(" for {id}"));
            }
            named.actors = Some(actors);
        }
        if let Some(target) = &filter.target {
            let id = users::find_id(tx, target).await?;
            named.targets = Some(std::iter::once(target.clone()).chain(id.map(|id| id.to_string())).collect());
        }
        if let Some(user) = &filter.user {
            named.user = users::find_id(tx, user).await?.map(|id| id.0);
        }
        Ok(named)
    }
}

/// The kind of an actor that names a user, and the user's name; no kind for a bare name.
fn kind_of(actor: &str) -> (&str, &str) {
    let end = match actor.split_once(" for ") {
        Some((kind, _)) if kind == "shell" || kind.starts_with("key:") => kind.len() + " for ".len(),
        _ if actor.starts_with("user:") => "user:".len(),
        _ => 0,
    };
    actor.split_at(end)
}
