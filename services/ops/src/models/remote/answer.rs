//! Reads answers from a server, within size limits.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use serde::Deserialize;

use super::RemoteError;

/// Maximum number of bytes in an error answer.
const MAX_REFUSAL: usize = 16 * 1024;
/// Maximum number of characters in a stored error detail.
const DETAIL_CHARS: usize = 200;

/// An error in OpenAI's format.
#[derive(Deserialize)]
struct Refusal {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
    code: Option<String>,
}

/// Reads the body of an answer.
pub(super) async fn read_body(response: Response, limit: usize) -> Result<Vec<u8>, RemoteError> {
    let body = read(response, limit).await?;
    body.ok_or_else(|| RemoteError::BadAnswer(format!("it has more than {limit} bytes")))
}

/// Reads an error answer. Returns the error, and the wait that the server requested with `Retry-After`.
pub(super) async fn read_refusal(response: Response) -> (RemoteError, Option<Duration>) {
    let status = response.status();
    let wait = response.headers().get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let body = match read(response, MAX_REFUSAL).await {
        // The message about a wrong key may contain the key.
        Ok(Some(body)) if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => body,
        _ => Vec::new(),
    };
    let (code, message) = match serde_json::from_slice(&body) {
        Ok(Refusal { error: Problem { message, code } }) => (code.filter(|code| is_code(code)), message),
        Err(_) => (None, String::from_utf8_lossy(&body).into_owned()),
    };
    let detail: String = message.chars().take(DETAIL_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    tracing::debug!(%status, detail, "a model's server rejected a request");
    let reason = code.unwrap_or_else(|| status.canonical_reason().unwrap_or("an error").to_owned());
    (RemoteError::Refused { status: status.as_u16(), reason, detail }, wait.map(Duration::from_secs))
}

/// Returns whether a text is an error code, e.g. `model_not_found`, not a message.
fn is_code(text: &str) -> bool {
    text.len() <= 64 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// Converts an error from the HTTP client. The text contains the whole chain of causes, but not the URL.
pub(super) fn unreachable(error: reqwest::Error) -> RemoteError {
    let is_timeout = error.is_timeout();
    let error = error.without_url();
    let mut sentence = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        sentence = format!("{sentence}: {inner}");
        cause = inner.source();
    }
    if is_timeout { RemoteError::Silent(sentence) } else { RemoteError::Unreachable(sentence) }
}

/// Reads the body; returns `None` if it exceeds the limit.
async fn read(mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, RemoteError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}
