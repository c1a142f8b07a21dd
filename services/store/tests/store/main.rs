//! Integration tests of the vault: what the catalogue of Postgres says, who may touch which row, and what happens when
//! many do it at once.

// Optimised, as `make test-cost` builds them, futures within futures go deeper than the compiler's default.
#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod audit;
mod boot;
mod callers;
mod carried;
mod catalogue;
mod concurrency;
mod cost_graph;
mod cost_vault;
mod counter_examples;
mod declared;
mod dreams;
mod embeddings;
mod erasure;
mod examples;
mod fairness;
mod flights;
mod graph;
mod harness;
mod isolation;
mod law;
mod login;
mod masters;
mod matrix;
mod migrations;
mod months;
mod mutation;
mod places;
mod plans;
mod poisoning;
mod processes;
mod queue;
mod reach;
mod reflections;
mod retention;
mod rows;
mod settings;
mod snapshots;
mod starters;
mod statements;
mod worker;
mod writer;
