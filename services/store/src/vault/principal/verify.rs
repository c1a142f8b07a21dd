//! Verifies credentials: API keys, tokens from tenants' issuers, and operators' tokens.

use std::sync::Arc;

use knowhow_domain::{Error, IssuerId, Result, Scope, TenantId};
use uuid::Uuid;

use super::Gate;
use super::bearer::{Bearer, Caller, by_claims};
use crate::across::rejected_logins::RefusedLogin;
use crate::across::system::{self, KeyUse, Rehashed};
use crate::vault::credential::{
    Issuer, IssuerKeys, OperatorIssuer, TokenError, TokenId, api_key, peek, verify, verify_at,
};
use crate::vault::known_callers::{Found, KnownKey, KnownTenant};
use crate::vault::place::{HOME, PlaceId};
use crate::vault::request_context;

impl Gate {
    /// Verifies an API key or token. A tenant's token may have `resource`, the URI of the called interface, as
    /// audience instead of the issuer's audience.
    ///
    /// # Errors
    /// `Unauthenticated` if verification fails, also if the issuer's keys are unreachable: the error does not reveal
    /// which tenants exist. `Unavailable` if the database is unreachable. `Forbidden` if `on_behalf_of` names a user
    /// other than the token's own.
    pub async fn verify(&self, resource: Option<&str>, bearer: &str, on_behalf_of: Option<&str>) -> Result<Bearer> {
        let entering = match api_key::parse(bearer) {
            Some((prefix, secret)) => self.by_key(prefix, secret, on_behalf_of).await,
            None => self.by_token(bearer, resource).await.and_then(|bearer| match on_behalf_of {
                // A token is only valid for its own user.
                Some(other) if bearer.external_id() != Some(other) => Err(Bearer::other_user()),
                _ => Ok(bearer),
            }),
        };
        if let Err(Error::Unauthenticated(_)) = &entering {
            let (place, tenant) = self.tenant_tried(bearer).await;
            let login = RefusedLogin { place, tenant, address: request_context::address() };
            self.state.refused.note(&self.db, &self.state.clock, login);
        }
        entering
    }

    /// Returns the tenant that a rejected credential names, for that tenant's audit log. Returns the nil tenant if
    /// there is no such tenant.
    async fn tenant_tried(&self, bearer: &str) -> (PlaceId, TenantId) {
        let tried = match api_key::parse(bearer) {
            Some((prefix, _)) => {
                let keys = self.state.keys(&self.db, prefix).await.ok();
                keys.and_then(|keys| keys.first().map(|key| key.tenant.clone()))
            }
            None => match peek(bearer) {
                Ok(peeked) => {
                    let found = self.tenant_and_issuer(&peeked.tid, &peeked.iss).await.ok().flatten();
                    found.map(|found| found.tenant)
                }
                Err(_) => None,
            },
        };
        tried.map_or((HOME, TenantId(Uuid::nil())), |tenant| (tenant.place, tenant.id))
    }

    async fn by_key(&self, prefix: &str, secret: &str, on_behalf_of: Option<&str>) -> Result<Bearer> {
        let known = self.state.keys(&self.db, prefix).await?;
        let now = self.state.clock.now();
        let key = known
            .iter()
            .find(|k| self.state.sealer.verify_api_key(secret, &k.secret_hash).is_some() && k.is_live(now))
            .ok_or_else(|| Error::Unauthenticated("the API key is unknown, expired or revoked".into()))?;
        self.note_use(key, secret);
        Ok(Bearer {
            tenant: key.tenant.clone(),
            external_id: on_behalf_of.map(Arc::from),
            key: Some(key.id),
            issuer: None,
            scopes: key.scopes,
            caller: Caller::Key(prefix.into()),
            expires_at: key.expires_at,
        })
    }

