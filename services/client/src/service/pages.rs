//! Reads lists page by page. Limits ensure that reading always ends.

use std::collections::HashSet;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::{Bounds, Service, ServiceError};

/// Maximum number of pages of one list, which is 2,000,000 items at the smallest page size of the commands.
const MOST_PAGES: usize = 10_000;
/// Maximum length of a cursor in bytes. The service rejects longer ones.
const CURSOR_BYTES: usize = 2_048;
/// Maximum time for reading one list, as a multiple of the timeout.
const TOTAL: u32 = 120;

/// The remaining pages of a list.
pub(crate) struct Pages<'a> {
    service: &'a Service,
    first: String,
    /// Cursor of the next page. It is empty before the first page, and `None` after the last.
    next: Option<String>,
    seen: HashSet<String>,
    bytes: u64,
    ends: Instant,
}

/// The member that all pages have in common.
#[derive(Deserialize)]
struct Cursor {
    next_cursor: Option<String>,
}

impl<'a> Pages<'a> {
    /// Creates a reader that starts with the first page of the list at `path`.
    pub(super) fn of(service: &'a Service, path: &str) -> Self {
        let ends = Instant::now() + service.timeout * TOTAL;
        Self { service, first: path.to_owned(), next: Some(String::new()), seen: HashSet::new(), bytes: 0, ends }
    }

    /// Returns the total size of the pages read so far, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the next page, or `None` after the last.
    ///
    /// # Errors
    /// Fails with the service's error, or if the list does not end: a cursor is repeated, or there are too many pages.
    pub(crate) async fn next<P: DeserializeOwned>(&mut self, bounds: Bounds) -> Result<Option<P>, ServiceError> {
        let Some(cursor) = self.next.take() else { return Ok(None) };
        if self.seen.len() >= MOST_PAGES || Instant::now() >= self.ends {
            return Err(ServiceError::endless_list(self.seen.len()));
        }
        let path = match cursor.as_str() {
            "" => self.first.clone(),
            cursor => with(&self.first, "cursor", cursor),
        };
        let answer = self.service.send(|service| service.request(Method::GET, &path)).await?;
        let bytes = answer.bytes(bounds).await?;
        self.bytes += bytes.len() as u64;
        let page = serde_json::from_slice(&bytes).map_err(ServiceError::unreadable)?;
        let Cursor { next_cursor } = serde_json::from_slice(&bytes).map_err(ServiceError::unreadable)?;
        self.seen.insert(cursor);
        if let Some(next) = &next_cursor
            && (self.seen.contains(next) || next.len() > CURSOR_BYTES)
        {
            return Err(ServiceError::repeated_cursor());
        }
        self.next = next_cursor;
        Ok(Some(page))
    }
}

/// Adds a parameter to the query of a path.
pub(crate) fn with(path: &str, name: &str, value: &str) -> String {
    let joined = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joined}{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
}
