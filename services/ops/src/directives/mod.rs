//! Directives: how the prompts of this service say to do their work well. A tenant can put its own in place of the built-in
//! ones; the [`Frame`] around each, and the checks of what a model answers, are nobody's to replace.

mod admin;
mod builtin;
mod frame;

pub use admin::{
    DirectiveDetail, Directives, PutDirective, PutDirectiveAnswer, delete_directive, get_directive,
    list_directive_versions, list_directives, put_directive,
};
pub use builtin::builtin_text;
pub use frame::Frame;

use knowhow_domain::{Directive, DirectiveName, Result};
use knowhow_store::directives;

use crate::Ctx;

/// Finds the directive that a prompt of this caller's tenant has: its own, or else the built-in one. One small statement, for
/// jobs, which run as a user.
///
/// # Errors
/// `Unavailable`; `Malformed` where the caller names no user.
pub async fn find(ctx: &Ctx, name: DirectiveName) -> Result<Directive> {
    let own = directives::find_in_force(&ctx.app.db, &ctx.principal, name).await?;
    Ok(own.unwrap_or_else(|| builtin(name)))
}

/// The directive that comes with the service.
pub fn builtin(name: DirectiveName) -> Directive {
    Directive::builtin(name, builtin_text(name))
}
