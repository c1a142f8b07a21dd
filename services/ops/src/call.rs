//! What accompanies a call: the session it comes from and the key that makes it happen once. Faces read it from headers.

use std::ops::Deref;

use knowhow_domain::{Error, Result};
use knowhow_store::{WriteTx, idempotency};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::Ctx;

/// What a caller says of a call beside its input.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// `Knowhow-Session`, over MCP also in `_meta`: the conversation this comes from, for provenance and taint.
    pub session: Option<SessionRef>,
    /// Another conversation that the request names: over MCP `_meta` goes before the header, and the taint of both counts.
    pub other_session: Option<SessionRef>,
    /// `Idempotency-Key`: the same key and request have one effect and one answer, for 24 hours.
    pub idempotency_key: Option<IdempotencyKey>,
    /// An agent calls by itself, as over MCP, whatever its credential.
    pub by_agent: bool,
}

/// A conversation by its id or key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRef(String);

/// The name that a client gives to a request, so that a repetition is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

const NAME_CHARS: usize = 255;

fn parse(header: &str, text: &str) -> Result<String> {
    if (1..=NAME_CHARS).contains(&text.len()) && text.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    Err(Error::Malformed(format!("{header} takes 1 to {NAME_CHARS} visible ASCII characters without blanks")))
}

impl SessionRef {
    /// Reads the name of a conversation.
    ///
    /// # Errors
    /// `Malformed`, with the rule.
    pub fn parse(text: &str) -> Result<Self> {
        parse("Knowhow-Session", text).map(Self)
    }
}

impl IdempotencyKey {
    /// Reads a key.
    ///
    /// # Errors
    /// `Malformed`, with the rule.
    pub fn parse(text: &str) -> Result<Self> {
        parse("Idempotency-Key", text).map(Self)
    }
}

impl Deref for SessionRef {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Deref for IdempotencyKey {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Call {
    /// Every conversation that the request names, `in_body` included, each once.
    pub(crate) fn named<'a>(&'a self, in_body: Option<&'a str>) -> Vec<&'a str> {
        let mut named: Vec<&str> =
            [in_body, self.session.as_deref(), self.other_session.as_deref()].into_iter().flatten().collect();
        named.sort_unstable();
        named.dedup();
        named
    }
}

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
        let mut of_part = self.clone();
        of_part.call.idempotency_key =
            self.call.idempotency_key.as_ref().map(|key| IdempotencyKey(format!("{}#{part}", key.0)));
        of_part
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
        let Some(key) = &self.call.idempotency_key else { return work(tx).await };
        let digest = digest_of(request.asked)?;
        // One time: a key must not expire between being recognised and being answered.
        let now = self.now();
        idempotency::claim(tx, key, &digest, now);
        let done = work(tx).await;
        match tx.is_repeated().await {
            // Whatever `work` says then, it says because it was not to be done.
            Ok(true) => {
                let kept = idempotency::find_answer(tx, key, &digest, now).await?;
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
}

/// What an idempotency key is bound to.
pub(crate) fn digest_of(asked: &impl Serialize) -> Result<[u8; 32]> {
    Ok(Sha256::digest(serde_json::to_vec(asked).map_err(Error::internal)?).into())
}
