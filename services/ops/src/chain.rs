//! The chain of the audit log: seals are made by workers, and verified by whoever runs the deployment.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Result, TenantId, first_id_of, manifest};
use knowhow_store::seals::{self, Logged, Range, Seal, Unsealed};
use serde::Serialize;

use crate::App;

/// Entries are sealed when they are so old: no transaction takes as long, and no two clocks differ by as much, so that none comes to
/// stand before a seal that is there.
const AGE: TimeDelta = TimeDelta::minutes(10);
/// Entries of one seal.
const MOST: i32 = 5000;
/// Tenants in one round, and seals in one page.
const PAGE: i64 = 1000;

/// Seals what is old enough, of all tenants, and removes seals that are past their time. How many entries were sealed.
///
/// # Errors
/// `Unavailable`.
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

/// `None` where nothing is left, or another worker seals the same.
async fn seal_next(app: &App, unsealed: &Unsealed, before: uuid::Uuid) -> Result<Option<Seal>> {
    let digested = seals::digest(&app.db, unsealed.next(before, MOST)).await?;
    let Some(seal) = unsealed.seal(&digested) else { return Ok(None) };
    let sealer = app.gate.state().sealer();
    let mac = sealer.vouch(&seal.hash(unsealed.tenant)).to_vec();
    let seal = Seal { mac, mac_under: sealer.mark().to_vec(), ..seal };
    Ok(seals::add(&app.db, unsealed.tenant, &seal, app.now()).await?.then_some(seal))
}

/// What was found of one tenant's log.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    /// The tenant, by slug; `-` for refused logins of no tenant.
    pub tenant: String,
    /// Seals that are there.
    pub seals: u64,
    /// Entries under seals that were compared.
    pub entries: i64,
    /// Seals of which entries have left by age, so that only their place in the chain was verified.
    pub past: u64,
    /// Seals by a master key that is not known here any more: their digests fit, and nobody vouches for them.
    pub unvouched: u64,
    /// The last seal's digest, hex: kept elsewhere, it tells later that no seal was taken from the end.
    pub head: Option<String>,
    /// Until when entries are sealed.
    pub until: Option<DateTime<Utc>>,
    /// Whether entries are older than an hour and under no seal: no worker runs, or seals were taken away.
    pub lags: bool,
    /// The first seal that is broken, and how.
    pub broken: Option<Broken>,
}

/// A seal that does not hold.
#[derive(Debug, Clone, Serialize)]
pub struct Broken {
    /// Its number.
    pub seal: i64,
    /// The moments between which something was changed.
    pub from: DateTime<Utc>,
    /// The same.
    pub to: DateTime<Utc>,
    /// What is wrong.
    pub finding: &'static str,
}

/// Verifies the logs of all tenants, or of one.
///
/// # Errors
/// `Unavailable`.
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

async fn verify_one(app: &App, logged: &Logged) -> Result<Verified> {
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

/// A seal and the one before it.
struct Link<'a> {
    seal: &'a Seal,
    before: Option<&'a Seal>,
}

/// What is wrong with a seal, if anything; counts it in `found`.
async fn examine(app: &App, logged: &Logged, link: Link<'_>, found: &mut Verified) -> Result<Option<&'static str>> {
    let Link { seal, before } = link;
    found.seals += 1;
    let hash = seal.hash(logged.tenant);
    let follows = before.is_none_or(|before| {
        (seal.number, &seal.previous_hash, seal.behind) == (before.number + 1, &before.seal_hash, before.last_id)
    });
    // The first that is kept goes by itself where those before it have left by age.
    if !follows || before.is_none() && seal.number > 1 && !is_past(app, logged, seal.first_at) {
        return Ok(Some("the seal before it is missing or another"));
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
        () if now.unexplained > 0 => Some("an entry's content was taken out, and its user was not erased"),
        () => None,
    })
}

/// Whether entries of that moment may have left by age. A day more, as those who remove them have a clock of their own.
fn is_past(app: &App, logged: &Logged, at: DateTime<Utc>) -> bool {
    at < app.now() - TimeDelta::days(i64::from(logged.days)) + TimeDelta::days(1)
}

async fn lags(app: &App, tenant: TenantId, last: Option<&Seal>) -> Result<bool> {
    let upto = first_id_of(app.now() - TimeDelta::hours(1));
    let behind = last.map_or(uuid::Uuid::nil(), |seal| seal.last_id);
    Ok(seals::digest(&app.db, Range { tenant, behind, upto, most: 1 }).await?.entries > 0)
}
