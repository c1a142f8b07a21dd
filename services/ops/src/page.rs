//! Keyset pages: a limit, and a cursor that says where the page before ended.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use knowhow_domain::{Error, Result};
use knowhow_store::Window;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Where and how much.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Largest number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

impl PageQuery {
    /// The limit, 1 to 200.
    ///
    /// # Errors
    /// `Malformed` outside of it.
    pub fn limit(&self) -> Result<usize> {
        limit(self.limit)
    }

    /// What the cursor holds.
    ///
    /// # Errors
    /// `Malformed` for a cursor that this service did not issue.
    pub fn after<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        after(self.cursor.as_deref())
    }
}

/// A limit, 1 to 200, by default 50.
///
/// # Errors
/// `Malformed` outside of it.
pub fn limit(limit: Option<u32>) -> Result<usize> {
    limit_of(limit.unwrap_or(50), 200)
}

/// A limit of an answer that is searched for, not paged: 1 to 50.
///
/// # Errors
/// `Malformed` outside of it.
pub(crate) fn best_limit(limit: u32) -> Result<usize> {
    limit_of(limit, 50)
}

/// A limit, 1 to `most`.
///
/// # Errors
/// `Malformed` outside of it.
pub(crate) fn limit_of(limit: u32, most: u32) -> Result<usize> {
    if (1..=most).contains(&limit) {
        Ok(limit as usize)
    } else {
        Err(Error::Malformed(format!("limit must be 1 to {most}, is {limit}")))
    }
}

/// What a cursor holds.
///
/// # Errors
/// `Malformed` for a cursor that this service did not issue.
pub(crate) fn after<T: DeserializeOwned>(cursor: Option<&str>) -> Result<Option<T>> {
    cursor.map(read_cursor).transpose()
}

/// Some of a list, and the way to the rest.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// At most `limit` of them.
    pub items: Vec<T>,
    /// Give it as `cursor` for the next page; null where this is the last.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// A page of at most `limit` from one item more than that, whose cursor is made from the last item shown.
    ///
    /// # Errors
    /// `Internal` where the cursor cannot be written.
    pub fn of<C: Serialize>(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> C) -> Result<Self> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = match items.last() {
            Some(last) if more => Some(write_cursor(&cursor(last))?),
            _ => None,
        };
        Ok(Self { items, next_cursor })
    }

    /// The page with something made of each item.
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
        .ok_or_else(|| Error::Malformed("the cursor is not one of ours; begin again without it".into()))
}

/// One more than fits, so that the page knows whether there is another.
pub(crate) fn rows_for(limit: usize) -> i64 {
    limit as i64 + 1
}

/// The rows of a page behind an item, and one more.
pub(crate) fn window<K>(behind: K, limit: usize) -> Window<K> {
    Window { behind, limit: rows_for(limit) }
}

/// Longest question, characters; percent-encoded it has room in a URL.
const QUESTION_CHARS: usize = 4096;

/// Checks what is searched for.
///
/// # Errors
/// `Malformed` for nothing, more than 4,096 characters, or NUL.
pub(crate) fn check_question(name: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() || text.chars().count() > QUESTION_CHARS || text.contains('\0') {
        return Err(Error::Malformed(format!("{name} takes 1 to {QUESTION_CHARS} characters and no NUL")));
    }
    Ok(())
}

/// Checks what a list is filtered by.
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
