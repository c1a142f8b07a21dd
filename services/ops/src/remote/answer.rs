//! Reading what a server says, no more of it than fits.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use serde::Deserialize;

use super::RemoteError;

/// The most of an error answer that is read, in bytes.
const MAX_REFUSAL: usize = 16 * 1024;
/// The most of an error's message that is told, in characters.
const MESSAGE_CHARS: usize = 200;

#[derive(Deserialize)]
struct Refusal {
    error: Problem,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Problem {
    Object { message: String },
    Text(String),
}

/// The body of an answer.
pub(super) async fn read_body(response: Response, limit: usize) -> Result<Vec<u8>, RemoteError> {
    let body = read(response, limit).await?;
    body.ok_or_else(|| RemoteError::BadAnswer(format!("it has more than {limit} bytes")))
}

/// What an error answer says, and how long it asks to be left alone.
pub(super) async fn read_refusal(response: Response) -> (RemoteError, Option<Duration>) {
    let status = response.status();
    let wait = response.headers().get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    // What is said about a wrong key may quote it.
    let secret = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let detail = match read(response, MAX_REFUSAL).await {
        Ok(Some(body)) if !secret => message(&body),
        _ => status.canonical_reason().unwrap_or_default().to_owned(),
    };
    (RemoteError::Refused { status: status.as_u16(), detail }, wait.map(Duration::from_secs))
}

/// The whole chain of causes, without the URL.
pub(super) fn unreachable(error: reqwest::Error) -> RemoteError {
    let error = error.without_url();
    let mut sentence = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        sentence = format!("{sentence}: {inner}");
        cause = inner.source();
    }
    RemoteError::Unreachable(sentence)
}

/// The body, or nothing where it is larger than that.
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

/// The message of an error, short and on one line.
fn message(body: &[u8]) -> String {
    let message = match serde_json::from_slice(body) {
        Ok(Refusal { error: Problem::Object { message } | Problem::Text(message) }) => message,
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    message.chars().take(MESSAGE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