    /// Records the last use of a key in the background, at most once a minute. A failure does not reject the request.
    /// If the hash was made with the previous master key, this also replaces the hash.
    fn note_use(&self, key: &KnownKey, secret: &str) {
        if !self.state.use_is_due(key.id) {
            return;
        }
        let sealer = &self.state.sealer;
        let is_noted = key.hashed_under.as_deref() == Some(sealer.mark());
        let rehashed = || Rehashed { hash: sealer.hash_api_key(secret).to_vec(), mark: sealer.mark().to_vec() };
        let rehashed = (!is_noted).then(rehashed);
        let used = KeyUse { tenant: key.tenant.id, key: key.id, now: self.state.clock.now(), rehashed };
        let db = self.db.at(key.tenant.place);
        tokio::spawn(async move {
            if let Err(error) = system::note_key_use(&db, &used).await {
                tracing::warn!(%error, "the last use of an API key was not recorded");
            }
        });
    }

    async fn by_token(&self, token: &str, resource: Option<&str>) -> Result<Bearer> {
        let id = TokenId::of(token, resource);
        if let Some(id) = id
            && let Some(bearer) = self.by_cached_token(id).await?
        {
            return Ok(bearer);
        }
        let peeked = peek(token)?;
        if let Some(operator) = self.state.operator.as_ref().filter(|o| o.iss == peeked.iss) {
            return self.by_operator_token(token, operator).await;
        }
        // This is also the error of a wrong signature, so that a caller without a token cannot probe for tenant
        // names.
        let unknown = || Error::from(TokenError::Signature);
        let found = self.tenant_and_issuer(&peeked.tid, &peeked.iss).await?;
        let (tenant, issuer) = found.and_then(|found| Some((found.tenant, found.issuer?))).ok_or_else(unknown)?;
        let verified =
            verify_at(resource, token, &issuer, &self.state.jwks).await.map_err(|refusal| match refusal {
                // Errors before the signature is verified would reveal that tenant and issuer exist. An unreachable
                // key URL would reveal it too; it is logged for operators.
                TokenError::Algorithm
                | TokenError::UnknownKey
                | TokenError::WeakSecret
                | TokenError::Malformed
                | TokenError::Unavailable => unknown(),
                after => after.into(),
            })?;
        let bearer = by_claims(tenant, issuer.clone(), &verified.claims);
        if let Some(id) = id {
            self.state.tokens.keep(id, verified, &issuer);
        }
        Ok(bearer)
    }

    /// Returns the bearer of a token that was verified before and is still valid; `None` if the token must be
    /// verified.
    async fn by_cached_token(&self, id: TokenId) -> Result<Option<Bearer>> {
        let Some(cached) = self.state.tokens.get(id) else { return Ok(None) };
        let found = self.tenant_and_issuer(&cached.claims().tid, &cached.claims().iss).await?;
        let Some(Found { tenant, issuer: Some(issuer) }) = found else { return Ok(None) };
        if !cached.is_good_for(&issuer, &self.state.jwks).await {
            return Ok(None);
        }
        Ok(Some(by_claims(tenant, issuer, cached.claims())))
    }

    async fn by_operator_token(&self, token: &str, operator: &OperatorIssuer) -> Result<Bearer> {
        let issuer = Issuer {
            id: IssuerId::FIRST,
            iss: operator.iss.clone(),
            audience: self.state.audience.clone(),
            keys: IssuerKeys::Hs256 { secret: operator.secret.clone() },
        };
        let claims = verify(token, &issuer, &self.state.jwks).await?;
        if !claims.roles.iter().any(|r| r == "operator") {
            return Err(Error::Unauthenticated("the operator's token lacks the role 'operator'".into()));
        }
        let (tenant, scopes) = if claims.tid == Self::NO_TENANT {
            (Arc::new(KnownTenant::nowhere()), vec![Scope::Admin])
        } else {
            let unknown = || Error::Unauthenticated("the token's tenant is unknown".into());
            let tenant = self.tenant(&claims.tid).await?.ok_or_else(unknown)?;
            // Decisions on submissions need these scopes. Other operations with them need a user.
            (tenant, vec![Scope::Admin, Scope::Review, Scope::SkillsRead, Scope::SkillsWrite])
        };
        Ok(Bearer {
            tenant,
            external_id: None,
            key: None,
            issuer: None,
            scopes: scopes.into_iter().collect(),
            caller: Caller::Operator(claims.sub.as_str().into()),
            expires_at: claims.expires_at(),
        })
    }
}
