//! How the models are that the process answers with.

use std::time::Duration;

use knowhow_domain::Result;
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::chat::{ChatLimits, Prompt};
use crate::embed::TextKind;
use crate::{Asker, Asking, Ctx, ModelState, Models, Priority};

/// Longest wait for the answer of a model that is asked whether it is there.
const PATIENCE: Duration = Duration::from_secs(10);

/// The models of the process that answers. Another process may have others.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelsHealth {
    /// Makes vectors. Unless it is `ready`, skills and memories are found by their words alone.
    pub embeddings: ModelHealth,
    /// Writes summaries and more. Unless it is `ready`, summaries are extracts.
    pub chat: ModelHealth,
}

/// How a model is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelHealth {
    /// As the process has found it by what it asked.
    pub state: ModelState,
    /// What it is called; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Numbers of a vector, of the one that makes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dims: Option<usize>,
    /// Where it was asked now: whether it has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<bool>,
    /// How long the answer took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Why it cannot be used, or did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Says how the models are; with `ask` it asks each for a word, in the line behind what turns ask.
///
/// # Errors
/// `Forbidden` for anyone but an operator: they are of all tenants together.
pub async fn get_models(ctx: &Ctx, ask: bool) -> Result<ModelsHealth> {
    ctx.principal.require_operator()?;
    let models = &ctx.app.models;
    let status = models.status();
    let embedder = models.embedder.as_ref();
    let mut embeddings = ModelHealth {
        model: embedder.map(|embedder| embedder.model().to_owned()),
        dims: embedder.map(|embedder| embedder.dims()),
        problem: models.problem().map(str::to_owned),
        ..ModelHealth::in_state(status.embeddings)
    };
    let model = models.chat.as_ref().map(|chat| chat.model().to_owned());
    let mut chat = ModelHealth { model, ..ModelHealth::in_state(status.chat) };
    if ask {
        let (first, second) = futures_util::future::join(ask_embedder(models), ask_chat(models)).await;
        embeddings.note(first);
        chat.note(second);
    }
    Ok(ModelsHealth { embeddings, chat })
}

/// What came of asking: how long the answer took, or why there was none.
type Asked = Option<Result<Duration, String>>;

impl ModelHealth {
    fn in_state(state: ModelState) -> Self {
        Self { state, model: None, dims: None, answers: None, elapsed_ms: None, problem: None }
    }

    fn note(&mut self, asked: Asked) {
        match asked {
            None => {}
            Some(Ok(elapsed)) => {
                self.answers = Some(true);
                self.elapsed_ms = u64::try_from(elapsed.as_millis()).ok();
            }
            Some(Err(problem)) => {
                self.answers = Some(false);
                self.problem = Some(problem);
            }
        }
    }
}

async fn ask_embedder(models: &Models) -> Asked {
    let (embedder, since) = (models.embedder.as_ref()?, Instant::now());
    let asking = Asking { asker: Asker::HOUSE, priority: Priority::Change, deadline: Some(since + PATIENCE) };
    let asked = embedder.embed(vec!["Is anybody there?".to_owned()], TextKind::Message, asking).await;
    Some(asked.map(|_| since.elapsed()).map_err(|error| error.to_string()))
}

async fn ask_chat(models: &Models) -> Asked {
    let (chat, since) = (models.chat.as_ref()?, Instant::now());
    let limits = ChatLimits { tokens: 2048, bytes: 4096, total: PATIENCE };
    let prompt = Prompt { system: "Answer with one word.", user: "Is anybody there?" };
    let asked = chat.complete(prompt, Priority::Change, limits).await;
    Some(asked.map(|_| since.elapsed()).map_err(|error| error.to_string()))
}
