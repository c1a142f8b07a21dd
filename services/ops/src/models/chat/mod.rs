//! A client of chat models behind an OpenAI-compatible `POST .../chat/completions`: one prompt, one answer.

mod error;
mod read;

/// Estimates the number of tokens of texts that the server has not counted: a quarter of the characters.
pub(crate) fn estimate_tokens(texts: &[&str]) -> i64 {
    let characters: usize = texts.iter().map(|text| text.chars().count()).sum();
    i64::try_from(characters / 4).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use knowhow_telemetry::metrics::{self, Model};
use tokio::time::Instant;

use crate::Priority;
use crate::models::remote::{Remote, RemoteError, RemoteSettings, within};
pub use error::ChatError;
use read::without_thoughts;
pub use read::{read_json_answer, read_only_json_answer};
use wire::{Cap, ChatAnswer, ChatRequest, read_answer};

/// Maximum size of an answer in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// A prompt for a model.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// The rules that the answer must follow.
    pub system: &'a str,
    /// The request. It must contain data of only one user.
    pub user: &'a str,
}

/// Limits of a request to a model.
#[derive(Debug, Clone, Copy)]
pub struct ChatLimits {
    /// Maximum number of tokens in the answer, including the model's thoughts.
    pub tokens: u32,
    /// Maximum number of bytes in the answer, without the model's thoughts.
    pub bytes: usize,
    /// Timeout of all attempts together.
    pub total: Duration,
}

/// A client of a chat model.
pub struct ChatModel {
    remote: Remote,
    /// Whether the server requires the newer name of the token limit, as a rejected request has shown.
    wants_newer_cap: AtomicBool,
}

impl ChatModel {
    /// Creates a client without sending a request.
    ///
    /// # Errors
    /// Fails for invalid settings.
    pub fn new(settings: RemoteSettings) -> Result<Self, ChatError> {
        let remote = Remote::new(settings, "chat/completions", MAX_ANSWER, Model::Chat)?;
        Ok(Self { remote, wants_newer_cap: AtomicBool::new(false) })
    }

    /// Returns the model's name on its server.
    pub fn model(&self) -> &str {
        self.remote.model()
    }

    /// Returns whether requests are paused after failures.
    pub fn is_paused(&self) -> bool {
        self.remote.is_paused()
    }

    /// Returns the model's answer without its thoughts.
    ///
    /// # Errors
    /// Fails if the model gives no answer within the limits.
    pub async fn complete(
        &self,
        prompt: Prompt<'_>,
        priority: Priority,
        limits: ChatLimits,
    ) -> Result<String, ChatError> {
        let ChatAnswer { text, .. } = self.ask_in_time(prompt, priority, limits).await?;
        let answer = without_thoughts(&text);
        match answer.len() {
            0 => Err(ChatError::Empty),
            length if length > limits.bytes => Err(ChatError::TooLong),
            _ => Ok(answer.to_owned()),
        }
    }

    /// Returns the unchanged answer, including thoughts, with the number of tokens in prompt and answer. The number is
    /// estimated if the server does not count tokens. Callers that store an answer need the whole answer; callers that
    /// parse an answer remove its thoughts.
    ///
    /// # Errors
    /// Fails if the model gives no answer within the limits; thoughts do not count for `bytes`.
    pub async fn complete_counted(
        &self,
        prompt: Prompt<'_>,
        priority: Priority,
        limits: ChatLimits,
    ) -> Result<(String, i64), ChatError> {
        let ChatAnswer { text, tokens, .. } = self.ask_in_time(prompt, priority, limits).await?;
        // Thoughts may be long, and an answer that consists of thoughts only is stored as well.
        if text.trim().is_empty() {
            return Err(ChatError::Empty);
        }
        if without_thoughts(&text).len() > limits.bytes {
            return Err(ChatError::TooLong);
        }
        let tokens = tokens.unwrap_or_else(|| estimate_tokens(&[prompt.system, prompt.user, &text]));
        Ok((text, tokens))
    }

    async fn ask_in_time(
        &self,
        prompt: Prompt<'_>,
        priority: Priority,
        limits: ChatLimits,
    ) -> Result<ChatAnswer, RemoteError> {
        let deadline = Instant::now() + limits.total;
        within(Some(deadline), RemoteError::Late, self.ask(prompt, priority, limits.tokens)).await
    }

    async fn ask(&self, prompt: Prompt<'_>, priority: Priority, tokens: u32) -> Result<ChatAnswer, RemoteError> {
        let newer = self.wants_newer_cap.load(Ordering::Relaxed);
        let cap = |newer| if newer { Cap::Newer(tokens) } else { Cap::Older(tokens) };
        let ask = async |newer| {
            let question = ChatRequest::new(self.remote.model(), prompt, cap(newer));
            self.remote.ask(priority, &question, read_answer).await
        };
        let answer = match ask(newer).await {
            Err(RemoteError::Refused { status: 400, detail, .. }) if !newer && detail.contains(Cap::NEWER) => {
                self.wants_newer_cap.store(true, Ordering::Relaxed);
                ask(true).await?
            }
            outcome => outcome?,
        };
        let (input, output) = answer.usage;
        metrics::tokens(input, output);
        Ok(answer)
    }
}
