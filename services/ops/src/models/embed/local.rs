//! An embedding model in this process, on its own threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;

use futures_util::future::BoxFuture;
use knowhow_domain::recall::{Examples, list_chatter};
use knowhow_encoder::Encoder;
use knowhow_telemetry::metrics::{self, Asked, Model};

use super::queue::{Batch, Queue};
use super::queued_text::QueuedText;
use super::{EmbedError, Embedder, Networks, TextKind, Vectors};
use crate::models::remote::within;
use crate::{Asker, Asking, Priority};

/// Settings of the local model.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// Folder of the model.
    pub folder: PathBuf,
    /// The networks of the model to use.
    pub networks: Networks,
    /// Number of threads; each uses a core while there is work.
    pub threads: usize,
    /// Maximum number of queued texts per priority.
    pub queue: usize,
}

/// A sentence encoder loaded from a folder.
pub struct LocalEmbedder {
    model: String,
    encoder: Arc<Encoder>,
    queue: Arc<Queue>,
    chatter: Arc<OnceLock<Examples>>,
}

impl LocalEmbedder {
    /// Loads the model, which takes some tenths of a second, and starts its threads.
    ///
    /// # Errors
    /// If the folder contains no usable model, or a thread cannot be started.
    pub fn start(settings: &LocalSettings) -> Result<Self, EmbedError> {
        let encoder = Arc::new(Encoder::open(&settings.folder, settings.networks)?);
        let model = encoder.name().map_or_else(|| folder_name(&settings.folder), str::to_owned);
        let embedder = Self {
            model,
            encoder,
            queue: Arc::new(Queue::new(settings.queue.max(1), settings.threads)),
            chatter: Arc::default(),
        };
        for number in 0..settings.threads.max(1) {
            let (encoder, queue) = (embedder.encoder.clone(), embedder.queue.clone());
            start_thread(format!("embed-{number}"), move || work(&encoder, &queue))?;
        }
        embedder.learn_chatter()?;
        Ok(embedder)
    }

    /// Embeds the small-talk phrases that need no skill, before any other text. Until they are embedded, small talk
    /// finds skills, and on a busy machine they would wait for every message queued before them. The work takes a
    /// tenth of a second. The phrases are skipped if the queue limit is too small.
    fn learn_chatter(&self) -> Result<(), EmbedError> {
        let texts = list_chatter().map(str::to_owned).collect();
        let asking = Asking { asker: Asker::HOUSE, priority: Priority::Turn, deadline: None };
        let Ok(waiting) = self.queue.push(texts, TextKind::Message, asking) else { return Ok(()) };
        let chatter = self.chatter.clone();
        let wait = move || {
            if let Ok(Ok(vectors)) = waiting.blocking_recv() {
                let _ = chatter.set(Examples::new((0..).zip(vectors.iter().map(Vec::as_slice))));
            }
        };
        start_thread("embed-chatter".to_owned(), wait)
    }
}

/// Returns the name of the folder. If the path is a symbolic link, this is the name of its target.
fn folder_name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn start_thread(name: String, work: impl FnOnce() + Send + 'static) -> Result<(), EmbedError> {
    let started = thread::Builder::new().name(name).spawn(work);
    started
        .map(|_| ())
        .map_err(|error| EmbedError::Setting(format!("a thread for embeddings cannot be started: {error}")))
}

impl Embedder for LocalEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dims(&self) -> usize {
        self.encoder.dims()
    }

    fn chatter(&self) -> Option<&Examples> {
        self.chatter.get()
    }

    fn embed(
        &self,
        mut texts: Vec<String>,
        kind: TextKind,
        asking: Asking,
    ) -> BoxFuture<'_, Result<Vectors, EmbedError>> {
        if texts.is_empty() {
            return Box::pin(async { Ok(Vectors::new()) });
        }
        for text in &mut texts {
            text.truncate(text.floor_char_boundary(self.encoder.max_bytes()));
            text.shrink_to_fit();
        }
        let waiting = self.queue.push(texts, kind, asking);
        Box::pin(async move {
            let request = metrics::asking(Model::Embeddings);
            let answered = async { waiting?.await.unwrap_or(Err(EmbedError::Stopped)) };
            let answered = within(asking.deadline, EmbedError::Late, answered).await;
            request.ended(match &answered {
                Ok(_) => Asked::Ok,
                Err(EmbedError::Late) => Asked::Timeout,
                Err(EmbedError::Busy(_) | EmbedError::TooMany(_)) => Asked::Refused,
                Err(_) => Asked::Error,
            });
            answered
        })
    }
}

impl Drop for LocalEmbedder {
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn work(encoder: &Encoder, queue: &Queue) {
    // The threads of the model have no lower priority: a turn would wait long for its vector during a flood of cheap
    // requests.
    while let Some(batch) = queue.next() {
        run_in_turn(encoder, queue, batch);
    }
}

/// Runs a batch and, between its layers, texts that may overtake the batch. A long text takes a tenth of a second. A
/// text that may overtake it waits for at most one layer.
fn run_in_turn(encoder: &Encoder, queue: &Queue, mut batch: Batch) {
    let mut was_alone = true;
    let tasks = std::mem::take(&mut batch.tasks);
    run(encoder, tasks, &mut || {
        while let Some(first) = queue.next_before(&batch) {
            was_alone = false;
            run_in_turn(encoder, queue, first);
        }
    });
    queue.note_done(&batch, was_alone);
}

/// Runs a batch. A panic in the model fails only this batch, not the thread.
fn run(encoder: &Encoder, tasks: Vec<QueuedText>, pause: &mut dyn FnMut()) {
    let vectors = catch_unwind(AssertUnwindSafe(|| {
        let tokens: Vec<_> = tasks.iter().map(|task| encoder.tokens(&task.text, task.kind)).collect();
        encoder.encode(&tokens, pause)
    }));
    match vectors {
        Ok(vectors) => tasks.into_iter().zip(vectors).for_each(|(task, vector)| task.finish(vector)),
        Err(_) => tasks.into_iter().for_each(QueuedText::fail),
    }
}
