//! What tests of several floors stand on. No program depends on it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod clock;
mod fake_openai;
mod patience;
mod wire;

pub use clock::HandClock;
pub use fake_openai::{FakeOpenAi, Reply, Seen};
pub use patience::{PATIENCE, poll, poll_async, until};
pub use wire::Wire;
