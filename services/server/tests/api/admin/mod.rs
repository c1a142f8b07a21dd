//! `/v1/admin`: what operators and a tenant's admins do.

mod chain;
mod directives;
mod erasures;
mod external_ids;
mod filtered;
pub mod jobs;
mod jwks;
mod keys;
pub mod library;
mod people;
mod records;
mod settings;
mod suspensions;
mod takeout;
mod tenants;
mod trail;
