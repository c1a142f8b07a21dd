//! Supports a change of the deployment's master key: counts the secrets encrypted with the previous key, and encrypts
//! them with the current key. Used by operators of the deployment.

use knowhow_domain::{Error, Result, TenantId};
use knowhow_store::tenants::keys::{self, SealedAt, SealedSecret};
use knowhow_store::vault::credential::MasterKeyUse;

use crate::App;
use crate::platform::webhooks::sealed_for;

/// Maximum number of tenants per page.
const PAGE: i64 = 500;

/// Number of secrets encrypted with each master key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnderKeys {
    /// Number of secrets encrypted with the current key.
    pub current: u64,
    /// Number of secrets encrypted with the previous key.
    pub previous: u64,
    /// Number of secrets that neither key can decrypt.
    pub neither: u64,
    /// Number of valid API keys that are not known to be hashed with the current key. Each is rehashed at its next use.
    pub api_keys: u64,
}

/// Counts the secrets that still need the previous master key.
pub async fn count_under_keys(app: &App) -> Result<UnderKeys> {
    walk_all(app, false).await
}

/// Encrypts secrets that use the previous master key with the current key. Returns the counts before the change.
/// Idempotent, and safe while requests are served.
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
                Some((_, MasterKeyUse::Current)) => counts.current += 1,
                Some((secret, MasterKeyUse::Previous)) => {
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

fn context(sealed: &SealedSecret) -> Vec<u8> {
    match sealed.at {
        SealedAt::Issuer(_) => sealed.tenant.0.as_bytes().to_vec(),
        SealedAt::Webhook | SealedAt::PreviousOfWebhook => sealed_for(sealed.tenant),
    }
}

fn open(app: &App, sealed: &SealedSecret) -> Option<(Vec<u8>, MasterKeyUse)> {
    app.gate.state().sealer().open_under(&sealed.bytes, &context(sealed)).ok()
}

/// Stores the encrypted secret. A secret that was changed since the read is skipped, as it already uses the current
/// key.
async fn put_anew(app: &App, sealed: &SealedSecret, secret: &[u8]) -> Result<()> {
    let anew = app.gate.state().sealer().seal(secret, &context(sealed)).map_err(Error::internal)?;
    keys::put_sealed(&app.db, sealed, &anew).await.map(drop)
}
