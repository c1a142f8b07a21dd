//! The audit log and erasures.

mod audit;
mod erasure;
mod idempotency;
pub mod uses;
