//! Integration tests of the server: they run the real binary and call it through HTTP and the command line. Folders
//! are named like those of `src` and `src/api`. `process` tests several processes at once, and `support` has the
//! helpers.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

mod cli;
mod console;
mod cost;
mod graph;
mod http;
mod learning;
mod mcp;
mod platform;
mod process;
mod review;
mod sessions;
mod skills;
mod telemetry;
mod tenants;

// Helpers shared by the tests of several folders.
use http::bodies;
use learning::dreams;
use platform::pools;
use process::worker;
use review::submitted;
use sessions::{background, shown};
use skills::{examples, exchange};
use support::{admin_cli, answers, callers, hostile, raw, reviewing, service, signing, sql, talk, zone};
use tenants::{jobs, library};
