//! Scopes and roles that operations require. They are declared by `security` in the OpenAPI document.

use knowhow_domain::{Error, Result, Scope};
use knowhow_store::Bearer;

/// Role of callers who operate the deployment.
const OPERATOR: &str = "operator";
/// Role of reviewers, who decide on submissions: admins, and users if the tenant's settings allow it.
const REVIEWER: &str = "reviewer";

/// Scopes that users have. A credential with none of these scopes cannot act for a user.
const OF_USERS: [Scope; 4] = [Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories];

/// Scopes and roles that one operation requires.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    scopes: Vec<Scope>,
    is_for_operators: bool,
    is_for_reviewers: bool,
}

impl Requirements {
    /// Parses the names in a security requirement. Returns `None` if the list is empty or a name is unknown.
    pub fn read(names: &[String]) -> Option<Self> {
        let mut required = Self::default();
        for name in names {
            match name.as_str() {
                OPERATOR => required.is_for_operators = true,
                REVIEWER => required.is_for_reviewers = true,
                scope => required.scopes.push(scope.parse().ok()?),
            }
        }
        (!required.scopes.is_empty()).then_some(required)
    }

    /// Returns whether the operation requires the scope `admin`. If so, it concerns a tenant instead of one user.
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin)
    }

    /// Rejects a credential that lacks a required scope or role.
    ///
    /// # Errors
    /// `Forbidden`, with the missing scope or role.
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
