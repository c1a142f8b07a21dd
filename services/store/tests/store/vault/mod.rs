//! Isolation of users and tenants, roles, connections, and declared statements.

mod callers;
mod catalogue;
pub mod concurrency;
mod cost_vault;
pub mod declared;
mod grants;
pub mod isolation;
mod law;
mod login;
mod masters;
pub mod matrix;
mod matrix_attempts;
mod matrix_expected;
mod mutation;
mod open_functions;
mod plans;
mod poisoning;
mod reach;
pub mod statements;
