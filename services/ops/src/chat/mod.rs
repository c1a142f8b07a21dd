//! A chat model behind an OpenAI-compatible `POST .../chat/completions`: one question, one answer.

mod error;
mod read;

/// Tokens of texts where no server has counted them: a fourth of the characters.
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
use crate::remote::{Remote, RemoteError, RemoteSettings, within};
pub use error::ChatError;
pub use read::read_json_answer;
use read::without_thoughts;
use wire::{Answer, Cap, ChatRequest, read_answer};

/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// The rules that the answer keeps to.
    pub system: &'a str,
    /// The question. Never more than one user's data belongs into it.
    pub user: &'a str,
}

/// How much a question may cost.
#[derive(Debug, Clone, Copy)]
pub struct ChatLimits {
    /// Tokens the model may write, its thoughts included.
    pub tokens: u32,
    /// Longest answer, in bytes.
    pub bytes: usize,
    /// Longest wait, all attempts together.
    pub total: Duration,
}

/// A client of a chat model.
pub struct ChatModel {
    remote: Remote,
    /// Whether the server wants the newer name of the limit of tokens.
    wants_newer_cap: AtomicBool,
}

impl ChatModel {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// For settings that cannot work.
    pub fn new(settings: RemoteSettings) -> Result<Self, ChatError> {
        let remote = Remote::new(settings, "chat/completions", MAX_ANSWER, Model::Chat)?;
        Ok(Self { remote, wants_newer_cap: AtomicBool::new(false) })
    }

    /// The model's name, as its service calls it.
    pub fn model(&self) -> &str {
        self.remote.model()
    }

    /// Whether it failed too often of late, and is left alone for a moment.
    pub fn is_paused(&self) -> bool {
        self.remote.is_paused()
    }

    /// The model's answer, without its thoughts.
    ///
    /// # Errors
    /// Where there is none within the limits.
    pub async fn complete(
        &self,
        prompt: Prompt<'_>,
        priority: Priority,
        limits: ChatLimits,
    ) -> Result<String, ChatError> {
        let Answer { text, .. } = self.ask_in_time(prompt, priority, limits).await?;
        let answer = without_thoughts(&text);
        match answer.len() {
            0 => Err(ChatError::Empty),
            length if length > limits.bytes => Err(ChatError::TooLong),
            _ => Ok(answer.to_owned()),
        }
    }

    /// The model's answer as it came, thoughts and all, with the tokens that it took: as the server says, or a fourth of the
    /// characters. Whoever keeps an answer wants all of it; whoever reads it takes the thoughts away.
    ///
    /// # Errors
    /// Where there is none within the limits, without its thoughts.
    pub async fn complete_counted(
        &self,
        prompt: Prompt<'_>,
        priority: Priority,
        limits: ChatLimits,
    ) -> Result<(String, i64), ChatError> {
        let Answer { text, tokens, .. } = self.ask_in_time(prompt, priority, limits).await?;
        // Thoughts may be long, and an answer of nothing else is kept as well.
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
    ) -> Result<Answer, RemoteError> {
        let deadline = Instant::now() + limits.total;
        within(Some(deadline), RemoteError::Late, self.ask(prompt, priority, limits.tokens)).await
    }

    async fn ask(&self, prompt: Prompt<'_>, priority: Priority, tokens: u32) -> Result<Answer, RemoteError> {
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
