//! Keyset pagination: a limit, and a cursor with the end of the previous page.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use knowhow_domain::{Error, Result};
use knowhow_store::Window;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Limit and cursor of a page.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

impl PageQuery {
    /// Returns the limit, 1 to 200.
    ///
    /// # Errors
    /// `Malformed` for a limit outside this range.
    pub fn limit(&self) -> Result<usize> {
        limit(self.limit)
    }

    /// Returns the content of the cursor.
    ///
    /// # Errors
    /// `Malformed` for a cursor that this service did not issue.
    pub fn after<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        after(self.cursor.as_deref())
    }
}

/// Returns a limit, 1 to 200, by default 50.
///
/// # Errors
/// `Malformed` for a limit outside this range.
pub fn limit(limit: Option<u32>) -> Result<usize> {
    limit_of(limit.unwrap_or(50), 200)
}

/// Returns the limit for a search without pages, 1 to 50.
///
/// # Errors
/// `Malformed` for a limit outside this range.
pub(crate) fn best_limit(limit: u32) -> Result<usize> {
    limit_of(limit, 50)
}

/// Returns a limit, 1 to `most`.
///
/// # Errors
/// `Malformed` for a limit outside this range.
pub(crate) fn limit_of(limit: u32, most: u32) -> Result<usize> {
    if (1..=most).contains(&limit) {
        Ok(limit as usize)
    } else {
        Err(Error::Malformed(format!("limit must be 1 to {most}, is {limit}")))
    }
}

/// Parses a cursor.
///
/// # Errors
/// `Malformed` for a cursor that this service did not issue.
pub(crate) fn after<T: DeserializeOwned>(cursor: Option<&str>) -> Result<Option<T>> {
    cursor.map(read_cursor).transpose()
}

/// A page of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items, at most `limit`.
    pub items: Vec<T>,
    /// Pass it as `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Creates a page from up to `limit` + 1 items. If there are more than `limit`, the cursor is made from the last
    /// item of the page.
    ///
    /// # Errors
    /// `Internal` if the cursor cannot be serialized.
    pub fn of<C: Serialize>(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> C) -> Result<Self> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = match items.last() {
            Some(last) if more => Some(write_cursor(&cursor(last))?),
            _ => None,
        };
        Ok(Self { items, next_cursor })
    }

    /// Converts each item.
    pub fn map<U>(self, item: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(item).collect(), next_cursor: self.next_cursor }
    }
}

pub(crate) fn write_cursor(position: &impl Serialize) -> Result<String> {
    Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(position).map_err(Error::internal)?))
}

fn read_cursor<T: DeserializeOwned>(cursor: &str) -> Result<T> {
    URL_SAFE_NO_PAD
        .decode(cursor)
        .ok()
        .filter(|bytes| bytes.len() <= 1024 && !bytes.contains(&0) && !bytes.windows(6).any(|w| w == b"\\u0000"))
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(|| Error::Malformed("the cursor is invalid; start again without it".into()))
}

/// Returns the number of rows to read: one more than the limit, to detect whether there is another page.
pub(crate) fn rows_for(limit: usize) -> i64 {
    limit as i64 + 1
}

/// Returns the window of rows after the item `behind`, with one row more than the limit.
pub(crate) fn window<K>(behind: K, limit: usize) -> Window<K> {
    Window { behind, limit: rows_for(limit) }
}

/// Maximum number of characters in a question; percent-encoded it still fits into a URL.
const QUESTION_CHARS: usize = 4096;

/// Validates a search question.
///
/// # Errors
/// `Malformed` for an empty text, more than 4,096 characters, or NUL.
pub(crate) fn check_question(name: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() || text.chars().count() > QUESTION_CHARS || text.contains('\0') {
        return Err(Error::Malformed(format!("{name} takes 1 to {QUESTION_CHARS} characters and no NUL")));
    }
    Ok(())
}

/// Validates a filter for a list.
///
/// # Errors
/// `Malformed` for more than `most` characters, or NUL.
pub(crate) fn check_filter(name: &str, value: Option<&str>, most: usize) -> Result<()> {
    match value {
        Some(v) if v.chars().count() > most || v.contains('\0') => {
            Err(Error::Malformed(format!("{name} takes at most {most} characters and no NUL")))
        }
        _ => Ok(()),
    }
}
