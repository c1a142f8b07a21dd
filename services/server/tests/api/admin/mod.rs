//! `/v1/admin`: what operators and a tenant's admins do.

mod chain;
mod directives;
mod erasures;
pub mod jobs;
mod jwks;
mod keys;
pub mod library;
mod records;
mod suspensions;
mod takeout;
mod tenants;
mod trail;
