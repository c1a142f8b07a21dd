//! The process that listens: the endpoints of REST and MCP behind one port, the document of the API, and its page.

mod certificate;
mod front;
mod kept;
mod openapi;
mod page;
mod probes;
mod serve;

pub use openapi::document;
use openapi::{router, served_document};
pub use probes::Probes;
pub use serve::{Listening, listen};
