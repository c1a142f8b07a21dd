//! What a tenant's admins do with directives.

use knowhow_domain::directive::check_directive;
use knowhow_domain::{Directive, DirectiveName, DirectiveVersion, Error, Result};
use knowhow_store::directives::{self, NewDirective};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{builtin, builtin_text};
use crate::Ctx;
use crate::admin::{begin, note_look};
use crate::page::{Page, PageQuery, rows_for};

/// The directives of a tenant.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Directives {
    /// Those that prompts have now, one of each name.
    pub items: Vec<DirectiveVersion>,
}

/// A directive, with the text that comes with the service.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DirectiveDetail {
    /// The one in force, or the version that was asked for.
    #[serde(flatten)]
    pub directive: Directive,
    /// The text that prompts have without one of the tenant's own.
    pub builtin_text: String,
}

/// A directive to put.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutDirective {
    /// The whole text: how the work is to be done. What is data, the form of the answer and the checks of it stay as they are.
    #[schema(min_length = 1, max_length = 16000)]
    pub text: String,
    /// The version that is in force, where it matters; 0 for the built-in text.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// What a put has done.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PutDirectiveAnswer {
    /// The directive now.
    #[serde(flatten)]
    pub directive: Directive,
    /// Whether it was like this already, so that no version was made.
    pub unchanged: bool,
}

/// Lists the directives that prompts have now.
///
/// # Errors
/// `Forbidden`.
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

/// Reads a directive; with a number, that version of the tenant's, or the built-in one, which is version 0.
///
/// # Errors
/// `Forbidden`; `NotFound` for a name that is none, and for a version that is not kept.
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

/// Lists the tenant's own versions of a directive, the newest first; also those of one that was removed.
///
/// # Errors
/// `Forbidden`; `NotFound` for a name that is none.
pub async fn list_directive_versions(ctx: &Ctx, name: &str, page: &PageQuery) -> Result<Page<DirectiveVersion>> {
    let (limit, before) = (page.limit()?, page.after::<i32>()?);
    let mut tx = begin(ctx).await?;
    let name = DirectiveName::find(name)?;
    let rows = directives::list_versions(&mut tx, name, before, rows_for(limit)).await?;
    note_look(ctx, &mut tx, "directives").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.version)
}

/// Puts a text of the tenant's in place of a directive. Prompts have it from the next question on.
///
/// # Errors
/// `Forbidden`; `NotFound` for a name that is none; `Invalid` for the text; `VersionConflict`.
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

/// Goes back to the built-in directive. The tenant's versions stay readable.
///
/// # Errors
/// `Forbidden`; `NotFound` for a name that is none.
pub async fn delete_directive(ctx: &Ctx, name: &str) -> Result<()> {
    ctx.principal.require_admin()?;
    let name = DirectiveName::find(name)?;
    let mut tx = begin(ctx).await?;
    directives::delete(&mut tx, name, ctx.now()).await?;
    tx.commit().await
}
