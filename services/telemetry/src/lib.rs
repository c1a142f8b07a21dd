//! What the service measures of itself. All floors record here; the server decides whether anything comes of it, and where
//! it goes. Where metrics and traces are off, a call costs one look at a variable.
//!
//! Nothing here takes a tenant, a user, a name or a text: labels are enums, constants of the program and templates of paths.

pub mod metrics;
pub mod trace;
