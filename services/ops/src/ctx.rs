//! What every verb works with: the process, who asks, and what came along with the call.

use chrono::{DateTime, Utc};
use knowhow_store::Principal;

use crate::{App, Call};

/// One call: verbs are `fn(&Ctx, Input)`. Cheap to clone, for work that goes on beside the request.
#[derive(Clone)]
pub struct Ctx {
    /// Connections, models, limits and clock of this thread.
    pub app: App,
    pub principal: Principal,
    /// The session it comes from, and the key that makes it happen once.
    pub call: Call,
}

impl Ctx {
    /// A call that names no session and no idempotency key: of a job, of a command line, of the service itself.
    pub fn of(app: &App, principal: &Principal) -> Self {
        Self { app: app.clone(), principal: principal.clone(), call: Call::default() }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.app.now()
    }
}
