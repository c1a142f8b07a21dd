//! Searches the audit log. Each request reads a limited range of the tenant's log, newest first, and returns the end
//! of that range. So a rare match in a long log never causes one long scan, and no further index is needed.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{AuditEntry, AuditId, Result, first_id_of};
use uuid::Uuid;

use crate::TenantTx;
use crate::tenants::users;
use crate::vault::error::refuse;

/// Maximum number of entries read by one request.
const LOOKED_AT: i64 = 5_000;
/// Tolerance between the time in an entry's id and the entry's own time. Both are read from one clock, at different
/// moments.
const SLACK: TimeDelta = TimeDelta::hours(1);

/// Filter for entries. Absent members match all entries.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Actor as displayed (`user:alice`). A plain external id finds all actions by that user or on behalf of that
    /// user. `None` for all actors.
    pub actor: Option<String>,
    /// Name of the action, or a prefix of the name followed by `*`; `None` for all actions.
    pub action: Option<String>,
    /// Target as displayed; `None` for all targets.
    pub target: Option<String>,
    /// External id of the user; `None` for all users.
    pub user: Option<String>,
    /// Earliest time, inclusive; `None` for no lower bound.
    pub since: Option<DateTime<Utc>>,
    /// Latest time, exclusive; `None` for no upper bound.
    pub until: Option<DateTime<Utc>>,
}

impl AuditFilter {
    /// Returns whether the filter has no member other than the user.
    pub fn is_of_user_alone(&self) -> bool {
        let Self { actor, action, target, since, until, .. } = self;
        actor.is_none() && action.is_none() && target.is_none() && since.is_none() && until.is_none()
    }
}

/// Result of searching one range of the log.
#[derive(Debug)]
pub struct Searched {
    /// Matching entries, newest first, at most the requested number.
    pub entries: Vec<AuditEntry>,
    /// Last entry of the range, if the log continues after it.
    pub stopped_at: Option<AuditId>,
}

/// Stored names that match the displayed names of a filter.
struct FilteredNames {
    actors: Option<Vec<String>>,
    for_user: Option<String>,
    targets: Option<Vec<String>>,
    user: Option<Uuid>,
}

/// Searches for entries before the entry `before`. Returns at most `limit` entries.
pub async fn search(tx: &mut TenantTx, filter: &AuditFilter, before: Option<AuditId>, limit: i64) -> Result<Searched> {
    let names = FilteredNames::of(tx, filter).await?;
    if filter.user.is_some() && names.user.is_none() {
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
        names.actors.as_deref(),
        names.for_user,
        action.filter(|_| beginning.is_none()),
        beginning,
        names.targets.as_deref(),
        names.user,
        filter.since,
        filter.until,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(Searched { entries, stopped_at: end.map(AuditId) })
}

impl FilteredNames {
    async fn of(tx: &mut TenantTx, filter: &AuditFilter) -> Result<Self> {
        let mut names = Self { actors: None, for_user: None, targets: None, user: None };
        if let Some(actor) = &filter.actor {
            let (kind, name) = kind_of(actor);
            let mut actors = vec![actor.clone()];
            if let Some(id) = users::find_id(tx, name).await? {
                let kind = if kind.is_empty() { "user:" } else { kind };
                actors.push(format!("{kind}{id}"));
                // A plain name also matches API keys and shells that act for the user.
                names.for_user = (kind_of(actor).0.is_empty()).then(|| format!(" for {id}"));
            }
            names.actors = Some(actors);
        }
        if let Some(target) = &filter.target {
            let id = users::find_id(tx, target).await?;
            names.targets = Some(std::iter::once(target.clone()).chain(id.map(|id| id.to_string())).collect());
        }
        if let Some(user) = &filter.user {
            names.user = users::find_id(tx, user).await?.map(|id| id.0);
        }
        Ok(names)
    }
}

/// Splits an actor into its kind and the user's name. The kind is empty for a plain name.
fn kind_of(actor: &str) -> (&str, &str) {
    let end = match actor.split_once(" for ") {
        Some((kind, _)) if kind == "shell" || kind.starts_with("key:") => kind.len() + " for ".len(),
        _ if actor.starts_with("user:") => "user:".len(),
        _ => 0,
    };
    actor.split_at(end)
}
