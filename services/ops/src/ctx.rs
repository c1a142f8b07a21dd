//! What every verb works with: the process, who asks, and what came along with the call.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result};
use knowhow_store::Principal;

use crate::{App, Call};

/// One call: verbs are `fn(&Ctx, Input)`. Cheap to clone, for work that goes on beside the request.
#[derive(Clone)]
pub struct Ctx {
    /// Connections of this thread to where the principal's tenant lives, with models, limits and clock.
    pub app: App,
    pub principal: Principal,
    /// The session it comes from, and the key that makes it happen once.
    pub call: Call,
}

impl Ctx {
    /// A call that names no session and no idempotency key: of a job, of a command line, of the service itself.
    pub fn of(app: &App, principal: &Principal) -> Self {
        Self { app: app.at(principal.place()), principal: principal.clone(), call: Call::default() }
    }

    /// The same call of an operator who stands in the tenant of that slug.
    ///
    /// # Errors
    /// As [`Principal::in_tenant`].
    pub(crate) async fn in_tenant(&self, slug: &str) -> Result<Self> {
        let principal = self.principal.in_tenant(&self.app.gate, slug).await?;
        Ok(Self { call: self.call.clone(), ..Self::of(&self.app, &principal) })
    }

    /// The same call of an operator in no tenant, at that place.
    ///
    /// # Errors
    /// `Malformed` where there is no such place, and for whoever works in a tenant, which has a place of its own.
    pub fn at_place(self, name: &str) -> Result<Self> {
        if self.principal.require_tenant().is_ok() {
            return Err(Error::Malformed("leave out place: it is where the tenant lives".into()));
        }
        let place = self.app.db.named(name)?.here();
        Ok(Self { app: self.app.at(place), ..self })
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.app.now()
    }
}
