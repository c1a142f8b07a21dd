//! Issuers of a tenant's tokens, and tokens for development.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Error, FieldError, Result, Scope, new_id};
use knowhow_store::Principal;
use knowhow_store::credential::{self, Algorithm, NewToken};
use knowhow_store::issuers::{self, IssuerRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{begin, note_look};
use crate::App;
use crate::page::{Page, PageQuery, rows_for};

/// The one algorithm that an issuer signs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum IssuerAlgorithm {
    /// A shared secret.
    HS256,
    /// RSA.
    RS256,
    /// ECDSA on P-256.
    ES256,
    /// Ed25519.
    EdDSA,
}

impl IssuerAlgorithm {
    /// Its registered `alg` name, as it is stored and as the API says it.
    fn as_str(self) -> &'static str {
        match self {
            Self::HS256 => "HS256",
            Self::RS256 => Algorithm::Rs256.as_str(),
            Self::ES256 => Algorithm::Es256.as_str(),
            Self::EdDSA => Algorithm::EdDsa.as_str(),
        }
    }
}

/// An issuer, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Issuer {
    /// The id.
    pub id: Uuid,
    /// Its tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// `iss` of its tokens.
    #[schema(example = "https://login.acme.example")]
    pub iss: String,
    /// `aud` of its tokens.
    #[schema(example = "knowhow")]
    pub audience: String,
    /// `HS256`, `RS256`, `ES256` or `EdDSA`.
    pub algorithm: String,
    /// Where its public keys are.
    pub jwks_url: Option<String>,
    /// When it was registered.
    pub created_at: DateTime<Utc>,
}

/// An issuer to register: `secret` with HS256, `jwks_url` with the others.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "iss": "https://login.acme.example",
    "algorithm": "RS256",
    "jwks_url": "https://login.acme.example/.well-known/jwks.json"
}))]
pub struct CreateIssuer {
    /// `iss` of its tokens.
    #[schema(min_length = 1, max_length = 512)]
    pub iss: String,
    /// `aud` of its tokens; by default the deployment's.
    #[schema(min_length = 1, max_length = 512)]
    pub audience: Option<String>,
    /// What its tokens are signed with, and nothing else.
    pub algorithm: IssuerAlgorithm,
    /// Shared secret, at least 32 bytes of text.
    #[schema(min_length = 32, max_length = 1024)]
    pub secret: Option<String>,
    /// HTTPS address of its JWK Set, in a public network.
    #[schema(max_length = 2048)]
    pub jwks_url: Option<String>,
}

/// Registers an issuer.
///
/// # Errors
/// `Forbidden`; `Invalid`; `Conflict` `issuer-exists`.
pub async fn create_issuer(app: &App, principal: &Principal, input: &CreateIssuer) -> Result<Issuer> {
    principal.require_admin()?;
    check(app, input)?;
    let state = app.gate.state();
    let row = IssuerRow {
        id: new_id(),
        iss: input.iss.clone(),
        audience: input.audience.clone().unwrap_or_else(|| state.audience().to_owned()),
        algorithm: input.algorithm.as_str().to_owned(),
        // As it was read and checked, which is what will be fetched.
        jwks_url: input.jwks_url.as_deref().and_then(|url| read_url(app, url).ok()),
        created_at: app.now(),
    };
    let context = principal.tenant().0;
    let sealed = match &input.secret {
        Some(secret) => Some(state.sealer().seal(secret.as_bytes(), context.as_bytes()).map_err(Error::internal)?),
        None => None,
    };
    let mut tx = begin(app, principal).await?;
    issuers::create(&mut tx, &row, sealed.as_deref()).await?;
    tx.commit().await?;
    state.forget_tenants();
    Ok(Issuer::of(principal, row))
}

