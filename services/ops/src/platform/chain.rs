//! The chain of the audit log: workers create its seals, and operators of the deployment verify them.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Result, TenantId, first_id_of};
use knowhow_store::across::seals::{self, LoggedTenant, Range, Seal, Unsealed};
use serde::Serialize;

use crate::App;

/// Age after which an entry is sealed. It exceeds the longest transaction and clock difference, so that no entry
/// appears in a range that is already sealed.
const AGE: TimeDelta = TimeDelta::minutes(10);
/// Maximum number of entries per seal.
const MOST: i32 = 5000;
/// Maximum number of tenants per round, and of seals per page.
const PAGE: i64 = 1000;

/// Seals old entries of all tenants, and deletes expired seals. Returns the number of sealed entries.
pub async fn seal(app: &App) -> Result<i64> {
    let (now, mut sealed) = (app.now(), 0);
    let before = first_id_of(now - AGE);
    for unsealed in seals::list_unsealed(&app.db, before, PAGE).await? {
        let mut next = unsealed;
        while let Some(seal) = seal_next(app, &next, before).await? {
            sealed += i64::from(seal.entries);
            next = next.behind(&seal);
        }
    }
    seals::prune(&app.db, now, PAGE).await?;
    Ok(sealed)
}

/// Creates the next seal. Returns `None` if no entries are left, or another worker has sealed them.
async fn seal_next(app: &App, unsealed: &Unsealed, before: uuid::Uuid) -> Result<Option<Seal>> {
    let digested = seals::digest(&app.db, unsealed.next(before, MOST)).await?;
    let Some(seal) = unsealed.seal(&digested) else { return Ok(None) };
    let sealer = app.gate.state().sealer();
    let mac = sealer.vouch(&seal.hash(unsealed.tenant)).to_vec();
    let seal = Seal { mac, mac_under: sealer.mark().to_vec(), ..seal };
    Ok(seals::add(&app.db, unsealed.tenant, &seal, app.now()).await?.then_some(seal))
}

/// The result of verifying one tenant's log.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    /// The tenant, by slug; `-` for rejected logins without a tenant.
    pub tenant: String,
    /// Number of existing seals.
    pub seals: u64,
    /// Number of sealed entries that were compared.
    pub entries: i64,
    /// Number of seals with expired entries, so that only their position in the chain was verified.
    pub past: u64,
    /// Number of seals made with an unknown master key: their digests are right, but their origin cannot be verified.
    pub unvouched: u64,
    /// Hex digest of the last seal. Stored elsewhere, it shows later whether seals were removed from the end.
    pub head: Option<String>,
    /// Time of the last sealed entry.
    pub until: Option<DateTime<Utc>>,
    /// Whether unsealed entries are older than an hour: either no worker runs, or seals were removed.
    pub lags: bool,
    /// The first broken seal; `None` if all seals are intact.
    pub broken: Option<Broken>,
}

/// A broken seal.
#[derive(Debug, Clone, Serialize)]
pub struct Broken {
    /// The number of the seal.
    pub seal: i64,
    /// Time of the first entry that the seal covers.
    pub from: DateTime<Utc>,
    /// Time of the last entry that the seal covers.
    pub to: DateTime<Utc>,
    /// The fault that was found.
    pub finding: &'static str,
}

/// Verifies the logs of all tenants, or of the tenant with the slug `only`.
pub async fn verify(app: &App, only: Option<&str>) -> Result<Vec<Verified>> {
    let mut all = Vec::new();
    for at in app.each() {
        all.extend(verify_place(&at, only).await?);
    }
    Ok(all)
}

async fn verify_place(app: &App, only: Option<&str>) -> Result<Vec<Verified>> {
    let (mut all, mut behind) = (Vec::new(), String::new());
    loop {
        let page = seals::list_logged(&app.db, only, &behind).await?;
        let Some(last) = page.last() else { return Ok(all) };
        behind.clone_from(&last.slug);
        for logged in &page {
            all.push(verify_one(app, logged).await?);
        }
    }
}

