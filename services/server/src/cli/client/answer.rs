//! Answers, read within bounds of size and time.

use std::time::Duration;

use actix_web::web::Bytes;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};

use super::Refusal;

/// Bounds of one kind of answer.
pub(in crate::cli) struct Bounds {
    /// Most bytes of it.
    pub(in crate::cli) bytes: u64,
    /// Longest silence, in timeouts.
    pub(in crate::cli) silence: u32,
    /// Longest time for all of it, in timeouts.
    pub(in crate::cli) total: u32,
}

impl Bounds {
    /// A page of a list or another JSON document.
    pub(in crate::cli) const JSON: Self = Self::brief(16 << 20);
    /// JSON of any shape. A value takes up to 16 times its text in memory.
    pub(in crate::cli) const VALUE: Self = Self::brief(4 << 20);
    /// A SKILL.md.
    pub(in crate::cli) const DOCUMENT: Self = Self::brief(16 << 20);
    /// The reason of a refusal.
    pub(super) const PROBLEM: Self = Self::brief(64 << 10);
    /// All skills of a user. An import reads as much.
    pub(in crate::cli) const ARCHIVE: Self = Self { bytes: 4 << 30, silence: 1, total: 120 };
    /// All data of a user.
    pub(in crate::cli) const TAKEOUT: Self = Self { bytes: 64 << 30, silence: 1, total: 120 };
    /// The audit log. The service is silent while it searches for entries.
    pub(in crate::cli) const LOG: Self = Self { bytes: 64 << 30, silence: 4, total: 120 };

    /// Bounds of an answer that is held in memory.
    pub(in crate::cli) const fn brief(bytes: u64) -> Self {
        Self { bytes, silence: 1, total: 4 }
    }
}

/// Fewest bytes within the longest silence, unless the answer ends: a byte now and then does not keep a command waiting.
const PACE: u64 = 1024;

/// Answer of a service, of which only the headers were read.
pub(in crate::cli) struct Answer {
    response: Response,
    timeout: Duration,
}

impl Answer {
    /// Wraps a response of a service whose silence is bounded by `timeout`.
    pub(super) fn new(response: Response, timeout: Duration) -> Self {
        Self { response, timeout }
    }

    /// Returns the status.
    pub(in crate::cli) fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Begins to read the body.
    ///
    /// # Errors
    /// If the service announces more bytes than the bounds allow.
    pub(in crate::cli) fn body(self, bounds: Bounds) -> Result<Body, Refusal> {
        if self.response.content_length().is_some_and(|length| length > bounds.bytes) {
            return Err(Refusal::too_large(bounds.bytes));
        }
        let (silence, total) = (self.timeout * bounds.silence, self.timeout * bounds.total);
        let (left, window) = (bounds.bytes, Window::default());
        Ok(Body { response: self.response, bounds, left, silence, total, waited: Duration::ZERO, window })
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// If it exceeds the bounds or breaks off.
    pub(in crate::cli) async fn bytes(self, bounds: Bounds) -> Result<Vec<u8>, Refusal> {
        let (mut bytes, mut body) = (Vec::new(), self.body(bounds)?);
        while let Some(chunk) = body.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Reads a JSON document.
    ///
    /// # Errors
    /// As [`Answer::bytes`]; or the document has another shape.
    pub(in crate::cli) async fn json<T: DeserializeOwned>(self, bounds: Bounds) -> Result<T, Refusal> {
        serde_json::from_slice(&self.bytes(bounds).await?).map_err(Refusal::unreadable)
    }
}

/// Body on its way. Only the time that the command waits for the service counts, not the time that it writes.
pub(in crate::cli) struct Body {
    response: Response,
    bounds: Bounds,
    /// Bytes that may still come.
    left: u64,
    silence: Duration,
    total: Duration,
    waited: Duration,
    window: Window,
}

/// Bytes since the last [`PACE`] of them, and the time that they took.
#[derive(Default)]
struct Window {
    waited: Duration,
    bytes: u64,
}

impl Body {
    /// Reads the next bytes; `None` at the end.
    ///
    /// # Errors
    /// If the body exceeds the bounds or breaks off.
    pub(in crate::cli) async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        let limit = self.silence.saturating_sub(self.window.waited).min(self.total.saturating_sub(self.waited));
        let began = Instant::now();
        let read = timeout(limit, self.response.chunk()).await;
        self.waited += began.elapsed();
        self.window.waited += began.elapsed();
        match read {
            Ok(Ok(Some(chunk))) => {
                self.count(chunk.len() as u64)?;
                Ok(Some(chunk))
            }
            Ok(Ok(None)) => Ok(None),
            Ok(Err(error)) => Err(Refusal::broken(error)),
            Err(_) if self.waited >= self.total => Err(Refusal::endless(self.total)),
            Err(_) => Err(Refusal::slow(self.window.bytes, self.silence)),
        }
    }

    fn count(&mut self, bytes: u64) -> Result<(), Refusal> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| Refusal::too_large(self.bounds.bytes))?;
        self.window.bytes += bytes;
        if self.window.bytes >= PACE {
            self.window = Window::default();
        }
        Ok(())
    }
}
