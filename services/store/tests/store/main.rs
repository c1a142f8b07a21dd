//! Integration tests of the store: the catalogue of Postgres, access to rows, and concurrent operations.

// Optimised builds, as in `make test-cost`, nest futures deeper than the compiler's default limit.
#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

mod across;
mod deployment;
mod graph;
mod jobs;
mod learning;
mod sessions;
mod skills;
mod tenants;
mod vault;

use support::{harness, rows, writer};
