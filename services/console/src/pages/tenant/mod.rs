//! Pages of a tenant's admin.

pub mod archive;
pub mod audit;
pub mod jobs;
pub mod keys;
pub mod user;
pub mod users;
pub mod webhook;
