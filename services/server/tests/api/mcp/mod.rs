//! The MCP face: tools, the skills extension, prompts, and whatever hostile clients send.

pub mod client;
mod schema;

mod browsers;
mod budgets;
mod credentials;
mod discovery;
mod docs;
mod endpoint;
mod entries;
mod failures;
mod faults;
mod folders;
mod frontmatter;
mod given;
mod hostile;
mod lines;
mod memories;
mod messages;
mod mutations;
mod opened;
mod prompts;
mod revisions;
mod scopes;
mod sessions;
pub mod strangers;
mod tools;
mod traces;
mod walls;
