//! The state of the models of this process.

use std::time::Duration;

use knowhow_domain::Result;
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::models::chat::{ChatLimits, Prompt};
use crate::models::embed::TextKind;
use crate::{Asker, Asking, Ctx, ModelState, Models, Priority};

/// Timeout of a test request to a model.
const PATIENCE: Duration = Duration::from_secs(10);

/// The models of the answering process. Other processes may have different models.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelsHealth {
    /// The embedding model. Unless it is `ready`, skills and memories are searched by words only.
    pub embeddings: ModelHealth,
    /// The chat model, for summaries and other texts. Unless it is `ready`, summaries are extracts.
    pub chat: ModelHealth,
}

/// The state of a model.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ModelHealth {
    /// The state according to earlier requests of the process.
    pub state: ModelState,
    /// The model's name; absent if no model is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Dimensions of a vector; only for the embedding model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dims: Option<usize>,
    /// Whether the model answered the test request, if one was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<bool>,
    /// Duration of the test request, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The reason why the model cannot be used or did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns the state of the models. With `ask`, sends a test request to each model, with lower priority than turns.
///
/// # Errors
/// `Forbidden` if the caller is not an operator, as the models are shared by all tenants.
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

/// The result of a test request: its duration, or the error; `None` if no model is configured.
type ProbeResult = Option<Result<Duration, String>>;

impl ModelHealth {
    fn in_state(state: ModelState) -> Self {
        Self { state, model: None, dims: None, answers: None, elapsed_ms: None, problem: None }
    }

    fn note(&mut self, probe: ProbeResult) {
        match probe {
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

async fn ask_embedder(models: &Models) -> ProbeResult {
    let (embedder, since) = (models.embedder.as_ref()?, Instant::now());
    let asking = Asking { asker: Asker::HOUSE, priority: Priority::Change, deadline: Some(since + PATIENCE) };
    let probe = embedder.embed(vec!["Is anybody there?".to_owned()], TextKind::Message, asking).await;
    Some(probe.map(|_| since.elapsed()).map_err(|error| error.to_string()))
}

async fn ask_chat(models: &Models) -> ProbeResult {
    let (chat, since) = (models.chat.as_ref()?, Instant::now());
    let limits = ChatLimits { tokens: 2048, bytes: 4096, total: PATIENCE };
    let prompt = Prompt { system: "Answer with one word.", user: "Is anybody there?" };
    let probe = chat.complete(prompt, Priority::Change, limits).await;
    Some(probe.map(|_| since.elapsed()).map_err(|error| error.to_string()))
}
