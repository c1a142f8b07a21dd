//! An embedding model behind an OpenAI-compatible `POST .../embeddings`.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use knowhow_domain::TenantId;
use knowhow_store::KeyedSemaphores;
use knowhow_telemetry::metrics::Model;

use super::wire::{EmbedRequest, read_answer};
use super::{EmbedError, Embedder, TextKind, Vectors};
use crate::models::remote::{Remote, RemoteError, RemoteSettings, within};
use crate::{Asker, Asking, Priority};

/// Maximum number of bytes in an answer.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// Maximum number of bytes in one vector element in JSON.
const BYTES_PER_NUMBER: usize = 25;
/// Maximum number of texts in one request; some servers reject more.
const BATCH: usize = 32;
/// Maximum number of bytes in a text; longer texts are truncated. This is about 500 tokens of English, the limit of
/// small models. Servers of small models reject longer texts.
const TEXT_BYTES: usize = 2000;
/// Number of bytes that contain at most 500 tokens in any script. In dense scripts, and for digits, a token can be a
/// single byte.
const SURE_BYTES: usize = 500;

/// Maximum number of concurrent turn requests per tenant, a quarter of all, so that other tenants always get a slot.
const TURNS_OF_TENANT: usize = 8;

/// A client of an embeddings server.
pub struct HttpEmbedder {
    remote: Remote,
    /// The model's name with the number of dimensions, as the server's model may support several.
    name: String,
    dims: usize,
    batch: usize,
    /// Whether to send `dimensions` with requests, as the model's default is larger.
    asks_dims: AtomicBool,
    turns: KeyedSemaphores<TenantId>,
}

impl HttpEmbedder {
    /// Creates a client for vectors of `dims` numbers, without sending a request.
    ///
    /// # Errors
    /// Invalid settings.
    pub fn new(settings: RemoteSettings, dims: usize) -> Result<Self, EmbedError> {
        let most = MAX_ANSWER / BYTES_PER_NUMBER;
        if dims == 0 || dims > most {
            return Err(EmbedError::Setting(format!("the dimensions of a vector must be 1 to {most}")));
        }
        let name = format!("{}@{dims}", settings.model);
        let remote = Remote::new(settings, "embeddings", MAX_ANSWER, Model::Embeddings)?;
        Ok(Self {
            remote,
            name,
            dims,
            batch: BATCH.min(most / dims),
            asks_dims: AtomicBool::new(false),
            turns: KeyedSemaphores::new(TURNS_OF_TENANT),
        })
    }

    async fn run(&self, mut texts: Vec<String>, asker: Asker, priority: Priority) -> Result<Vectors, EmbedError> {
        let share = self.turns.of(asker.tenant);
        // Changes and bulk work have their own slots in `Remote`. The semaphore is never closed.
        let _share = if priority == Priority::Turn { share.acquire().await.ok() } else { None };
        cut(&mut texts, TEXT_BYTES);
        let mut vectors = Vectors::with_capacity(texts.len());
        for part in texts.chunks_mut(self.batch) {
            vectors.extend(self.ask_for_less(part, priority).await?);
        }
        Ok(vectors)
    }

    /// Embeds one batch. The server may reject the batch because of too many tokens. The longest texts are then
    /// halved and the batch is sent again, at most twice.
    async fn ask_for_less(&self, texts: &mut [String], priority: Priority) -> Result<Vectors, RemoteError> {
        loop {
            let outcome = self.ask(texts, priority).await;
            let longest = texts.iter().map(String::len).max().unwrap_or_default();
            if longest <= SURE_BYTES || !matches!(outcome, Err(RemoteError::Refused { status: 400 | 413, .. })) {
                return outcome;
            }
            cut(texts, (longest / 2).max(SURE_BYTES));
        }
    }

    /// Embeds one batch. If the model returns longer vectors, this and all later requests ask for vectors of `dims`
    /// numbers.
    async fn ask(&self, texts: &[String], priority: Priority) -> Result<Vectors, RemoteError> {
        loop {
            let asks = self.asks_dims.load(Ordering::Relaxed);
            let question = EmbedRequest::new(self.remote.model(), texts, asks.then_some(self.dims));
            let vectors = self.remote.ask(priority, &question, |body| read_answer(body, texts.len())).await?;
            match vectors.iter().map(Vec::len).find(|&length| length != self.dims) {
                None => return Ok(vectors),
                Some(length) if length > self.dims && !asks => self.asks_dims.store(true, Ordering::Relaxed),
                Some(length) => {
                    let detail = format!("a vector of {length} numbers instead of {}", self.dims);
                    return Err(RemoteError::Unfit(detail));
                }
            }
        }
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn is_paused(&self) -> bool {
        self.remote.is_paused()
    }

    /// Ignores the kind of text, as OpenAI's API has no parameter for it.
    fn embed(&self, texts: Vec<String>, _: TextKind, asking: Asking) -> BoxFuture<'_, Result<Vectors, EmbedError>> {
        Box::pin(within(asking.deadline, EmbedError::Late, self.run(texts, asking.asker, asking.priority)))
    }
}

fn cut(texts: &mut [String], bytes: usize) {
    for text in texts {
        text.truncate(text.floor_char_boundary(bytes));
    }
}
