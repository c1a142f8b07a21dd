//! The HTTP server. It serves REST, MCP, the OpenAPI document and its interactive page on one port.

mod certificate;
mod console;
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
