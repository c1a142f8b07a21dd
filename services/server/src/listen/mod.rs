//! The HTTP server. It serves REST and MCP on one port, and the OpenAPI document and its interactive page.

mod certificate;
mod front;
mod openapi;
mod page;
mod probes;
mod serve;
mod static_response;
mod thread_apps;

pub use openapi::document;
use openapi::{router, served_document};
pub use probes::Probes;
pub use serve::{Listening, listen};
