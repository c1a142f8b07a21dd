//! Directives: guidance in the prompts of this service. A tenant can replace the built-in directives, but neither the
//! [`Frame`] around them nor the checks of answers.

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
use knowhow_store::learning::directives;

use crate::Ctx;

/// Finds the directive for a prompt of the caller's tenant: the tenant's own, or the built-in directive. The caller
/// must act for a user, as jobs do.
///
/// # Errors
/// `Unavailable`; `Malformed` if the caller acts for no user.
pub async fn find(ctx: &Ctx, name: DirectiveName) -> Result<Directive> {
    let own = directives::find_in_force(&ctx.app.db, &ctx.principal, name).await?;
    Ok(own.unwrap_or_else(|| builtin(name)))
}

/// Returns the built-in directive.
pub fn builtin(name: DirectiveName) -> Directive {
    Directive::builtin(name, builtin_text(name))
}
