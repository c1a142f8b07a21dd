//! Integration tests of the roof: the real binary, through HTTP and the command line, with typed callers. Folders are named as those
//! of `src` and of `src/api`; what tests share is in `support`.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

mod admin;
mod approvals;
mod bounds;
mod canary;
mod cli;
mod cost;
mod deciding;
mod documented;
mod graph;
mod health;
mod http;
mod large;
mod laundering;
mod lineage;
mod marks;
mod mcp;
mod memories;
mod process;
mod recall;
mod secrets;
mod sessions;
mod shares;
mod skills;
mod soul;
mod strangers;
mod submissions;
mod taint;
mod telemetry;
mod unseen;

// What tests of one folder lend to those of others.
use admin::{jobs, library};
use http::bodies;
use process::{background, dreams, pools, submitted, worker};
use sessions::shown;
use skills::{examples, exchange};
use support::{answers, callers, hostile, raw, reviewing, service, signing, sql, talk};
