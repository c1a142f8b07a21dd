//! Metrics and traces of the service. All crates record events here, and the server exports them if it is configured
//! to. While metrics and traces are off, a call only reads a variable.
//!
//! Labels are enums, constants of the program or path templates. They never contain a tenant, a user, a name or a
//! text.

pub mod metrics;
pub mod trace;
