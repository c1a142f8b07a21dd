//! Integration tests of the roof: the real binary, through HTTP and the command line, with typed callers.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod background;
mod callers;
#[expect(dead_code, reason = "not every failure of a model is tried at this height")]
#[path = "../../../ops/src/fake_openai.rs"]
mod fake_openai;
mod raw;
mod service;
mod signing;
mod sql;
mod talk;

mod admin;
mod archives;
mod at_once;
mod bodies;
mod bounds;
mod canary;
mod cli;
mod concurrency;
mod conversations;
mod corpus;
mod cost;
mod delete;
mod documented;
mod everyday;
mod examples;
mod exchange;
mod faults;
mod fields;
mod health;
mod hostile;
mod idempotency;
mod imports;
mod jobs;
mod jwks;
mod keys;
mod large;
mod learned;
mod lineage;
mod list;
mod load;
mod logs;
mod mcp;
mod memories;
mod misfits;
mod models;
mod movers;
mod names;
mod patch;
mod pools;
mod quotas;
mod recall;
mod records;
mod replies;
mod resources;
mod save;
mod sessions;
mod setup;
mod shown;
mod snapshots;
mod soul;
mod starters;
mod strangers;
mod taint;
mod tokens;
mod trail;
mod turns;
mod used;
mod versions;
mod waiting;
mod worker;
