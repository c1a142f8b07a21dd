//! Endpoints for the health and metadata of the service.

pub mod health;
pub mod metadata;
