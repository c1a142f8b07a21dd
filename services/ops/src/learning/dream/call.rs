//! A call to the chat model, and its record.

use knowhow_domain::learning::dream::ModelCall;
use std::time::{Duration, Instant};

use super::question::ModelQuestion;
use crate::Priority;
use crate::models::chat::{ChatLimits, ChatModel, Prompt, estimate_tokens};

const LIMITS: ChatLimits = ChatLimits { tokens: 16_000, bytes: 1024 * 1024, total: Duration::from_secs(300) };
/// Maximum number of characters in a stored answer.
const KEPT_CHARS: usize = 64 * 1024;

/// A prompt for the model.
pub(crate) struct LearningQuestion<'a> {
    pub(crate) chat: &'a ChatModel,
    pub(crate) system: &'a str,
    pub(crate) directive: &'a knowhow_domain::Directive,
    pub(crate) question: &'a ModelQuestion,
    pub(crate) priority: Priority,
}

/// The reason why the model gave no answer.
pub(crate) struct NoAnswer {
    pub(crate) reason: String,
    /// Whether a retry of the same prompt may succeed.
    pub(crate) may_come_later: bool,
}

impl LearningQuestion<'_> {
    /// Sends the prompt to the model. Returns the record of the call, and the answer or the reason why it is missing.
    pub(crate) async fn put(&self) -> (ModelCall, std::result::Result<String, NoAnswer>) {
        let began = Instant::now();
        let question = &self.question.text;
        let asked =
            self.chat.complete_counted(Prompt { system: self.system, user: question }, self.priority, LIMITS).await;
        let ms = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        let (answer, tokens, error) = match asked {
            Ok((answer, tokens)) => (Ok(answer), tokens, None),
            Err(error) => {
                tracing::warn!(%error, "the chat model did not answer a question about learning");
                // A server that cannot be reached takes no tokens, and the prompt is sent again.
                let taken = if error.is_transient() { 0 } else { estimate_tokens(&[self.system, question]) };
                let reason = format!("the chat model gave no answer: {error}");
                (Err(NoAnswer { reason, may_come_later: error.is_transient() }), taken, Some(error.to_string()))
            }
        };
        let kept = answer.as_ref().ok().map(|answer| answer.chars().take(KEPT_CHARS).filter(|c| *c != '\0').collect());
        let call = ModelCall {
            tainted: self.question.shown.is_tainted,
            model: self.chat.model().to_owned(),
            directive_version: self.directive.version,
            directive_digest: self.directive.digest.clone(),
            system: self.system.to_owned(),
            question: question.clone(),
            answer: kept,
            error,
            tokens,
            ms,
        };
        (call, answer)
    }
}
