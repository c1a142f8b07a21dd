//! Waiting for what something else does in its own time. Nothing else in tests sleeps: time that is to pass is passed by a clock.

use std::time::{Duration, Instant};

/// How long anything may take before a test gives up on it.
pub const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);

/// Asks again and again until there is an answer.
///
/// # Panics
/// After [`PATIENCE`], with `what` it waited for.
pub fn poll<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(PAUSE);
    }
}

/// The same for a question that others of the same thread must run to answer.
///
/// # Panics
/// As [`poll`].
pub async fn poll_async<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same for what is so or not.
///
/// # Panics
/// As [`poll`].
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    poll_async(what, async || is_so().then_some(())).await;
}
