//! The models of this process: one of each, shared by all its threads.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::UserId;
use knowhow_telemetry::metrics::Model;
use serde::Serialize;
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::chat::{ChatError, ChatModel};
use crate::embed::{Cache, EmbedError, Embedder, HttpEmbedder, LocalEmbedder, LocalSettings, Networks, TextKind};
use crate::remote::RemoteSettings;
use crate::{Asker, Asking, Priority};

/// Texts that may wait for the model in this process, of each priority.
const QUEUE: usize = 512;
/// Longest wait for the vector of what was just changed; then it is its job's.
const CHANGED_WITHIN: Duration = Duration::from_secs(30);

/// Settings of the models. With both a server of embeddings and a folder, the server is used.
#[derive(Default)]
pub struct ModelsSettings {
    /// Folder of the model that runs in this process.
    pub folder: Option<PathBuf>,
    /// Which of the folder's networks are used.
    pub networks: Networks,
    /// Threads that run it.
    pub threads: usize,
    /// A server of embeddings, and the numbers of its vectors.
    pub embeddings: Option<(RemoteSettings, usize)>,
    /// A server of a chat model.
    pub chat: Option<RemoteSettings>,
}

/// The embedding model and the chat model, both optional. Without them recall goes by words alone, and summaries are
/// extracts.
#[derive(Default)]
pub struct Models {
    /// The model that makes vectors, if one is configured and usable.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The chat model, if one is configured and usable.
    pub chat: Option<Arc<ChatModel>>,
    problem: Option<String>,
    recent: Cache,
}

/// How a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelState {
    /// It can be asked.
    Ready,
    /// Its server failed repeatedly and is left alone for a moment.
    Paused,
    /// It is configured and cannot be used; the log and `knowhow doctor` say why.
    Broken,
    /// None is configured.
    None,
}

/// How the models are. The service works without either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModelsStatus {
    /// Unless it is `ready`, skills and memories are found by their words alone.
    pub embeddings: ModelState,
    /// Unless it is `ready`, summaries are extracts.
    pub chat: ModelState,
}

/// A setting with which no model can be reached.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// Of the embeddings' server.
    #[error(transparent)]
    Embeddings(#[from] EmbedError),
    /// Of the chat model's server.
    #[error(transparent)]
    Chat(#[from] ChatError),
}

impl Models {
    /// Reads the model of the folder, which takes some tenths of a second, and prepares to reach the servers. A folder
    /// that cannot be used is no error: [`Models::problem`] tells of it.
    ///
    /// # Errors
    /// For settings that cannot work.
    pub fn open(settings: ModelsSettings) -> Result<Self, ModelsError> {
        let chat = settings.chat.map(ChatModel::new).transpose()?.map(Arc::new);
        let mut models = Self { chat, ..Self::default() };
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

    /// Why the model of the folder cannot be used.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Whether one is left alone after failures; `None` where there is none.
    pub fn is_paused(&self, model: Model) -> Option<bool> {
        match model {
            Model::Embeddings => self.embedder.as_ref().map(|embedder| embedder.is_paused()),
            Model::Chat => self.chat.as_ref().map(|chat| chat.is_paused()),
        }
    }

    /// How they are at this moment.
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

    /// The vector of a user's message or question, at the latest by the deadline; remembered for a while.
    ///
    /// # Errors
    /// Where there is none; the caller goes on by words.
    pub async fn embed_message(
        &self,
        asker: Asker,
        text: &str,
        deadline: Option<Instant>,
    ) -> Result<Arc<[f32]>, EmbedError> {
        self.embed(text, TextKind::Message, Asking { asker, priority: Priority::Turn, deadline }).await
    }

    /// Returns the vector of a text that messages will be compared with, by the deadline. Caches it for a while.
    ///
    /// # Errors
    /// If there is none; the text is then found by its words.
    pub(crate) async fn embed_document(
        &self,
        asker: Asker,
        text: &str,
        deadline: Option<Instant>,
    ) -> Result<Arc<[f32]>, EmbedError> {
        self.embed(text, TextKind::Document, Asking { asker, priority: Priority::Turn, deadline }).await
    }

    /// The vector of what a user has just changed; remembered likewise.
    ///
    /// # Errors
    /// Where there is none within a time in which a job has made it.
    pub(crate) async fn embed_changed(&self, asker: Asker, text: &str) -> Result<Arc<[f32]>, EmbedError> {
        let deadline = Some(Instant::now() + CHANGED_WITHIN);
        self.embed(text, TextKind::Document, Asking { asker, priority: Priority::Change, deadline }).await
    }

    async fn embed(&self, text: &str, kind: TextKind, asking: Asking) -> Result<Arc<[f32]>, EmbedError> {
        let embedder = self.embedder.as_deref().ok_or(EmbedError::NoModel)?;
        self.recent.embed(embedder, (text, kind), asking).await
    }

    /// The vector of a message that was embedded a while ago, and the model that made it.
    pub(crate) async fn find_message(&self, user: UserId, text: &str) -> Option<(&str, Arc<[f32]>)> {
        let embedder = self.embedder.as_deref()?;
        Some((embedder.model(), self.recent.find(embedder, user, text).await?))
    }
}
