//! Keeps the vectors of recent messages and of texts that were just changed, so that a retried turn and a repeated search are embedded once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use knowhow_domain::UserId;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, TextKind};
use crate::Asking;
use crate::remote::within;

/// Bytes of all vectors together.
const CAPACITY: u64 = 16 * 1024 * 1024;
/// Bytes of an entry besides its vector, roughly.
const ENTRY_BYTES: usize = 200;

/// Keeps vectors by user and by a digest of model, kind and text. The user is part of the key because a fast answer would
/// otherwise tell one user that another one had asked the same. When it is full, the vectors unused for longest go
/// first.
pub(crate) struct Cache(moka::future::Cache<(UserId, [u8; 32]), Arc<[f32]>>);

impl Default for Cache {
    fn default() -> Self {
        let weight = |vector: &Arc<[f32]>| u32::try_from(size_of_val(&vector[..]) + ENTRY_BYTES).unwrap_or(u32::MAX);
        Self(moka::future::Cache::builder().max_capacity(CAPACITY).weigher(move |_, vector| weight(vector)).build())
    }
}

impl Cache {
    /// Returns the vector of a text. When several callers want the same text at once, one of them asks the embedder and
    /// all get its answer, each within its own deadline.
    pub(crate) async fn embed(
        &self,
        embedder: &dyn Embedder,
        (text, kind): (&str, TextKind),
        asking: Asking,
    ) -> Result<Arc<[f32]>, EmbedError> {
        let key = key(embedder, asking.asker.user, (text, kind));
        let asked = AtomicBool::new(false);
        let entry = async {
            loop {
                let work = async {
                    asked.store(true, Ordering::Relaxed);
                    let vectors = embedder.embed(vec![text.to_owned()], kind, asking).await?;
                    vectors.into_iter().next().map(Arc::from).ok_or(EmbedError::Stopped)
                };
                match self.0.try_get_with(key, work).await.map_err(|error| EmbedError::clone(&error)) {
                    // The caller that asked ran out of time. Others have later deadlines, so one of them asks again.
                    Err(EmbedError::Late) if !asked.load(Ordering::Relaxed) => {}
                    outcome => return outcome,
                }
            }
        };
        within(asking.deadline, EmbedError::Late, entry).await
    }

    /// Returns the vector of a message if it is cached. Never asks the embedder.
    pub(crate) async fn find(&self, embedder: &dyn Embedder, user: UserId, text: &str) -> Option<Arc<[f32]>> {
        self.0.get(&key(embedder, user, (text, TextKind::Message))).await
    }
}

fn key(embedder: &dyn Embedder, user: UserId, (text, kind): (&str, TextKind)) -> (UserId, [u8; 32]) {
    let hash = Sha256::new().chain_update(embedder.model()).chain_update([0, u8::from(kind == TextKind::Document)]);
    let digest = hash.chain_update(text).finalize();
    (user, digest.into())
}
