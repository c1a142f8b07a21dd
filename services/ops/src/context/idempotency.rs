//! Runs a request once per idempotency key, and stores its answer.

use knowhow_domain::{Error, Result, SubmissionId};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions;
use knowhow_store::tenants::idempotency::{self, KeyedRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Ctx;

/// The member of a stored answer with the id of a pending submission. No answer to an operation has a member of this
/// name.
const WAITING: &str = "waiting_submission";

/// A request that an idempotency key is bound to, and the way to store its answer.
pub(crate) struct Request<'a, R, L> {
    /// The content of the request; its digest is bound to the key.
    pub(crate) asked: &'a R,
    /// Removes and restores the long text of the answer.
    pub(crate) long: &'a L,
}

/// Removes and restores a long text of an answer. The text is already stored, or part of the request, so the answer
/// is stored without it.
pub(crate) trait LongText<T> {
    /// Removes the text before the answer is stored.
    fn shorten(&self, answer: &mut T);

    /// Restores the text.
    async fn restore(&self, tx: &mut WriteTx, answer: &mut T) -> Result<()>;
}

/// An answer without a long text.
struct NoLongText;

impl<T> LongText<T> for NoLongText {
    fn shorten(&self, _: &mut T) {}

    async fn restore(&self, _: &mut WriteTx, _: &mut T) -> Result<()> {
        Ok(())
    }
}

impl Ctx {
    /// Returns the context for one part of a request with several effects, with a derived idempotency key.
    pub(crate) fn part(&self, part: impl std::fmt::Display) -> Self {
        Self { app: self.app.clone(), principal: self.principal.clone(), call: self.call.part(part) }
    }

    /// Runs `work` once per idempotency key; a repeated request gets the first answer. The caller commits. The whole
    /// answer is stored, so use [`Ctx::once_in_short`] for long answers.
    pub(crate) async fn once<T: Serialize + DeserializeOwned + Clone>(
        &self,
        tx: &mut WriteTx,
        request: &impl Serialize,
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        self.once_in_short(tx, Request { asked: request, long: &NoLongText }, work).await
    }

    /// Runs `work` once per idempotency key, and stores the answer without its long text. The key is claimed in the
    /// first round trip of `work`, and the answer is stored with COMMIT.
    pub(crate) async fn once_in_short<T: Serialize + DeserializeOwned + Clone>(
        &self,
        tx: &mut WriteTx,
        request: Request<'_, impl Serialize, impl LongText<T>>,
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        let (Some(key), Some(digest)) = (&self.call.idempotency_key, self.keyed(request.asked)?) else {
            return work(tx).await;
        };
        // A single timestamp, so that the key cannot expire between claim and answer.
        let keyed = KeyedRequest { key, digest: &digest, now: self.now() };
        idempotency::claim(tx, keyed);
        let done = work(tx).await;
        match tx.is_repeated().await {
            // The request is a repetition, so the result of `work` is ignored.
            Ok(true) => {
                let kept = idempotency::find_answer(tx, keyed).await?;
                if let Some(id) = kept.get(WAITING).and_then(Value::as_str) {
                    let id = id.parse().map_err(Error::internal)?;
                    let submission = submissions::find_in(tx, id).await?;
                    return Err(Error::Waits(Box::new(submission.without_findings())));
                }
                let mut answer = serde_json::from_value(kept).map_err(Error::internal)?;
                request.long.restore(tx, &mut answer).await?;
                Ok(answer)
            }
            Err(unknown) if done.is_ok() => Err(unknown),
            _ => {
                let answer = done?;
                let mut short = answer.clone();
                request.long.shorten(&mut short);
                idempotency::answer(tx, key, serde_json::to_value(short).map_err(Error::internal)?);
                Ok(answer)
            }
        }
    }

    /// Returns the SHA-256 of the request that the call's idempotency key is bound to; `None` without a key.
    pub(crate) fn keyed(&self, asked: &impl Serialize) -> Result<Option<[u8; 32]>> {
        let digest = |_| Ok(Sha256::digest(serde_json::to_vec(asked).map_err(Error::internal)?).into());
        self.call.idempotency_key.as_ref().map(digest).transpose()
    }

    /// Binds the call's idempotency key to a submission. Otherwise a repeated request from an untainted session would
    /// be applied, as the rejected change was rolled back together with its key.
    pub(crate) fn bind_to_submission(&self, tx: &mut WriteTx, request: Option<[u8; 32]>, id: SubmissionId) {
        if let (Some(key), Some(digest)) = (&self.call.idempotency_key, &request) {
            idempotency::bind(tx, KeyedRequest { key, digest, now: self.now() }, json!({ WAITING: id }));
        }
    }
}
