//! A model behind an OpenAI-compatible `POST .../embeddings`.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use knowhow_domain::TenantId;
use knowhow_store::Places;
use knowhow_telemetry::metrics::Model;

use super::wire::{EmbedRequest, read_answer};
use super::{EmbedError, Embedder, TextKind, Vectors};
use crate::remote::{Remote, RemoteError, RemoteSettings, within};
use crate::{Asker, Asking, Priority};

/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// Bytes that a number of a vector takes in JSON, generously.
const BYTES_PER_NUMBER: usize = 25;
/// Most texts of one request; some servers take no more.
const BATCH: usize = 32;
/// Bytes a text is cut at: about 500 tokens of English, as many as small models read. Their servers refuse more.
const TEXT_BYTES: usize = 2000;
/// Bytes that are within 500 tokens in any writing: of dense ones, and of digits, a token is as short as a byte.
const SURE_BYTES: usize = 500;

/// Questions of turns that one tenant may have there at once, a quarter of all: the others find a place whatever one asks.
const TURNS_OF_TENANT: usize = 8;

/// A client of an embeddings server.
pub struct HttpEmbedder {
    remote: Remote,
    /// With the numbers of a vector, as the server's model may have vectors of several sizes.
    name: String,
    dims: usize,
    batch: usize,
    /// Whether the server must be asked for that number, as its model has another one by itself.
    asks_dims: AtomicBool,
    turns: Places<TenantId>,
}

impl HttpEmbedder {
    /// A client for vectors of `dims` numbers; nothing is sent yet.
    ///
    /// # Errors
    /// For settings that cannot work.
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
            turns: Places::new(TURNS_OF_TENANT),
        })
    }

    async fn run(&self, mut texts: Vec<String>, asker: Asker, priority: Priority) -> Result<Vectors, EmbedError> {
        let share = self.turns.of(asker.tenant);
        // Changes and bulk have places of their own there. The semaphore is never closed.
        let _share = if priority == Priority::Turn { share.acquire().await.ok() } else { None };
        cut(&mut texts, TEXT_BYTES);
        let mut vectors = Vectors::with_capacity(texts.len());
        for part in texts.chunks_mut(self.batch) {
            vectors.extend(self.ask_for_less(part, priority).await?);
        }
        Ok(vectors)
    }

    /// One batch. Where it is refused, perhaps as texts of more tokens than the model reads, it is asked for with half
    /// of the longest, at most twice.
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

    /// One batch. A model that has longer vectors is asked, from then on, to shorten them.
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

    /// Servers are not told the kind: OpenAI's API has no word for it.
    fn embed(&self, texts: Vec<String>, _: TextKind, asking: Asking) -> BoxFuture<'_, Result<Vectors, EmbedError>> {
        Box::pin(within(asking.deadline, EmbedError::Late, self.run(texts, asking.asker, asking.priority)))
    }
}

fn cut(texts: &mut [String], bytes: usize) {
    for text in texts {
        text.truncate(text.floor_char_boundary(bytes));
    }
}
