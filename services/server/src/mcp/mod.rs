//! The MCP API `/mcp`: streamable HTTP without sessions. It offers tools that call the same operations as REST, the
//! skills extension (SEP-2640), and prompts.

mod arguments;
mod caller;
mod endpoint;
mod handler;
mod message;
mod problem;
mod prompts;
mod resources;
mod schema;
mod site;
mod tool_call;
mod tools;

pub use endpoint::{Endpoint, answer};
pub use site::{PATH, ResourceMetadata, Site};

/// Renders the definitions of tools and prompts for the file `openapi/mcp-tools.json`.
///
/// # Errors
/// Never fails in practice, because all values can be serialized.
pub fn document() -> serde_json::Result<String> {
    let document = serde_json::json!({ "tools": tools::definitions(), "prompts": prompts::all() });
    serde_json::to_string_pretty(&document)
}
