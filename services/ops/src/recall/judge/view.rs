//! Defines the result of judging, as the API shows it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::models::chat::ChatError;
use crate::models::remote::RemoteError;

/// Result of judging the found skills with a chat model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Judged {
    /// Whether the model was asked.
    pub asked: bool,
    /// Number of candidates in the prompt.
    pub candidates: usize,
    /// Number of candidates that the model chose; absent without a usable answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub chosen: Option<usize>,
    /// Number of tokens in prompt and answer, as counted by the model's server, or else estimated.
    #[schema(minimum = 0)]
    pub tokens: i64,
    /// Number of tokens that the user has left on this UTC day; absent if the model was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, required = false)]
    pub tokens_left_today: Option<i64>,
    /// The reason why there is no usable answer, so that recall alone decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, inline)]
    pub failure: Option<JudgeFailure>,
}

/// The reason why a model did not judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JudgeFailure {
    /// The user's remaining daily tokens (`judge_tokens_per_day`) do not suffice for the prompt.
    Budget,
    /// The model did not answer by the deadline, or too little time was left to ask.
    Deadline,
    /// The model's server failed repeatedly and receives no requests for some seconds.
    Paused,
    /// The server is unreachable, or rejected the request.
    Failed,
    /// The answer is not in the required form.
    Unusable,
}

impl From<&ChatError> for JudgeFailure {
    fn from(error: &ChatError) -> Self {
        match error {
            ChatError::Remote(RemoteError::Late | RemoteError::Silent(_)) => Self::Deadline,
            ChatError::Remote(RemoteError::Paused(_)) => Self::Paused,
            ChatError::Remote(RemoteError::Unreachable(_) | RemoteError::Refused { .. } | RemoteError::Setting(_)) => {
                Self::Failed
            }
            ChatError::Remote(RemoteError::BadAnswer(_) | RemoteError::Unfit(_))
            | ChatError::Empty
            | ChatError::TooLong
            | ChatError::Unfit(_) => Self::Unusable,
        }
    }
}
