//! Test support that several crates share. Only tests depend on it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clock;
mod corpus;
mod fake_server;
pub mod forms;
mod patience;
mod wire;

pub use clock::HandClock;
pub use corpus::CorpusFolder;
pub use fake_server::{FakeServer, Reply, Seen};
pub use patience::{PATIENCE, poll, poll_async, until};
pub use wire::Wire;
