//! Tenants, managed by operators.

use knowhow_domain::kernel::object::{as_object, as_object_or_null};
use knowhow_domain::tenants::settings::{described, difference, require_longer_retention};
use knowhow_domain::{Error, FieldError, IfMatch, Result, SettingsPatch, StoredSettings, Tenant, TenantDetail};
use knowhow_store::across::tenants::{self, NewTenant, StoredTenant, TenantFilter, TenantState, UpdateAt};
use knowhow_store::tenants::{recent_usage, stored_rows};
use knowhow_store::{HOME_NAME, Window};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::Ctx;
use crate::context::page::{Page, PageQuery, window};

/// A tenant to create.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"slug": "acme", "name": "Acme Inc."}))]
pub struct CreateTenant {
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 64 characters.
    #[schema(max_length = 64, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    pub slug: String,
    /// Display name; by default the slug.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Quotas and options that differ from the defaults.
    #[serde(default, deserialize_with = "as_object_or_null")]
    pub settings: Option<SettingsPatch>,
    /// The database of the tenant's data, one of `KNOWHOW_PLACES`; by default `home`.
    #[schema(max_length = 63, example = "home")]
    pub place: Option<String>,
}

/// Changes to a tenant; absent members stay unchanged.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct UpdateTenant {
    /// The tenant's slug; taken from the path, not from the body.
    #[serde(skip)]
    pub slug: String,
    /// The accepted current states; taken from the header `If-Match`, not from the body.
    #[serde(skip)]
    pub if_match: IfMatch,
    /// A confirmed deletion of data; taken from the query, not from the body.
    #[serde(skip)]
    pub confirm: Option<Confirm>,
    /// Display name.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Settings to change.
    #[serde(default, deserialize_with = "as_object")]
    pub settings: SettingsPatch,
}

/// A deletion of data confirmed by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirm {
    /// The new settings store less data, or for a shorter time.
    ShortenRetention,
}

/// Creates a tenant.
///
/// # Errors
/// `Forbidden` if the caller is not an operator; `Invalid`; `Conflict` `tenant-exists`.
pub async fn create_tenant(ctx: &Ctx, input: &CreateTenant) -> Result<Tenant> {
    ctx.principal.require_operator()?;
    let name = input.name.as_deref().unwrap_or(&input.slug);
    let patch = input.settings.clone().unwrap_or_default();
    let mut findings = check(ctx, Some(name), &patch).await?;
    findings.extend(patch.check(&Value::Null));
    if !is_slug(&input.slug) {
        findings.push(FieldError::new("/slug", "lower-case letters and digits, joined by single '-', at most 64"));
    }
    let place = input.place.as_deref().unwrap_or(HOME_NAME);
    if ctx.app.db.named(place).is_err() {
        findings.push(FieldError::new("/place", "must be one of the places of KNOWHOW_PLACES, or home"));
    }
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    let settings = patch.apply(&json!({}))?;
    let new = NewTenant { slug: &input.slug, name, settings: &settings, place };
    tenants::create(&ctx.app.db, &ctx.principal, &new, ctx.now()).await
}

/// Changes a tenant. Absent settings stay unchanged.
///
/// # Errors
/// `Forbidden` if the caller is not an operator; `NotFound`; `Invalid`; `Stale`; `Conflict` `confirm-needed` if
/// stored data would be deleted and the caller does not confirm it.
pub async fn update_tenant(ctx: &Ctx, input: &UpdateTenant) -> Result<Tenant> {
    ctx.principal.require_operator()?;
    let findings = check(ctx, input.name.as_deref(), &input.settings).await?;
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    if !is_slug(&input.slug) {
        return Err(Error::not_found("tenant"));
    }
    let there = ctx.in_tenant(&input.slug).await?;
    let at = UpdateAt { slug: &input.slug, now: ctx.now() };
    tenants::update(&there.app.db, &there.principal, at, |stored| change(input, stored)).await
}

