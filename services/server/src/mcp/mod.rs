//! The MCP face: `/mcp`, streamable HTTP without sessions. Tools over the operations of REST, the skills extension
//! (SEP-2640), prompts.

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
mod tools;

pub use endpoint::{Endpoint, answer};
pub use site::{PATH, ResourceMetadata, Site};

/// What clients are told about tools and prompts, as committed in `openapi/mcp-tools.json`.
///
/// # Errors
/// Never in practice; all of it can be written.
pub fn document() -> serde_json::Result<String> {
    let document = serde_json::json!({ "tools": tools::definitions(), "prompts": prompts::all() });
    serde_json::to_string_pretty(&document)
}
