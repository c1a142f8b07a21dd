//! Signals that stop a process. The handlers are installed at the start, because the first process of a container
//! (PID 1) receives only signals that it handles.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

/// The signals that stop a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopSignal {
    /// SIGTERM, sent by an orchestrator. The process continues for some time, until load balancers notice.
    Terminate,
    /// SIGINT, sent by a user at the terminal.
    Interrupt,
}

/// Receivers of the two signals.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    /// Fails if the operating system does not accept the handlers.
    pub(super) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot wait for signals");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.terminate.recv() => StopSignal::Terminate,
            _ = self.interrupt.recv() => StopSignal::Interrupt,
        }
    }

    /// Returns whether another signal arrives within `longest`.
    pub(super) async fn comes_within(&mut self, longest: Duration) -> bool {
        timeout(longest, self.next()).await.is_ok()
    }
}
