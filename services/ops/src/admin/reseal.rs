//! Changing the deployment's master key: what still needs the one before, and sealing it anew. For whoever runs the deployment.

use knowhow_domain::{Error, Result, TenantId};
use knowhow_store::credential::Under;
use knowhow_store::keys::{self, Sealed, SealedAt};

use crate::App;
use crate::webhooks::sealed_for;

/// Tenants in one page.
const PAGE: i64 = 500;

/// What is under which master key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnderKeys {
    /// Secrets under the current one.
    pub current: u64,
    /// Secrets under the one before.
    pub previous: u64,
    /// Secrets that neither opens.
    pub neither: u64,
    /// API keys that work and are not known to be hashed under the current one; each is, once it is used.
    pub api_keys: u64,
}

/// Counts what still needs the master key before.
///
/// # Errors
/// `Unavailable`.
pub async fn count_under_keys(app: &App) -> Result<UnderKeys> {
    walk_all(app, false).await
}

/// Seals anew what is under the master key before. It may be run again, and beside requests.
///
/// # Errors
/// `Unavailable`.
pub async fn reseal(app: &App) -> Result<UnderKeys> {
    walk_all(app, true).await
}

async fn walk_all(app: &App, seals: bool) -> Result<UnderKeys> {
    let mut sum = UnderKeys::default();
    for at in app.each() {
        let counts = walk(&at, seals).await?;
        sum.current += counts.current;
        sum.previous += counts.previous;
        sum.neither += counts.neither;
        sum.api_keys += counts.api_keys;
    }
    Ok(sum)
}

async fn walk(app: &App, seals: bool) -> Result<UnderKeys> {
    let mark = app.gate.state().sealer().mark();
    let api_keys = keys::count_hashed_otherwise(&app.db, mark, app.now()).await?;
    let mut counts = UnderKeys { api_keys, ..UnderKeys::default() };
    let mut behind = TenantId::FIRST;
    loop {
        let page = keys::list_sealed(&app.db, behind, PAGE).await?;
        let Some(last) = page.last() else { return Ok(counts) };
        behind = last.tenant;
        for sealed in &page {
            match open(app, sealed) {
                Some((_, Under::Current)) => counts.current += 1,
                Some((secret, Under::Previous)) => {
                    if seals {
                        put_anew(app, sealed, &secret).await?;
                    }
                    counts.previous += 1;
                }
                None => counts.neither += 1,
            }
        }
    }
}

fn context(sealed: &Sealed) -> Vec<u8> {
    match sealed.at {
        SealedAt::Issuer(_) => sealed.tenant.0.as_bytes().to_vec(),
        SealedAt::Webhook | SealedAt::PreviousOfWebhook => sealed_for(sealed.tenant),
    }
}

fn open(app: &App, sealed: &Sealed) -> Option<(Vec<u8>, Under)> {
    app.gate.state().sealer().open_under(&sealed.bytes, &context(sealed)).ok()
}

/// Where somebody has changed the secret since it was read, that one is under the current key already.
async fn put_anew(app: &App, sealed: &Sealed, secret: &[u8]) -> Result<()> {
    let anew = app.gate.state().sealer().seal(secret, &context(sealed)).map_err(Error::internal)?;
    keys::put_sealed(&app.db, sealed, &anew).await.map(drop)
}
