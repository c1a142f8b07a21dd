//! A chat model behind an OpenAI-compatible `POST .../chat/completions`: one question, one answer.

mod error;
mod read;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::Priority;
use crate::remote::{Remote, RemoteError, RemoteSettings, within};
pub use error::ChatError;
pub use read::read_json_answer;
use read::without_thoughts;
use wire::{Cap, ChatRequest, read_answer};

/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// How much a question may cost.
#[derive(Debug, Clone, Copy)]
pub struct ChatLimits {
    /// Tokens the model may write, its thoughts included.
    pub tokens: u32,
    /// Longest answer, in bytes, without thoughts.
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
        let remote = Remote::new(settings, "chat/completions", MAX_ANSWER)?;
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

    /// The model's answer to `user` under the rules of `system`, without its thoughts. Never more than one user's
    /// data belongs into one question.
    ///
    /// # Errors
    /// Where there is none within the limits.
    pub async fn complete(
        &self,
        system: &str,
        user: &str,
        priority: Priority,
        limits: ChatLimits,
    ) -> Result<String, ChatError> {
        let deadline = Instant::now() + limits.total;
        let answer = within(Some(deadline), RemoteError::Late, self.ask(system, user, priority, limits.tokens)).await?;
        let answer = without_thoughts(&answer);
        match answer.len() {
            0 => Err(ChatError::Empty),
            length if length > limits.bytes => Err(ChatError::TooLong),
            _ => Ok(answer.to_owned()),
        }
    }

    async fn ask(&self, system: &str, user: &str, priority: Priority, tokens: u32) -> Result<String, RemoteError> {
        let newer = self.wants_newer_cap.load(Ordering::Relaxed);
        let cap = |newer| if newer { Cap::Newer(tokens) } else { Cap::Older(tokens) };
        let ask = async |newer| {
            let question = ChatRequest::new(self.remote.model(), system, user, cap(newer));
            self.remote.ask(priority, &question, read_answer).await
        };
        match ask(newer).await {
            Err(RemoteError::Refused { status: 400, detail, .. }) if !newer && detail.contains(Cap::NEWER) => {
                self.wants_newer_cap.store(true, Ordering::Relaxed);
                ask(true).await
            }
            outcome => outcome,
        }
    }
}
