//! The tenant's policy about reviews.

use knowhow_domain::tenants::settings::ReviewPolicy;
use knowhow_domain::{Check, CheckStep, Scope};

use crate::Ctx;

/// Returns whether tainted text must be reviewed before it is stored as a skill.
pub(crate) fn is_reviewed(ctx: &Ctx) -> bool {
    ctx.principal.settings().review != ReviewPolicy::Off
}

/// Checks whether the tenant reviews every change.
pub(crate) fn policy_check(ctx: &Ctx) -> Check {
    match ctx.principal.settings().review {
        ReviewPolicy::All => {
            Check::held(CheckStep::Policy, "this tenant reviews every change of a skill; a person has to decide")
        }
        ReviewPolicy::Off | ReviewPolicy::Tainted => Check::passed(CheckStep::Policy),
    }
}

/// Returns whether the tenant's policy lets the caller change a skill's settings without a review.
pub(crate) fn may_change_settings(ctx: &Ctx) -> bool {
    ctx.principal.settings().review != ReviewPolicy::All || is_reviewer(ctx)
}

/// Returns whether the caller may decide reviews: an admin, or a user if the tenant lets users review. A call in a
/// session or over MCP comes from an agent, which is never a reviewer.
fn is_reviewer(ctx: &Ctx) -> bool {
    let Ctx { principal, call, .. } = ctx;
    let decides = principal.require_admin().is_ok() || principal.settings().users_review;
    !call.by_agent && call.session.is_none() && decides && principal.require(Scope::Review).is_ok()
}
