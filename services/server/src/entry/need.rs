//! Scopes and roles that a credential must have before an operation reads its request. The OpenAPI document names it in `security`.

use knowhow_domain::{Error, Result, Scope};
use knowhow_store::Bearer;

/// Role of those who run the deployment.
const OPERATOR: &str = "operator";
/// Role of those who decide on what waits: admins, and users if their tenant lets them.
const REVIEWER: &str = "reviewer";

/// Scopes of a user. A credential without any of them can do nothing for a user.
const OF_USERS: [Scope; 4] = [Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories];

/// Scopes and roles that one operation needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Need {
    scopes: Vec<Scope>,
    is_for_operators: bool,
    is_for_reviewers: bool,
}

impl Need {
    /// Reads the names in a security requirement of the document; `None` if there is none or one is unknown.
    pub fn read(names: &[String]) -> Option<Self> {
        let mut need = Self::default();
        for name in names {
            match name.as_str() {
                OPERATOR => need.is_for_operators = true,
                REVIEWER => need.is_for_reviewers = true,
                scope => need.scopes.push(scope.parse().ok()?),
            }
        }
        (!need.scopes.is_empty()).then_some(need)
    }

    /// Whether the operation works on a tenant and not on one user.
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin)
    }

    /// Refuses a credential that lacks a scope or a role.
    ///
    /// # Errors
    /// `Forbidden`, with the scope or role.
    pub fn check(&self, bearer: &Bearer) -> Result<()> {
        self.scopes.iter().try_for_each(|scope| bearer.require(*scope))?;
        if self.is_for_operators && !bearer.is_operator() {
            return Err(Error::Forbidden(OPERATOR));
        }
        if self.is_for_reviewers && !bearer.settings().users_review {
            bearer.require(Scope::Admin)?;
        }
        let serves_user = || OF_USERS.into_iter().any(|scope| bearer.require(scope).is_ok());
        if self.is_admin() || serves_user() {
            return Ok(());
        }
        bearer.require(Scope::SkillsRead)
    }
}
