//! Lists of a service, page by page, with an end whatever the service answers.

use std::collections::HashSet;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::{Bounds, Refusal, Service};

/// Most pages of one list: 2,000,000 items of the smallest pages that commands ask for.
const MOST_PAGES: usize = 10_000;
/// Longest cursor that a service takes.
const CURSOR_BYTES: usize = 2_048;
/// Longest time for one list, in timeouts.
const TOTAL: u32 = 120;

/// Pages of a list that are still to be read.
pub(in crate::cli) struct Pages<'a> {
    service: &'a Service,
    first: String,
    /// The cursor of the next page; empty for the first.
    next: Option<String>,
    seen: HashSet<String>,
    bytes: u64,
    ends: Instant,
}

/// Member of every page.
#[derive(Deserialize)]
struct Cursor {
    next_cursor: Option<String>,
}

impl<'a> Pages<'a> {
    /// Begins with the first page of the list at `path`.
    pub(super) fn of(service: &'a Service, path: &str) -> Self {
        let ends = Instant::now() + service.timeout * TOTAL;
        Self { service, first: path.to_owned(), next: Some(String::new()), seen: HashSet::new(), bytes: 0, ends }
    }

    /// Returns the size of all pages so far, in bytes.
    pub(in crate::cli) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the next page; `None` after the last.
    ///
    /// # Errors
    /// The service's refusal; or the list does not end: a cursor repeats, or there are too many pages.
    pub(in crate::cli) async fn next<P: DeserializeOwned>(&mut self, bounds: Bounds) -> Result<Option<P>, Refusal> {
        let Some(cursor) = self.next.take() else { return Ok(None) };
        if self.seen.len() >= MOST_PAGES || Instant::now() >= self.ends {
            return Err(Refusal::endless_list(self.seen.len()));
        }
        let path = match cursor.as_str() {
            "" => self.first.clone(),
            cursor => with(&self.first, "cursor", cursor),
        };
        let answer = self.service.send(|service| service.request(Method::GET, &path)).await?;
        let bytes = answer.bytes(bounds).await?;
        self.bytes += bytes.len() as u64;
        let page = serde_json::from_slice(&bytes).map_err(Refusal::unreadable)?;
        let Cursor { next_cursor } = serde_json::from_slice(&bytes).map_err(Refusal::unreadable)?;
        self.seen.insert(cursor);
        if let Some(next) = &next_cursor
            && (self.seen.contains(next) || next.len() > CURSOR_BYTES)
        {
            return Err(Refusal::repeated_cursor());
        }
        self.next = next_cursor;
        Ok(Some(page))
    }
}

/// Returns the path with another member in its query.
pub(in crate::cli) fn with(path: &str, name: &str, value: &str) -> String {
    let joined = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joined}{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
}
