//! The caller of an MCP request.

use std::sync::{Arc, OnceLock};

use knowhow_domain::{Error, Result};
use knowhow_ops::skills::RenderedEntries;
use knowhow_ops::{Ctx, Principal};

/// The authenticated caller of an MCP request.
#[derive(Clone)]
pub struct Caller {
    /// Context for calling operations.
    pub ctx: Ctx,
    /// Error about an invalid session or idempotency key; `None` if both are valid. Lists and definitions are returned
    /// in spite of the error.
    pub unfit: Option<String>,
    /// Id of the request, for logs and problems.
    pub request_id: String,
    /// The rendered list of skills. The library's response has an empty list instead, which the endpoint replaces by
    /// this list.
    pub entries: Arc<OnceLock<Arc<RenderedEntries>>>,
}

impl Caller {
    /// Returns the context for calling operations.
    ///
    /// # Errors
    /// `Malformed` if the request names an invalid session or idempotency key.
    pub fn ctx(&self) -> Result<&Ctx> {
        match &self.unfit {
            None => Ok(&self.ctx),
            Some(reason) => Err(Error::Malformed(reason.clone())),
        }
    }

    /// Returns the authenticated principal.
    pub fn principal(&self) -> &Principal {
        &self.ctx.principal
    }
}
