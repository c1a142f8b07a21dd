//! The models of this process, shared by all its threads.

pub mod chat;
pub mod embed;
pub(crate) mod remote;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::UserId;
use knowhow_telemetry::metrics::Model;
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::models::chat::{ChatError, ChatModel};
use crate::models::embed::{
    Cache, EmbedError, Embedder, HttpEmbedder, LocalEmbedder, LocalSettings, Networks, Text, TextKind,
};
use crate::models::remote::RemoteSettings;
use crate::{Asker, Asking, Priority};

/// Maximum number of texts queued for the local model, per priority.
const QUEUE: usize = 512;
/// Maximum wait for the vector of changed text; after this time a job computes the vector.
const CHANGED_WITHIN: Duration = Duration::from_secs(30);

/// Settings of the models. If both an embeddings server and a folder are set, the server is used.
#[derive(Default)]
pub struct ModelsSettings {
    /// Folder of the local model; `None` for no local model.
    pub folder: Option<PathBuf>,
    /// The networks of the folder to use.
    pub networks: Networks,
    /// Number of threads of the local model.
    pub threads: usize,
    /// An embeddings server and the dimensions of its vectors; `None` for no server.
    pub embeddings: Option<(RemoteSettings, usize)>,
    /// The server of a chat model; `None` for no chat model.
    pub chat: Option<RemoteSettings>,
}

/// The embedding model and the chat model, both optional. Without them recall searches by words, and summaries are
/// extracts.
#[derive(Default)]
pub struct Models {
    /// The embedding model, if one is configured and usable.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The chat model, if one is configured and usable.
    pub chat: Option<Arc<ChatModel>>,
    /// The chat model for prompts that a turn waits for. Requests are not retried, and have their own circuit breaker:
    /// turns give up early, and must not pause the model for jobs.
    pub judge: Option<Arc<ChatModel>>,
    problem: Option<String>,
    recent: Cache,
}

/// The state of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelState {
    /// The model accepts requests.
    Ready,
    /// The server failed repeatedly, so requests are paused for a moment.
    Paused,
    /// The model is configured but cannot be used; the log and `knowhow doctor` give the reason.
    Broken,
    /// No model is configured.
    None,
}

/// The state of the models. The service works without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModelsStatus {
    /// State of the embedding model. Unless it is `ready`, skills and memories are searched by words only.
    pub embeddings: ModelState,
    /// State of the chat model. Unless it is `ready`, summaries are extracts.
    pub chat: ModelState,
}

