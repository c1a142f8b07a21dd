//! API keys of a tenant's backends.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{ApiKey, Error, FieldError, KeyId, Result, Scope, Secret, new_id};
use knowhow_store::tenants::keys::{self, Hashed, Successor};
use knowhow_store::vault::credential::api_key;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{begin, note_look};
use crate::context::page::{Page, PageQuery, rows_for};
use crate::{App, Ctx};

/// A key to create.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "backend", "scopes": ["skills:read", "skills:write"]}))]
pub struct CreateKey {
    /// A name for people to recognise the key.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The scopes of the key.
    #[schema(min_items = 1)]
    pub scopes: Vec<Scope>,
    /// End of the key's validity; by default unlimited.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A new key with its secret, which is shown only this once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedKey {
    /// The stored data of the key.
    #[serde(flatten)]
    pub key: ApiKey,
    /// The whole key. It cannot be shown again.
    #[serde(serialize_with = "Secret::show")]
    #[schema(value_type = String, example = "kh_a1b2c3d4e5f6_...")]
    pub secret: Secret,
}

/// Creates a key.
pub async fn create_key(ctx: &Ctx, input: &CreateKey) -> Result<CreatedKey> {
    ctx.principal.require_admin()?;
    check(&ctx.app, input)?;
    let (prefix, text) = api_key::generate()?;
    let (_, secret) = api_key::parse(&text).ok_or_else(|| Error::internal("a generated key does not parse"))?;
    let hash = ctx.app.gate.state().sealer().hash_api_key(secret);
    let mut scopes = input.scopes.clone();
    scopes.sort_by_key(|scope| scope.as_str());
    scopes.dedup();
    let key = ApiKey {
        id: KeyId(new_id()),
        tenant: ctx.principal.tenant_slug().to_owned(),
        prefix,
        name: input.name.clone(),
        scopes,
        created_at: ctx.now(),
        expires_at: input.expires_at,
        revoked_at: None,
        last_used_at: None,
    };
    let mut tx = begin(ctx).await?;
    let mark = ctx.app.gate.state().sealer().mark();
    keys::create(&mut tx, &key, Hashed { hash: &hash, mark }).await?;
    tx.commit().await?;
    Ok(CreatedKey { key, secret: text.into() })
}

/// Options for a rotation.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({}))]
pub struct RotateKey {
    /// Hours during which both keys are valid; 0 ends the old key immediately.
    #[schema(minimum = 0, maximum = 720, default = 24)]
    pub overlap_hours: u32,
}

/// Maximum number of hours during which both keys are valid.
const LONGEST_OVERLAP: u32 = 720;

impl Default for RotateKey {
    fn default() -> Self {
        Self { overlap_hours: 24 }
    }
}

/// Creates a key that replaces the key `old`, with the same name, scopes and expiry. The old key stays valid for
/// `overlap_hours`.
///
/// # Errors
/// `Forbidden`, `Invalid`, `NotFound`; `Conflict` `key-ended` for a key that is no longer valid; `Quota`.
pub async fn rotate_key(ctx: &Ctx, old: KeyId, input: &RotateKey) -> Result<CreatedKey> {
    ctx.principal.require_admin()?;
    if input.overlap_hours > LONGEST_OVERLAP {
        return Err(Error::invalid("/overlap_hours", format!("at most {LONGEST_OVERLAP}")));
    }
    let (prefix, text) = api_key::generate()?;
    let (_, secret) = api_key::parse(&text).ok_or_else(|| Error::internal("a generated key does not parse"))?;
    let sealer = ctx.app.gate.state().sealer();
    let (hash, now) = (sealer.hash_api_key(secret), ctx.now());
    let successor = Successor {
        id: KeyId(new_id()),
        prefix: &prefix,
        secret: Hashed { hash: &hash, mark: sealer.mark() },
        old_ends_at: now + TimeDelta::hours(input.overlap_hours.into()),
        now,
    };
    let mut tx = begin(ctx).await?;
    let key = keys::rotate(&mut tx, old, successor).await?;
    tx.commit().await?;
    Ok(CreatedKey { key, secret: text.into() })
}

/// Lists keys, newest first.
pub async fn list_keys(ctx: &Ctx, page: &PageQuery) -> Result<Page<ApiKey>> {
    let (limit, before) = (page.limit()?, page.after::<KeyId>()?);
    let mut tx = begin(ctx).await?;
    let rows = keys::list(&mut tx, before, rows_for(limit)).await?;
    note_look(ctx, &mut tx, "keys").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}

/// Revokes a key; it is rejected within a second.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Denied` for the calling key.
pub async fn revoke_key(ctx: &Ctx, id: KeyId) -> Result<()> {
    ctx.principal.require_admin()?;
    if ctx.principal.key() == Some(id) {
        let reason = "this is the calling key; revoke it with another credential, or rotate it with overlap_hours 0";
        return Err(Error::Denied(reason));
    }
    let mut tx = begin(ctx).await?;
    keys::revoke(&mut tx, id, ctx.now()).await?;
    tx.commit().await
}

fn check(app: &App, input: &CreateKey) -> Result<()> {
    let mut findings = Vec::new();
    let length = input.name.chars().count();
    if input.name.trim().is_empty() || length > 200 || input.name.chars().any(char::is_control) {
        findings.push(FieldError::new("/name", "1 to 200 characters, no control characters"));
    }
    if input.scopes.is_empty() {
        findings.push(FieldError::new(
            "/scopes",
            "at least one of skills:read, skills:write, sessions, memories, review, admin",
        ));
    }
    if input.expires_at.is_some_and(|at| at <= app.now()) {
        findings.push(FieldError::new("/expires_at", "must be in the future"));
    }
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}
