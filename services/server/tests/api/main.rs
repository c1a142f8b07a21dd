//! Integration tests of the roof: the real binary, through HTTP and the command line, with typed callers.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod callers;
mod raw;
mod service;
mod signing;
mod sql;

mod admin;
mod archives;
mod cli;
mod concurrency;
mod corpus;
mod delete;
mod exchange;
mod faults;
mod fields;
mod health;
mod hostile;
mod idempotency;
mod jwks;
mod keys;
mod list;
mod load;
mod mcp;
mod models;
mod patch;
mod pools;
mod quotas;
mod records;
mod resources;
mod save;
mod starters;
mod strangers;
mod tokens;
mod used;
mod versions;
