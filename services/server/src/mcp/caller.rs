//! Who sent a request, and the tool calls that are passed on to the task of that request.

use std::sync::{Arc, OnceLock};

use knowhow_domain::{Error, Result};
use knowhow_ops::skills::RenderedEntries;
use knowhow_ops::{Ctx, Principal};
use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::{mpsc, oneshot};

use super::tools::AnyTool;

/// Who sent a request, as the endpoint found out before the library saw it.
#[derive(Clone)]
pub struct Caller {
    /// What the operations work with.
    pub ctx: Ctx,
    /// Why the session or the key that the request names is none: lists and definitions are shown all the same.
    pub unfit: Option<String>,
    /// The request's id in logs and problems.
    pub request_id: String,
    /// Where tool calls are carried out.
    pub desk: mpsc::Sender<Work>,
    /// The skills that are listed, rendered: the library's answer has an empty list in their place.
    pub entries: Arc<OnceLock<Arc<RenderedEntries>>>,
}

impl Caller {
    /// What the operations work with.
    ///
    /// # Errors
    /// `Malformed` where the session or the idempotency key that the request names is none.
    pub fn ctx(&self) -> Result<&Ctx> {
        match &self.unfit {
            None => Ok(&self.ctx),
            Some(reason) => Err(Error::Malformed(reason.clone())),
        }
    }

    /// The principal for whom the operations work.
    pub fn principal(&self) -> &Principal {
        &self.ctx.principal
    }
}

/// A tool call on its way to the task of its request. The MCP library requires that its tasks may move between threads.
/// The operations must not: they stay on the thread whose database connections they use. So calls are sent there.
pub struct Work {
    pub(super) tool: AnyTool,
    pub(super) arguments: Option<JsonObject>,
    pub(super) reply: oneshot::Sender<CallToolResult>,
}

impl Work {
    /// Carries the call out. The request's end, answered or broken off, ends it.
    pub async fn carry_out(self, caller: &Caller) {
        // Nobody waits where the library gave the call up.
        let _ = self.reply.send(self.tool.call(caller, self.arguments).await);
    }
}
