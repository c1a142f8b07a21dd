//! Request and response of an OpenAI-compatible `/chat/completions`.

use serde::{Deserialize, Serialize};

use super::Prompt;
use crate::models::remote::RemoteError;

/// The body of a request. It contains only members that every server and model accepts.
#[derive(Serialize)]
pub(super) struct ChatRequest<'a> {
    model: &'a str,
    messages: [ChatMessage<'a>; 2],
    stream: bool,
    #[serde(flatten)]
    cap: Cap,
}

/// The token limit. OpenAI renamed it for newer models, but other servers know only the older name.
#[derive(Serialize)]
pub(super) enum Cap {
    #[serde(rename = "max_tokens")]
    Older(u32),
    #[serde(rename = "max_completion_tokens")]
    Newer(u32),
}

impl Cap {
    pub(super) const NEWER: &str = "max_completion_tokens";
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Deserialize)]
struct ChatResponse {
    choices: Vec<ChatChoice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: Option<i64>,
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// The answer from a model.
pub(super) struct ChatAnswer {
    pub(super) text: String,
    /// Number of tokens in prompt and answer, if the server counts them.
    pub(super) tokens: Option<i64>,
    /// Number of tokens in the prompt, and number of tokens in the answer; 0 if the server does not count them.
    pub(super) usage: (u64, u64),
}

#[derive(Deserialize)]
struct ChatChoice {
    message: ChoiceMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceMessage {
    content: Option<String>,
}

impl<'a> ChatRequest<'a> {
    pub(super) fn new(model: &'a str, prompt: Prompt<'a>, cap: Cap) -> Self {
        let Prompt { system, user } = prompt;
        let messages = [ChatMessage { role: "system", content: system }, ChatMessage { role: "user", content: user }];
        Self { model, messages, stream: false, cap }
    }
}

/// Reads an answer. Rejects an answer that was cut off at the token limit.
pub(super) fn read_answer(body: &[u8]) -> Result<ChatAnswer, RemoteError> {
    let answer: ChatResponse = serde_json::from_slice(body).map_err(|error| RemoteError::unread(&error))?;
    let choice = answer.choices.into_iter().next();
    let choice = choice.ok_or_else(|| RemoteError::Unfit("it has no choices".to_owned()))?;
    if choice.finish_reason.as_deref() == Some("length") {
        return Err(RemoteError::Unfit("it was cut off at the limit of tokens".to_owned()));
    }
    let tokens = answer.usage.as_ref().and_then(|usage| usage.total_tokens).filter(|tokens| *tokens >= 0);
    let usage = answer.usage.map(|usage| (usage.prompt_tokens, usage.completion_tokens)).unwrap_or_default();
    let usage = (usage.0.unwrap_or_default(), usage.1.unwrap_or_default());
    Ok(ChatAnswer { text: choice.message.content.unwrap_or_default(), tokens, usage })
}
