//! What is done once for each idempotency key, and how its answer is kept.

use knowhow_domain::{Error, Result, SubmissionId};
use knowhow_store::idempotency::{self, KeyedRequest};
use knowhow_store::{WriteTx, submissions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Ctx;

/// The member of a kept answer that names the submission which waits. No answer of a verb has it.
const WAITING: &str = "waiting_submission";

/// What an idempotency key is bound to, and how its answer is kept.
pub(crate) struct Request<'a, R, L> {
    /// What was asked for.
    pub(crate) asked: &'a R,
    /// The answer's long text.
    pub(crate) long: &'a L,
}

/// A long text in an answer, which is stored already or comes with the request: the answer is kept without it.
pub(crate) trait Long<T> {
    /// Takes the text out of what is kept.
    fn shorten(&self, answer: &mut T);

    /// Puts it back.
    async fn restore(&self, tx: &mut WriteTx, answer: &mut T) -> Result<()>;
}

/// An answer without a long text.
struct NothingLong;

impl<T> Long<T> for NothingLong {
    fn shorten(&self, _: &mut T) {}

    async fn restore(&self, _: &mut WriteTx, _: &mut T) -> Result<()> {
        Ok(())
    }
}

impl Ctx {
    /// The context for one part of a request that does many things: with a key of its own.
    pub(crate) fn part(&self, part: impl std::fmt::Display) -> Self {
        Self { app: self.app.clone(), principal: self.principal.clone(), call: self.call.part(part) }
    }

    /// Does `work` once per idempotency key; a repeated request gets the first one's answer. The caller commits. The answer is
    /// kept as it is, so this is for short ones; see [`Ctx::once_in_short`].
    pub(crate) async fn once<T: Serialize + DeserializeOwned + Clone>(
        &self,
        tx: &mut WriteTx,
        request: &impl Serialize,
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        self.once_in_short(tx, Request { asked: request, long: &NothingLong }, work).await
    }

    /// The same for an answer that is kept without its long text. The key is claimed with the first round trip of `work`, and
    /// the answer kept with COMMIT.
    pub(crate) async fn once_in_short<T: Serialize + DeserializeOwned + Clone>(
        &self,
        tx: &mut WriteTx,
        request: Request<'_, impl Serialize, impl Long<T>>,
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        let (Some(key), Some(digest)) = (&self.call.idempotency_key, self.keyed(request.asked)?) else {
            return work(tx).await;
        };
        // One time: a key must not expire between being recognised and being answered.
        let keyed = KeyedRequest { key, digest: &digest, now: self.now() };
        idempotency::claim(tx, keyed);
        let done = work(tx).await;
        match tx.is_repeated().await {
            // Whatever `work` says then, it says because it was not to be done.
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

    /// The digest of what is asked for, to which the call's idempotency key is bound; `None` where it has no key.
    pub(crate) fn keyed(&self, asked: &impl Serialize) -> Result<Option<[u8; 32]>> {
        let digest = |_| Ok(Sha256::digest(serde_json::to_vec(asked).map_err(Error::internal)?).into());
        self.call.idempotency_key.as_ref().map(digest).transpose()
    }

    /// Binds the call's idempotency key to a submission. Else the same request from a session that nobody distrusts would be
    /// carried out: the change that waits was refused, and has left no key.
    pub(crate) fn bind_to_submission(&self, tx: &mut WriteTx, request: Option<[u8; 32]>, id: SubmissionId) {
        if let (Some(key), Some(digest)) = (&self.call.idempotency_key, &request) {
            idempotency::bind(tx, KeyedRequest { key, digest, now: self.now() }, json!({ WAITING: id }));
        }
    }
}
