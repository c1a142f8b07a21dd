//! The signals that end a process. They are listened for from the start: the first process of a container (PID 1) gets no
//! signal that it does not ask for.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

/// What a process was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// SIGTERM, from an orchestrator: others take over, and need a moment to notice.
    Terminate,
    /// SIGINT, from a person who waits.
    Interrupt,
}

/// The signals that are still to come.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// Where the system does not let it.
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot wait for signals");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.terminate.recv() => Told::Terminate,
            _ = self.interrupt.recv() => Told::Interrupt,
        }
    }

    /// Whether another one comes within this time.
    pub(super) async fn comes_within(&mut self, longest: Duration) -> bool {
        timeout(longest, self.next()).await.is_ok()
    }
}
