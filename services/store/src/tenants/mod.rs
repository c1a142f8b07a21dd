//! Rows of tenants: users, credentials, audit log, erasures and usage.

pub mod audit;
pub mod audit_search;
pub mod console_sessions;
pub mod erasures;
pub mod idempotency;
pub mod issuers;
pub mod keys;
pub mod recent_usage;
pub mod stored_rows;
pub mod suspensions;
pub mod takeout;
pub mod usage;
pub mod users;
pub mod webhooks;
