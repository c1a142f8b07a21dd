//! Waiting for asynchronous events. Tests call these functions instead of sleeping, or move a clock.

use std::time::{Duration, Instant};

/// Maximum time that a test waits for an event.
pub const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);

/// Calls `ask` repeatedly until it returns a value.
///
/// # Panics
/// After [`PATIENCE`]. The message contains `what`.
pub fn poll<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Calls `ask` repeatedly until it returns a value. Other tasks of the thread run between the calls.
///
/// # Panics
/// After [`PATIENCE`]. The message contains `what`.
pub async fn poll_async<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until the condition is true.
///
/// # Panics
/// After [`PATIENCE`]. The message contains `what`.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    poll_async(what, async || is_so().then_some(())).await;
}
