//! Callers of the console. A login exchanges a credential for a session. The session ends with that credential.

use std::sync::Arc;

use aws_lc_rs::rand;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, KeyId, Result, Scope, Scopes, UserId};

use super::bearer::{Bearer, Caller};
use super::{Gate, Principal};
use crate::across::system::{ConsoleRow, SearchedSession, find_console_session};
use crate::vault::gate::Name;
use crate::vault::known_callers::{Found, KnownTenant};

/// Minimum time between two updates of a session's time of last use.
const USE: TimeDelta = TimeDelta::minutes(1);
/// Prefix of the text that a form token is the hash of. It makes the token differ from the stored hash.
const FORM: &[u8] = b"knowhow console form\0";

/// The secret of a session: 32 random bytes. It does not print.
#[derive(Clone)]
pub struct ConsoleSecret([u8; 32]);

impl ConsoleSecret {
    /// Generates a secret.
    ///
    /// # Errors
    /// `Internal` if the machine has no randomness.
    pub fn generate() -> Result<Self> {
        let mut secret = [0; 32];
        rand::fill(&mut secret).map_err(Error::internal)?;
        Ok(Self(secret))
    }

    /// Parses a secret; `None` if [`ConsoleSecret::encode`] cannot have written it.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self(URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }

    /// Returns the secret as text, for the cookie.
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Returns the token that forms of this session carry. It does not reveal the secret.
    pub fn form_token(&self) -> String {
        manifest::hex(&manifest::digest(&[FORM, &self.0[..]].concat()))
    }

    /// Returns the SHA-256, which is stored.
    pub(crate) fn hash(&self) -> [u8; 32] {
        manifest::digest(&self.0)
    }
}

/// A session of the console, with the caller that it acts as.
pub struct ConsoleSession {
    pub bearer: Bearer,
    /// Whether the time of the last request is to be stored.
    pub use_is_due: bool,
    /// An admin's reason to read the data of other users, given in this session.
    pub reason: Option<String>,
    /// The user that the admin views, with the external id.
    pub viewed: Option<(UserId, String)>,
}

impl Gate {
    /// Returns whether the session was found recently, so that the cookie is not merely a guess.
    pub fn is_known_console_session(&self, secret: &ConsoleSecret) -> bool {
        self.state.is_known(&Name::Console(secret.hash()))
    }

    /// Finds the session of a cookie, and checks its API key or issuer like those of a request.
    ///
    /// # Errors
    /// `Unauthenticated` if there is no such session, or if it has ended; `Unavailable`.
    pub async fn verify_console_session(&self, tenant: &str, secret: &ConsoleSecret) -> Result<ConsoleSession> {
        let ended = || Error::Unauthenticated("the session has ended; log in again".into());
        let known = self.tenant(tenant).await?.ok_or_else(ended)?;
        let (hash, now) = (secret.hash(), self.state.clock.now());
        let searched = SearchedSession { tenant: known.id, secret_hash: &hash, now };
        let found = find_console_session(&self.db.at(known.place), &searched).await?;
        let row = found.ok_or_else(ended)?;
        let (use_is_due, reason) = (now - row.used_at >= USE, row.reason.clone());
        let viewed = row.viewed_user.map(UserId).zip(row.viewed_name.clone());
        let bearer = self.bearer_of_session(known, row).await?.ok_or_else(ended)?;
        self.state.note_known(Name::Console(hash));
        Ok(ConsoleSession { bearer, use_is_due, reason, viewed })
    }

    /// Returns the caller of a session. Returns `None` if its issuer was removed.
    async fn bearer_of_session(&self, tenant: Arc<KnownTenant>, row: ConsoleRow) -> Result<Option<Bearer>> {
        let scopes: Scopes = row.scopes.iter().filter_map(|scope| scope.parse().ok()).collect();
        let (external_id, expires_at) = (Some(row.external_id.into()), Some(row.ends_at));
        if let (Some(prefix), Some(id)) = (row.prefix, row.key_id) {
            let (key, caller) = (Some(KeyId(id)), Caller::Key(prefix.into()));
            return Ok(Some(Bearer { tenant, external_id, key, issuer: None, scopes, caller, expires_at }));
        }
        let found = self.tenant_and_issuer(&tenant.slug, row.iss.as_deref().unwrap_or_default()).await?;
        let Some(Found { tenant, issuer: Some(issuer) }) = found else { return Ok(None) };
        let (caller, issuer) = (Caller::Token, Some(issuer));
        Ok(Some(Bearer { tenant, external_id, key: None, issuer, scopes, caller, expires_at }))
    }
}

impl Principal {
    /// Returns the names of the caller's scopes.
    pub(crate) fn scope_names(&self) -> Vec<&'static str> {
        Scope::ALL.into_iter().filter(|scope| self.scopes.contains(*scope)).map(Scope::as_str).collect()
    }
}
