//! Tenants, their users, credentials, settings and audit entries.

pub mod audit;
pub mod erasure;
pub mod issuer;
pub mod key;
pub mod scope;
pub mod settings;
pub mod tenant;
pub mod usage;
pub mod user;
pub mod webhook;
