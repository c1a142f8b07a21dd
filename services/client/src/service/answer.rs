//! Reads responses from the service within limits on size and time.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout};

use super::ServiceError;

/// Limits for one kind of response.
pub(crate) struct Bounds {
    /// Maximum size in bytes.
    pub(crate) bytes: u64,
    /// Maximum time without data, as a multiple of the timeout.
    pub(crate) silence: u32,
    /// Maximum time for the whole response, as a multiple of the timeout.
    pub(crate) total: u32,
}

impl Bounds {
    /// A page of a list or another JSON document.
    pub(crate) const JSON: Self = Self::brief(16 << 20);
    /// A JSON value of any shape. In memory, such a value takes up to 16 times the size of its text.
    pub(crate) const VALUE: Self = Self::brief(4 << 20);
    /// A SKILL.md.
    pub(crate) const DOCUMENT: Self = Self::brief(16 << 20);
    /// The problem in an error response.
    pub(super) const PROBLEM: Self = Self::brief(64 << 10);
    /// An archive with all skills of a user. Its limit is the same as for an import.
    pub(crate) const ARCHIVE: Self = Self { bytes: 4 << 30, silence: 1, total: 120 };
    /// An archive with all data of a user.
    pub(crate) const TAKEOUT: Self = Self { bytes: 64 << 30, silence: 1, total: 120 };
    /// The audit log. The service may send no data for some time, while it searches for matching entries.
    pub(crate) const LOG: Self = Self { bytes: 64 << 30, silence: 4, total: 120 };

    /// Returns limits for a response that is kept in memory.
    pub(crate) const fn brief(bytes: u64) -> Self {
        Self { bytes, silence: 1, total: 4 }
    }
}

/// Minimum number of bytes that must arrive within the maximum time without data. It stops responses that arrive
/// slowly, byte by byte.
const PACE: u64 = 1024;

/// A response with its status and headers. Its body has not been read yet.
pub(crate) struct ServiceResponse {
    response: Response,
    timeout: Duration,
}

impl ServiceResponse {
    /// Wraps a response. Its time limits are multiples of `timeout`.
    pub(super) fn new(response: Response, timeout: Duration) -> Self {
        Self { response, timeout }
    }

    /// Returns the HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Starts to read the body.
    ///
    /// # Errors
    /// Fails if `Content-Length` exceeds the limit.
    pub(crate) fn body(self, bounds: Bounds) -> Result<Body, ServiceError> {
        if self.response.content_length().is_some_and(|length| length > bounds.bytes) {
            return Err(ServiceError::too_large(bounds.bytes));
        }
        let (silence, total) = (self.timeout * bounds.silence, self.timeout * bounds.total);
        let (left, window) = (bounds.bytes, ReceiveWindow::default());
        Ok(Body { response: self.response, bounds, left, silence, total, waited: Duration::ZERO, window })
    }

    /// Reads the whole body into memory.
    ///
    /// # Errors
    /// Fails if the body exceeds the limits or is incomplete.
    pub(crate) async fn bytes(self, bounds: Bounds) -> Result<Vec<u8>, ServiceError> {
        let (mut bytes, mut body) = (Vec::new(), self.body(bounds)?);
        while let Some(chunk) = body.next().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Reads the body and parses it as JSON.
    ///
    /// # Errors
    /// Fails like [`ServiceResponse::bytes`], or if the JSON has another shape.
    pub(crate) async fn json<T: DeserializeOwned>(self, bounds: Bounds) -> Result<T, ServiceError> {
        serde_json::from_slice(&self.bytes(bounds).await?).map_err(ServiceError::unreadable)
    }
}

/// A body that is being read. Its time limits count only the time spent waiting for the service, not the time for
/// writing the data.
pub(crate) struct Body {
    response: Response,
    bounds: Bounds,
    /// Number of bytes that may still be read.
    left: u64,
    silence: Duration,
    total: Duration,
    waited: Duration,
    window: ReceiveWindow,
}

/// Number of bytes received since the last full [`PACE`], and the time spent waiting for them.
#[derive(Default)]
struct ReceiveWindow {
    waited: Duration,
    bytes: u64,
}

impl Body {
    /// Returns the next bytes, or `None` at the end.
    ///
    /// # Errors
    /// Fails if the body exceeds the limits or is incomplete.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
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
            Ok(Err(error)) => Err(ServiceError::broken(error)),
            Err(_) if self.waited >= self.total => Err(ServiceError::endless(self.total)),
            Err(_) => Err(ServiceError::slow(self.window.bytes, self.silence)),
        }
    }

    fn count(&mut self, bytes: u64) -> Result<(), ServiceError> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| ServiceError::too_large(self.bounds.bytes))?;
        self.window.bytes += bytes;
        if self.window.bytes >= PACE {
            self.window = ReceiveWindow::default();
        }
        Ok(())
    }
}
