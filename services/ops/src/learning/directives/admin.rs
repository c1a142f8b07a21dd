//! Operations of a tenant's admins on directives.

use knowhow_domain::learning::directive::check_directive;
use knowhow_domain::{Directive, DirectiveName, DirectiveVersion, Error, Result};
use knowhow_store::learning::directives::{self, NewDirective};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{builtin, builtin_text};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, rows_for};
use crate::tenants::{begin, note_look};

/// The directives of a tenant.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Directives {
    /// The directives in force, one for each name.
    pub items: Vec<DirectiveVersion>,
}

/// A directive, and its built-in text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DirectiveDetail {
    /// The directive in force, or the requested version.
    #[serde(flatten)]
    pub directive: Directive,
    /// The text that is used if the tenant has not set its own.
    pub builtin_text: String,
}

/// A directive to set.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutDirective {
    /// The whole text: guidance on how to do the work well. The parts about data, the form of the answer and its
    /// checks are fixed.
    #[schema(min_length = 1, max_length = 16000)]
    pub text: String,
    /// The version that must be in force, or 0 for the built-in text. Omit it to replace any version.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// The result of a put.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PutDirectiveAnswer {
    /// The directive.
    #[serde(flatten)]
    pub directive: Directive,
    /// Whether the directive already had this text; no version was created then.
    pub unchanged: bool,
}

/// Lists the directives in force.
pub async fn list_directives(ctx: &Ctx) -> Result<Directives> {
    let mut tx = begin(ctx).await?;
    let own = directives::list_in_force(&mut tx).await?;
    note_look(ctx, &mut tx, "directives").await?;
    tx.commit().await?;
    let of_name = |name: &DirectiveName| {
        let own = own.iter().find(|own| own.name == *name).cloned();
        own.unwrap_or_else(|| builtin(*name).without_text())
    };
    Ok(Directives { items: DirectiveName::ALL.iter().map(of_name).collect() })
}

/// Reads the directive in force, or the given version. Version 0 is the built-in directive.
///
/// # Errors
/// `Forbidden`; `NotFound` for an unknown name, and for a version that does not exist.
pub async fn get_directive(ctx: &Ctx, name: &str, version: Option<i32>) -> Result<DirectiveDetail> {
    let mut tx = begin(ctx).await?;
    let name = DirectiveName::find(name)?;
    let own = directives::find(&mut tx, name, version).await?;
    note_look(ctx, &mut tx, "directives").await?;
    tx.commit().await?;
    let directive = match version {
        None | Some(0) => own.unwrap_or_else(|| builtin(name)),
        Some(_) => own.ok_or_else(|| Error::not_found("version"))?,
    };
    Ok(DirectiveDetail { directive, builtin_text: builtin_text(name).to_owned() })
}

/// Lists the tenant's own versions of a directive, newest first. Versions of a removed directive are listed too.
///
/// # Errors
/// `Forbidden`; `NotFound` for an unknown name.
pub async fn list_directive_versions(ctx: &Ctx, name: &str, page: &PageQuery) -> Result<Page<DirectiveVersion>> {
    let (limit, before) = (page.limit()?, page.after::<i32>()?);
    let mut tx = begin(ctx).await?;
    let name = DirectiveName::find(name)?;
    let rows = directives::list_versions(&mut tx, name, before, rows_for(limit)).await?;
    note_look(ctx, &mut tx, "directives").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.version)
}

/// Replaces a directive with the tenant's own text. The next prompt uses the new text.
///
/// # Errors
/// `Forbidden`; `NotFound` for an unknown name; `Invalid` for the text; `VersionConflict`.
pub async fn put_directive(ctx: &Ctx, name: &str, input: &PutDirective) -> Result<PutDirectiveAnswer> {
    ctx.principal.require_admin()?;
    let name = DirectiveName::find(name)?;
    check_directive(&input.text)?;
    let new = NewDirective { name, text: &input.text, expected_version: input.expected_version, now: ctx.now() };
    let mut tx = begin(ctx).await?;
    let (directive, unchanged) = directives::put(&mut tx, new).await?;
    tx.commit().await?;
    Ok(PutDirectiveAnswer { directive, unchanged })
}

/// Restores the built-in directive. The tenant's versions stay readable.
///
/// # Errors
/// `Forbidden`; `NotFound` for an unknown name.
pub async fn delete_directive(ctx: &Ctx, name: &str) -> Result<()> {
    ctx.principal.require_admin()?;
    let name = DirectiveName::find(name)?;
    let mut tx = begin(ctx).await?;
    directives::delete(&mut tx, name, ctx.now()).await?;
    tx.commit().await
}
