//! The context of every operation: process state, caller, and metadata of the call.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result};
use knowhow_store::Principal;

use crate::{App, CallMetadata};

/// The context of one call: operations are `fn(&Ctx, Input)`. Cheap to clone, for work that continues in the
/// background.
#[derive(Clone)]
pub struct Ctx {
    /// Process state, with connections to the database of the principal's tenant.
    pub app: App,
    pub principal: Principal,
    /// The session and idempotency key of the call.
    pub call: CallMetadata,
}

impl Ctx {
    /// Creates the context of a call without session and idempotency key: for jobs, command lines and the service
    /// itself.
    pub fn of(app: &App, principal: &Principal) -> Self {
        Self { app: app.at(principal.place()), principal: principal.clone(), call: CallMetadata::default() }
    }

    /// Returns the context for an operator acting in the tenant with this slug.
    pub(crate) async fn in_tenant(&self, slug: &str) -> Result<Self> {
        let principal = self.principal.in_tenant(&self.app.gate, slug).await?;
        Ok(Self { call: self.call.clone(), ..Self::of(&self.app, &principal) })
    }

    /// Returns the context for an operator without a tenant, with connections to the database `name`.
    ///
    /// # Errors
    /// `Malformed` if the database does not exist, or the operator acts in a tenant, which has its own database.
    pub fn at_place(self, name: &str) -> Result<Self> {
        if self.principal.require_tenant().is_ok() {
            return Err(Error::Malformed("remove ?place=: requests of a tenant always go to its own database".into()));
        }
        let place = self.app.db.named(name)?.here();
        Ok(Self { app: self.app.at(place), ..self })
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.app.now()
    }
}
