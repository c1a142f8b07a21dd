//! Tool calls that the MCP library sends to the task of the HTTP request.

use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::{mpsc, oneshot};

use super::caller::Caller;
use super::tools::AnyTool;

/// The channel to the task of the HTTP request, which runs the tool calls.
#[derive(Clone)]
pub struct ToolCallSender(pub mpsc::Sender<QueuedToolCall>);

/// A tool call in the channel. The MCP library may move its tasks between threads, but operations must stay on the
/// thread that owns their database connections.
pub struct QueuedToolCall {
    pub(super) tool: AnyTool,
    pub(super) arguments: Option<JsonObject>,
    pub(super) reply: oneshot::Sender<CallToolResult>,
}

impl QueuedToolCall {
    /// Runs the call and sends its result. The call is cancelled when the request ends.
    pub async fn carry_out(self, caller: &Caller) {
        // Sending fails if the library no longer waits for the result, which is harmless.
        let _ = self.reply.send(self.tool.call(caller, self.arguments).await);
    }
}
