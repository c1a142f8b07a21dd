//! Issuers of a tenant's tokens, and tokens for development.

use chrono::TimeDelta;
use knowhow_domain::{Algorithm, Error, FieldError, Issuer, IssuerId, Result, Scope, Secret, new_id};
use knowhow_store::tenants::issuers::{self, SigningIssuer};
use knowhow_store::vault::credential::{self, NewToken};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{begin, note_look};
use crate::context::page::{Page, PageQuery, rows_for};
use crate::{App, Ctx};

/// An issuer to register, with a `secret` for HS256 and a `jwks_url` for other algorithms.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "iss": "https://login.acme.example",
    "algorithm": "RS256",
    "jwks_url": "https://login.acme.example/.well-known/jwks.json"
}))]
pub struct CreateIssuer {
    /// The `iss` of the issuer's tokens.
    #[schema(min_length = 1, max_length = 512)]
    pub iss: String,
    /// The `aud` of the issuer's tokens; by default the deployment's audience.
    #[schema(min_length = 1, max_length = 512)]
    pub audience: Option<String>,
    /// The only accepted signature algorithm of the issuer's tokens.
    pub algorithm: Algorithm,
    /// Shared secret, at least 32 bytes of text.
    #[schema(value_type = Option<String>, min_length = 32, max_length = 1024)]
    pub secret: Option<Secret>,
    /// HTTPS URL of the issuer's JWK Set, on a public host.
    #[schema(max_length = 2048)]
    pub jwks_url: Option<String>,
}

/// Registers an issuer.
pub async fn create_issuer(ctx: &Ctx, input: &CreateIssuer) -> Result<Issuer> {
    ctx.principal.require_admin()?;
    check(&ctx.app, input)?;
    let state = ctx.app.gate.state();
    let issuer = Issuer {
        id: IssuerId(new_id()),
        tenant: ctx.principal.tenant_slug().to_owned(),
        iss: input.iss.clone(),
        audience: input.audience.clone().unwrap_or_else(|| state.audience().to_owned()),
        algorithm: input.algorithm,
        // Stores the normalised URL that was checked, as it is the one that will be fetched.
        jwks_url: input.jwks_url.as_deref().and_then(|url| read_url(&ctx.app, url).ok()),
        created_at: ctx.now(),
    };
    let context = ctx.principal.tenant().0;
    let sealed = match &input.secret {
        Some(secret) => Some(state.sealer().seal(secret.as_bytes(), context.as_bytes()).map_err(Error::internal)?),
        None => None,
    };
    let mut tx = begin(ctx).await?;
    issuers::create(&mut tx, &issuer, sealed.as_deref(), ctx.principal.settings().issuers).await?;
    tx.commit().await?;
    state.forget_tenants();
    Ok(issuer)
}

/// Lists issuers.
pub async fn list_issuers(ctx: &Ctx, page: &PageQuery) -> Result<Page<Issuer>> {
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let mut tx = begin(ctx).await?;
    let rows = issuers::list(&mut tx, after.as_deref().unwrap_or_default(), rows_for(limit)).await?;
    note_look(ctx, &mut tx, "issuers").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.iss.clone())
}

/// Deletes an issuer. Its tokens are rejected within a second.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Denied` for the issuer of the calling token.
pub async fn delete_issuer(ctx: &Ctx, id: IssuerId) -> Result<()> {
    let mut tx = begin(ctx).await?;
    let iss = issuers::delete(&mut tx, id, ctx.now()).await?;
    if ctx.principal.issuer() == Some(iss.as_str()) {
        let reason = "the calling token is from this issuer; remove it with an API key or a token of another issuer";
        return Err(Error::Denied(reason));
    }
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    Ok(())
}

/// A token to mint.
#[derive(Debug, Clone)]
pub struct MintToken {
    /// The user, by external id.
    pub user: String,
    /// The scopes of the token.
    pub scopes: Vec<Scope>,
    /// The roles of the token: `user` or `tenant_admin`.
    pub roles: Vec<String>,
    /// Lifetime of the token.
    pub ttl: TimeDelta,
}

/// Mints a token as one of the tenant's HS256 issuers, for development.
///
/// # Errors
/// `NotFound` if the tenant has no HS256 issuer.
pub async fn mint_token(ctx: &Ctx, input: MintToken) -> Result<String> {
    ctx.principal.require_operator()?;
    knowhow_store::check_external_id(&input.user)?;
    let issuer = find_signing_issuer(ctx).await?.ok_or_else(|| Error::not_found("HS256 issuer"))?;
    let token = NewToken {
        iss: issuer.iss,
        aud: issuer.audience,
        sub: input.user,
        tid: ctx.principal.tenant_slug().to_owned(),
        scope: input.scopes.iter().map(|s| s.as_str().to_owned()).collect(),
        roles: input.roles,
        ttl: input.ttl,
        now: ctx.now(),
    };
    credential::mint_hs256(&issuer.secret, &token)
}

/// Finds an HS256 issuer of the tenant. The service has the issuer's secret, so it can sign tokens.
pub async fn find_signing_issuer(ctx: &Ctx) -> Result<Option<SigningIssuer>> {
    ctx.principal.require_operator()?;
    let mut tx = begin(ctx).await?;
    let issuer = issuers::find_signing(&mut tx, ctx.app.gate.state().sealer()).await?;
    tx.commit().await?;
    Ok(issuer)
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
        (Algorithm::HS256, Some(secret), None) => {
            if secret.len() < credential::MIN_SECRET || secret.len() > 1024 {
                findings.push(FieldError::new("/secret", "takes 32 to 1024 bytes"));
            }
        }
        (Algorithm::HS256, ..) => findings.push(FieldError::new("/secret", "HS256 takes a secret and no jwks_url")),
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
