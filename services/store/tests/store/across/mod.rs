//! Statements over all tenants.

mod months;
mod processes;
mod settings;
