//! `/v1/admin`: endpoints of operators and of a tenant's admins.

mod chain;
mod erasures;
mod external_ids;
mod filtered;
pub mod jobs;
mod jwks;
mod keys;
pub mod library;
mod operators;
mod people;
mod records;
mod settings;
mod suspensions;
mod takeout;
mod tenant;
mod trail;
mod view;
mod webhooks;