/// Lists issuers.
///
/// # Errors
/// `Forbidden`.
pub async fn list_issuers(app: &App, principal: &Principal, page: &PageQuery) -> Result<Page<Issuer>> {
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let mut tx = begin(app, principal).await?;
    let rows = issuers::list(&mut tx, after.as_deref().unwrap_or_default(), rows_for(limit)).await?;
    note_look(app, principal, &mut tx, "issuers").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.iss.clone(), |row| Issuer::of(principal, row))
}

/// Removes an issuer; its tokens stop working within a second.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn delete_issuer(app: &App, principal: &Principal, id: Uuid) -> Result<()> {
    let mut tx = begin(app, principal).await?;
    issuers::delete(&mut tx, id, app.now()).await?;
    tx.commit().await?;
    app.gate.state().forget_tenants();
    Ok(())
}

/// Mints a token of one of the tenant's HS256 issuers, for development.
///
/// # Errors
/// `NotFound` where the tenant has no such issuer.
pub async fn mint_token(
    app: &App,
    principal: &Principal,
    user: &str,
    (scopes, roles): (&[Scope], &[String]),
    ttl: TimeDelta,
) -> Result<String> {
    principal.require_operator()?;
    knowhow_store::check_external_id(user)?;
    let issuer = app.gate.find_signing_issuer(principal).ok_or_else(|| Error::not_found("HS256 issuer"))?;
    let token = NewToken {
        iss: issuer.iss,
        aud: issuer.audience,
        sub: user.to_owned(),
        tid: principal.tenant_slug().to_owned(),
        scope: scopes.iter().map(|s| s.as_str().to_owned()).collect(),
        roles: roles.to_vec(),
        ttl,
        now: app.now(),
    };
    credential::mint_hs256(&issuer.secret, &token)
}

fn check(app: &App, input: &CreateIssuer) -> Result<()> {
    let mut findings = Vec::new();
    for (pointer, text) in [("/iss", Some(&input.iss)), ("/audience", input.audience.as_ref())] {
        if text.is_some_and(|t| t.is_empty() || t.chars().count() > 512 || t.chars().any(char::is_control)) {
            findings.push(FieldError::new(pointer, "1 to 512 characters, no control characters"));
        }
    }
    if app.gate.is_operator_issuer(&input.iss) {
        findings.push(FieldError::new("/iss", "is the deployment's own issuer"));
    }
    match (input.algorithm, &input.secret, &input.jwks_url) {
        (IssuerAlgorithm::HS256, Some(secret), None) => {
            if secret.len() < credential::MIN_SECRET || secret.len() > 1024 {
                findings.push(FieldError::new("/secret", "takes 32 to 1024 bytes"));
            }
        }
        (IssuerAlgorithm::HS256, ..) => {
            findings.push(FieldError::new("/secret", "HS256 takes a secret and no jwks_url"))
        }
        (_, None, Some(url)) => findings.extend(check_url(app, url)),
        _ => findings.push(FieldError::new("/jwks_url", "this algorithm takes a jwks_url and no secret")),
    }
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}

fn read_url(app: &App, text: &str) -> Result<String, String> {
    credential::read_url(text, app.gate.state().private_issuers()).map(String::from)
}

fn check_url(app: &App, text: &str) -> Option<FieldError> {
    read_url(app, text).err().map(|reason| FieldError::new("/jwks_url", reason))
}

impl Issuer {
    fn of(principal: &Principal, row: IssuerRow) -> Self {
        Self {
            id: row.id,
            tenant: principal.tenant_slug().to_owned(),
            iss: row.iss,
            audience: row.audience,
            algorithm: row.algorithm,
            jwks_url: row.jwks_url,
            created_at: row.created_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::IssuerAlgorithm::{ES256, EdDSA, HS256, RS256};

    #[test]
    fn an_algorithm_is_stored_as_the_api_says_it() {
        for algorithm in [HS256, RS256, ES256, EdDSA] {
            assert_eq!(json!(algorithm), algorithm.as_str());
        }
    }
}