/// An invalid setting of a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// An invalid setting of the embeddings server.
    #[error(transparent)]
    Embeddings(#[from] EmbedError),
    /// An invalid setting of the chat model's server.
    #[error(transparent)]
    Chat(#[from] ChatError),
}

impl Models {
    /// Loads the local model, which takes some tenths of a second, and prepares clients of the servers. An unusable
    /// folder is not an error, see [`Models::problem`].
    ///
    /// # Errors
    /// Invalid settings.
    pub fn open(settings: ModelsSettings) -> Result<Self, ModelsError> {
        let once = settings.chat.clone().map(|chat| RemoteSettings { retries: 0, ..chat });
        let judge = once.map(ChatModel::new).transpose()?.map(Arc::new);
        let chat = settings.chat.map(ChatModel::new).transpose()?.map(Arc::new);
        let mut models = Self { chat, judge, ..Self::default() };
        if let Some((remote, dims)) = settings.embeddings {
            models.embedder = Some(Arc::new(HttpEmbedder::new(remote, dims)?));
        } else if let Some(folder) = settings.folder {
            let ModelsSettings { networks, threads, .. } = settings;
            match LocalEmbedder::start(&LocalSettings { folder, networks, threads, queue: QUEUE }) {
                Ok(embedder) => models.embedder = Some(Arc::new(embedder)),
                Err(error) => models.problem = Some(error.to_string()),
            }
        }
        Ok(models)
    }

    /// Returns the name of the embedding model, if there is one.
    pub fn embedding_model(&self) -> Option<&str> {
        self.embedder.as_deref().map(|embedder| embedder.model())
    }

    /// Returns the reason why the local model cannot be used; `None` if it is usable or not configured.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Returns whether requests to a model are paused after failures; `None` if it is not configured.
    pub fn is_paused(&self, model: Model) -> Option<bool> {
        match model {
            Model::Embeddings => self.embedder.as_ref().map(|embedder| embedder.is_paused()),
            Model::Chat => self.chat.as_ref().map(|chat| chat.is_paused()),
        }
    }

    /// Returns the current state of the models.
    pub fn status(&self) -> ModelsStatus {
        let state = |paused: Option<bool>| match paused {
            Some(false) => ModelState::Ready,
            Some(true) => ModelState::Paused,
            None => ModelState::None,
        };
        let embeddings = match state(self.is_paused(Model::Embeddings)) {
            ModelState::None if self.problem.is_some() => ModelState::Broken,
            state => state,
        };
        ModelsStatus { embeddings, chat: state(self.is_paused(Model::Chat)) }
    }

    /// Returns the vector of a user's message or question, by the deadline. Caches it for a while.
    ///
    /// # Errors
    /// No vector by the deadline, or no model; the caller then searches by words.
    pub async fn embed_message(
        &self,
        asker: Asker,
        text: &str,
        deadline: Option<Instant>,
    ) -> Result<Arc<[f32]>, EmbedError> {
        self.embed(text, TextKind::Message, Asking { asker, priority: Priority::Turn, deadline }).await
    }

    /// Returns the vectors of several messages, in their order. Asks the model once for all messages that are not
    /// cached.
    ///
    /// # Errors
    /// No vector for at least one text; the caller then searches for all texts by words.
    pub(crate) async fn embed_messages(
        &self,
        asker: Asker,
        texts: &[impl AsRef<str>],
        deadline: Option<Instant>,
    ) -> Result<Vec<Arc<[f32]>>, EmbedError> {
        let embedder = self.embedder.as_deref().ok_or(EmbedError::NoModel)?;
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        self.recent.embed_messages(embedder, &texts, Asking { asker, priority: Priority::Turn, deadline }).await
    }

    /// Returns the vector of a text that messages will be compared with, by the deadline. Caches it for a while.
    ///
    /// # Errors
    /// No vector by the deadline, or no model; the text is then found by words.
    pub(crate) async fn embed_document(
        &self,
        asker: Asker,
        text: &str,
        deadline: Option<Instant>,
    ) -> Result<Arc<[f32]>, EmbedError> {
        self.embed(text, TextKind::Document, Asking { asker, priority: Priority::Turn, deadline }).await
    }

    /// Returns the vector of a text that a user has just changed. Caches it for a while.
    ///
    /// # Errors
    /// No vector within the time limit; a job then computes the vector.
    pub(crate) async fn embed_changed(&self, asker: Asker, text: &str) -> Result<Arc<[f32]>, EmbedError> {
        let deadline = Some(Instant::now() + CHANGED_WITHIN);
        self.embed(text, TextKind::Document, Asking { asker, priority: Priority::Change, deadline }).await
    }

    async fn embed(&self, text: &str, kind: TextKind, asking: Asking) -> Result<Arc<[f32]>, EmbedError> {
        let embedder = self.embedder.as_deref().ok_or(EmbedError::NoModel)?;
        self.recent.embed(embedder, Text { text, kind }, asking).await
    }

    /// Returns the vector of an earlier message with the name of its model, if it is cached.
    pub(crate) async fn find_message(&self, user: UserId, text: &str) -> Option<(&str, Arc<[f32]>)> {
        let embedder = self.embedder.as_deref()?;
        Some((embedder.model(), self.recent.find(embedder, user, text).await?))
    }
}