/// Returns the tenant's state after a change, or `None` if the change has no effect.
fn change(input: &UpdateTenant, stored: &StoredTenant) -> Result<Option<TenantState>> {
    input.if_match.require(&stored.tenant)?;
    let settings = input.settings.apply(&stored.settings)?;
    if input.confirm != Some(Confirm::ShortenRetention) {
        require_longer_retention(&StoredSettings::read(&stored.settings), &StoredSettings::read(&settings))?;
    }
    let name = input.name.clone().unwrap_or_else(|| stored.tenant.name.clone());
    let old = described(&stored.tenant.name, &stored.settings);
    let (old, new) = difference(&old, &described(&name, &settings));
    let detail = json!({ "old": old, "new": new });
    let is_same = name == stored.tenant.name && settings == stored.settings;
    Ok((!is_same).then_some(TenantState { name, settings, detail }))
}

/// Lists tenants.
///
/// # Errors
/// `Forbidden` if the caller is not an operator.
pub async fn list_tenants(ctx: &Ctx, page: &PageQuery) -> Result<Page<Tenant>> {
    ctx.principal.require_operator()?;
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let page = window(after.as_deref().unwrap_or_default(), limit);
    let (most, filter) = (page.limit, TenantFilter { only: None, page });
    let mut rows = Vec::new();
    for at in ctx.app.db.each() {
        rows.extend(tenants::list(&at, &ctx.principal, &filter, ctx.now()).await?);
    }
    // Each database returned its first rows, so these rows include the first rows of all databases.
    rows.sort_by(|one, other| one.slug.cmp(&other.slug));
    rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Page::of(rows, limit, |last| last.slug.clone())
}

/// Reads one tenant, and the total amount of its users' data.
///
/// # Errors
/// `Forbidden` if the caller is not an operator; `NotFound`.
pub async fn get_tenant(ctx: &Ctx, slug: &str) -> Result<TenantDetail> {
    ctx.principal.require_operator()?;
    if !is_slug(slug) {
        return Err(Error::not_found("tenant"));
    }
    let there = ctx.in_tenant(slug).await?;
    let filter = TenantFilter { only: Some(slug), page: Window { behind: "", limit: 1 } };
    let rows = tenants::list(&there.app.db, &ctx.principal, &filter, ctx.now()).await?;
    let tenant = rows.into_iter().next().ok_or_else(|| Error::not_found("tenant"))?;
    let mut tx = super::begin(&there).await?;
    let (stored, used) = (stored_rows::count(&mut tx).await?, recent_usage::count_of_tenant(&mut tx, ctx.now()).await?);
    tx.commit().await?;
    Ok(TenantDetail { tenant, stored, used })
}

async fn check(ctx: &Ctx, name: Option<&str>, settings: &SettingsPatch) -> Result<Vec<FieldError>> {
    let mut findings = Vec::new();
    if let Some(name) = name
        && (name.trim().is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control))
    {
        findings.push(FieldError::new("/name", "1 to 200 characters, no control characters"));
    }
    if let Some(time_zone) = settings.time_zone()
        && !knows_time_zone(ctx, time_zone).await?
    {
        findings.push(FieldError::new("/settings/time_zone", "must be an IANA time zone, e.g. Europe/Berlin"));
    }
    Ok(findings)
}

/// Returns whether Postgres knows the time zone. Postgres uses it to compute the users' nights.
async fn knows_time_zone(ctx: &Ctx, name: &str) -> Result<bool> {
    // The default needs no query, and Postgres rejects NUL.
    match name {
        "UTC" => Ok(true),
        _ if name.contains('\0') => Ok(false),
        _ => tenants::knows_time_zone(&ctx.app.db, &ctx.principal, name).await,
    }
}

pub(super) fn is_slug(slug: &str) -> bool {
    slug.len() <= 64
        && slug
            .split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}
