//! Vectors of messages, for a while: a retried turn and a repeated search are embedded once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use knowhow_domain::UserId;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder};
use crate::Asking;
use crate::remote::within;

/// Bytes of all vectors together.
const CAPACITY: u64 = 16 * 1024 * 1024;
/// What an entry takes besides its vector, about.
const ENTRY_BYTES: usize = 200;

/// Vectors by their user, as how soon one comes would tell others what was asked before, and by a digest of model and
/// text. Bounded; what was not used for long goes first.
pub(crate) struct Cache(moka::future::Cache<(UserId, [u8; 32]), Arc<[f32]>>);

impl Default for Cache {
    fn default() -> Self {
        let weight = |vector: &Arc<[f32]>| u32::try_from(size_of_val(&vector[..]) + ENTRY_BYTES).unwrap_or(u32::MAX);
        Self(moka::future::Cache::builder().max_capacity(CAPACITY).weigher(move |_, vector| weight(vector)).build())
    }
}

impl Cache {
    /// The vector of a text. Of callers that want the same at once, one asks and all get its answer, each by its own
    /// deadline.
    pub(crate) async fn embed(
        &self,
        embedder: &dyn Embedder,
        text: &str,
        asking: Asking,
    ) -> Result<Arc<[f32]>, EmbedError> {
        let Asking { asker, priority, deadline } = asking;
        let key = key(embedder, asker.user, text);
        let asked = AtomicBool::new(false);
        let entry = async {
            loop {
                let work = async {
                    asked.store(true, Ordering::Relaxed);
                    let vectors = embedder.embed(vec![text.to_owned()], asker, priority, deadline).await?;
                    vectors.into_iter().next().map(Arc::from).ok_or(EmbedError::Stopped)
                };
                match self.0.try_get_with(key, work).await.map_err(|error| EmbedError::clone(&error)) {
                    // Too late for whoever asked; the others have time of their own.
                    Err(EmbedError::Late) if !asked.load(Ordering::Relaxed) => {}
                    outcome => return outcome,
                }
            }
        };
        within(deadline, EmbedError::Late, entry).await
    }

    /// The vector of a text, where it was made a while ago; nobody is asked.
    pub(crate) async fn find(&self, embedder: &dyn Embedder, user: UserId, text: &str) -> Option<Arc<[f32]>> {
        self.0.get(&key(embedder, user, text)).await
    }
}

fn key(embedder: &dyn Embedder, user: UserId, text: &str) -> (UserId, [u8; 32]) {
    let digest = Sha256::new().chain_update(embedder.model()).chain_update([0]).chain_update(text).finalize();
    (user, digest.into())
}
