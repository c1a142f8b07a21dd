//! Tenants, kept by operators.

use knowhow_domain::{Error, FieldError, Result, Tenant, TenantSettings};
use knowhow_store::Window;
use knowhow_store::tenants::{self, NewTenant, TenantChange, TenantFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::page::{Page, PageQuery, window};

/// A tenant to make.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"slug": "acme", "name": "Acme Inc."}))]
pub struct CreateTenant {
    /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 64 characters.
    #[schema(max_length = 64, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    pub slug: String,
    /// For people; by default the slug.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Quotas and switches.
    pub settings: Option<TenantSettings>,
}

/// What to change of a tenant; absent members stay.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"settings": {"skills_per_user": 500}}))]
pub struct UpdateTenant {
    /// Its slug: of the path, not of the body.
    #[serde(skip)]
    pub slug: String,
    /// Its name, as people are shown it.
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// All settings; members left out get their defaults.
    pub settings: Option<TenantSettings>,
}

/// Makes a tenant.
///
/// # Errors
/// `Forbidden` for anyone but an operator; `Invalid`; `Conflict` `tenant-exists`.
pub async fn create_tenant(ctx: &Ctx, input: &CreateTenant) -> Result<Tenant> {
    ctx.principal.require_operator()?;
    let name = input.name.as_deref().unwrap_or(&input.slug);
    let settings = input.settings.clone().unwrap_or_default();
    let mut findings = check(Some(name), Some(&settings));
    if !is_slug(&input.slug) {
        findings.push(FieldError::new("/slug", "lower-case letters and digits, joined by single '-', at most 64"));
    }
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    let new = NewTenant { slug: &input.slug, name, settings: &settings };
    tenants::create(&ctx.app.db, &ctx.principal, &new, ctx.now()).await
}

/// Changes a tenant.
///
/// # Errors
/// `Forbidden` for anyone but an operator; `NotFound`; `Invalid`.
pub async fn update_tenant(ctx: &Ctx, input: &UpdateTenant) -> Result<Tenant> {
    ctx.principal.require_operator()?;
    let findings = check(input.name.as_deref(), input.settings.as_ref());
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    if !is_slug(&input.slug) {
        return Err(Error::not_found("tenant"));
    }
    let change = TenantChange { slug: &input.slug, name: input.name.as_deref(), settings: input.settings.as_ref() };
    tenants::update(&ctx.app.db, &ctx.principal, &change, ctx.now()).await
}

/// Lists tenants.
///
/// # Errors
/// `Forbidden` for anyone but an operator.
pub async fn list_tenants(ctx: &Ctx, page: &PageQuery) -> Result<Page<Tenant>> {
    ctx.principal.require_operator()?;
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let filter = TenantFilter { only: None, page: window(after.as_deref().unwrap_or_default(), limit) };
    let rows = tenants::list(&ctx.app.db, &ctx.principal, &filter, ctx.now()).await?;
    Page::of(rows, limit, |last| last.slug.clone())
}

/// Reads one tenant.
///
/// # Errors
/// `Forbidden` for anyone but an operator; `NotFound`.
pub async fn get_tenant(ctx: &Ctx, slug: &str) -> Result<Tenant> {
    ctx.principal.require_operator()?;
    if !is_slug(slug) {
        return Err(Error::not_found("tenant"));
    }
    let filter = TenantFilter { only: Some(slug), page: Window { behind: "", limit: 1 } };
    let rows = tenants::list(&ctx.app.db, &ctx.principal, &filter, ctx.now()).await?;
    rows.into_iter().next().ok_or_else(|| Error::not_found("tenant"))
}

fn check(name: Option<&str>, settings: Option<&TenantSettings>) -> Vec<FieldError> {
    let mut findings = Vec::new();
    if let Some(name) = name
        && (name.trim().is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control))
    {
        findings.push(FieldError::new("/name", "1 to 200 characters, no control characters"));
    }
    if let Some(settings) = settings {
        findings.extend(settings.validate());
    }
    findings
}

fn is_slug(slug: &str) -> bool {
    slug.len() <= 64
        && slug
            .split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}