async fn verify_one(app: &App, logged: &LoggedTenant) -> Result<Verified> {
    let mut found = Verified {
        tenant: logged.slug.clone(),
        seals: 0,
        entries: 0,
        past: 0,
        unvouched: 0,
        head: None,
        until: None,
        lags: false,
        broken: None,
    };
    let mut last: Option<Seal> = None;
    loop {
        let behind = last.as_ref().map_or(0, |seal| seal.number);
        let page = seals::list(&app.db, logged.tenant, behind, PAGE).await?;
        if page.is_empty() {
            break;
        }
        for seal in page {
            if let Some(finding) = examine(app, logged, Link { seal: &seal, before: last.as_ref() }, &mut found).await?
            {
                found.broken = Some(Broken { seal: seal.number, from: seal.first_at, to: seal.last_at, finding });
                return Ok(found);
            }
            last = Some(seal);
        }
    }
    found.lags = lags(app, logged.tenant, last.as_ref()).await?;
    found.head = last.as_ref().map(|seal| manifest::hex(&seal.seal_hash));
    found.until = last.map(|seal| seal.last_at);
    Ok(found)
}

/// A seal and its predecessor.
struct Link<'a> {
    seal: &'a Seal,
    before: Option<&'a Seal>,
}

/// Returns the fault of a seal, if any, and adds the seal to the counts in `found`.
async fn examine(
    app: &App,
    logged: &LoggedTenant,
    link: Link<'_>,
    found: &mut Verified,
) -> Result<Option<&'static str>> {
    let Link { seal, before } = link;
    found.seals += 1;
    let hash = seal.hash(logged.tenant);
    let follows = before.is_none_or(|before| {
        (seal.number, &seal.previous_hash, seal.behind) == (before.number + 1, &before.seal_hash, before.last_id)
    });
    // The first stored seal has no predecessor if earlier ones have expired.
    if !follows || before.is_none() && seal.number > 1 && !is_past(app, logged, seal.first_at) {
        return Ok(Some("the previous seal is missing or different"));
    }
    if seal.seal_hash != hash {
        return Ok(Some("the seal was changed"));
    }
    match app.gate.state().sealer().is_vouched(&hash, &seal.mac, &seal.mac_under) {
        Some(false) => return Ok(Some("the seal was not made by this deployment")),
        Some(true) => {}
        None => found.unvouched += 1,
    }
    let range = Range { tenant: logged.tenant, behind: seal.behind, upto: seal.last_id, most: i32::MAX };
    let now = seals::digest(&app.db, range).await?;
    if now.entries < seal.entries && is_past(app, logged, seal.first_at) {
        found.past += 1;
        return Ok(None);
    }
    found.entries += i64::from(now.entries);
    Ok(match () {
        () if now.entries < seal.entries => Some("entries were removed"),
        () if now.entries > seal.entries => Some("entries were added"),
        () if now.hash != seal.entries_hash => Some("an entry was changed"),
        () if now.unexplained > 0 => Some("an entry's content was removed although its user was not erased"),
        () => None,
    })
}

/// Returns whether entries of this time may have expired. Adds a day for clock differences with the deleting process.
fn is_past(app: &App, logged: &LoggedTenant, at: DateTime<Utc>) -> bool {
    at < app.now() - TimeDelta::days(i64::from(logged.days)) + TimeDelta::days(1)
}

async fn lags(app: &App, tenant: TenantId, last: Option<&Seal>) -> Result<bool> {
    let upto = first_id_of(app.now() - TimeDelta::hours(1));
    let behind = last.map_or(uuid::Uuid::nil(), |seal| seal.last_id);
    Ok(seals::digest(&app.db, Range { tenant, behind, upto, most: 1 }).await?.entries > 0)
}
