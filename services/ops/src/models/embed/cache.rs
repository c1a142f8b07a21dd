//! Caches the vectors of recent messages and of recently changed texts, so that a retried turn and a repeated search
//! are embedded once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use knowhow_domain::UserId;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, TextKind};
use crate::Asking;
use crate::models::remote::within;

/// Maximum number of bytes of all vectors together.
const CAPACITY: u64 = 16 * 1024 * 1024;
/// Approximate number of bytes in an entry without its vector.
const ENTRY_BYTES: usize = 200;

/// A text to embed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: TextKind,
}

/// Caches vectors by user and by a digest of model, kind and text. The user is part of the key, because a fast answer
/// would otherwise reveal that another user had sent the same text. If the cache is full, the least recently used
/// vectors are evicted first.
pub(crate) struct Cache(moka::future::Cache<(UserId, [u8; 32]), Arc<[f32]>>);

impl Default for Cache {
    fn default() -> Self {
        let weight = |vector: &Arc<[f32]>| u32::try_from(size_of_val(&vector[..]) + ENTRY_BYTES).unwrap_or(u32::MAX);
        Self(moka::future::Cache::builder().max_capacity(CAPACITY).weigher(move |_, vector| weight(vector)).build())
    }
}

impl Cache {
    /// Returns the vector of a text. If several callers request the same text concurrently, the embedder is asked
    /// once. All of these callers get its answer, each within its own deadline.
    pub(crate) async fn embed(
        &self,
        embedder: &dyn Embedder,
        text: Text<'_>,
        asking: Asking,
    ) -> Result<Arc<[f32]>, EmbedError> {
        let key = key(embedder, asking.asker.user, text);
        let asked = AtomicBool::new(false);
        let entry = async {
            loop {
                let work = async {
                    asked.store(true, Ordering::Relaxed);
                    let vectors = embedder.embed(vec![text.text.to_owned()], text.kind, asking).await?;
                    vectors.into_iter().next().map(Arc::from).ok_or(EmbedError::Stopped)
                };
                match self.0.try_get_with(key, work).await.map_err(|error| EmbedError::clone(&error)) {
                    // The caller that asked the embedder reached its deadline. Callers with later deadlines still
                    // wait, and one of these asks again.
                    Err(EmbedError::Late) if !asked.load(Ordering::Relaxed) => {}
                    outcome => return outcome,
                }
            }
        };
        within(asking.deadline, EmbedError::Late, entry).await
    }

    /// Returns the vectors of several messages, in their order. Asks the embedder once for all messages that are not
    /// cached.
    pub(crate) async fn embed_messages(
        &self,
        embedder: &dyn Embedder,
        texts: &[&str],
        asking: Asking,
    ) -> Result<Vec<Arc<[f32]>>, EmbedError> {
        let message = |text| Text { text, kind: TextKind::Message };
        if let [text] = texts {
            return Ok(vec![self.embed(embedder, message(text), asking).await?]);
        }
        let user = asking.asker.user;
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(self.find(embedder, user, text).await);
        }
        let lacking = texts.iter().zip(&vectors).filter(|(_, vector)| vector.is_none());
        let asked: Vec<String> = lacking.map(|(text, _)| (*text).to_owned()).collect();
        if asked.is_empty() {
            return Ok(vectors.into_iter().flatten().collect());
        }
        let made = embedder.embed(asked.clone(), TextKind::Message, asking);
        let mut made = within(asking.deadline, EmbedError::Late, made).await?.into_iter().zip(&asked);
        for vector in vectors.iter_mut().filter(|vector| vector.is_none()) {
            let (new, text) = made.next().ok_or(EmbedError::Stopped)?;
            let new: Arc<[f32]> = new.into();
            self.0.insert(key(embedder, user, message(text)), new.clone()).await;
            *vector = Some(new);
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Returns the vector of a message if it is cached. Never asks the embedder.
    pub(crate) async fn find(&self, embedder: &dyn Embedder, user: UserId, text: &str) -> Option<Arc<[f32]>> {
        self.0.get(&key(embedder, user, Text { text, kind: TextKind::Message })).await
    }
}

fn key(embedder: &dyn Embedder, user: UserId, Text { text, kind }: Text<'_>) -> (UserId, [u8; 32]) {
    let hash = Sha256::new().chain_update(embedder.model()).chain_update([0, u8::from(kind == TextKind::Document)]);
    let digest = hash.chain_update(text).finalize();
    (user, digest.into())
}
