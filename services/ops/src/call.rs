//! What accompanies a write: the session it comes from and the key that makes it happen once.

use knowhow_domain::{Error, Result};
use knowhow_store::{WriteTx, idempotency};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::App;

/// What a caller says of a call beside its input.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// `Knowhow-Session`, over MCP also in `_meta`: the conversation this comes from, by its id or key, for provenance
    /// and taint.
    pub session: Option<String>,
    /// Another conversation that the request names: over MCP `_meta` goes before the header, and the taint of both counts.
    pub other_session: Option<String>,
    /// `Idempotency-Key`: the same key and request have one effect and one answer, for 24 hours.
    pub idempotency_key: Option<String>,
    /// An agent calls by itself, as over MCP, whatever its credential.
    pub by_agent: bool,
}

const KEY_CHARS: usize = 255;

impl Call {
    /// Checks the form of session and key.
    ///
    /// # Errors
    /// `Malformed`, with the rule.
    pub fn check(&self) -> Result<()> {
        let given = [
            ("Idempotency-Key", &self.idempotency_key),
            ("Knowhow-Session", &self.session),
            ("Knowhow-Session", &self.other_session),
        ];
        for (name, value) in given {
            let good = |v: &String| !v.is_empty() && v.len() <= KEY_CHARS && v.chars().all(|c| c.is_ascii_graphic());
            if value.as_ref().is_some_and(|v| !good(v)) {
                return Err(Error::Malformed(format!(
                    "{name} takes 1 to {KEY_CHARS} visible ASCII characters without blanks"
                )));
            }
        }
        Ok(())
    }

    /// Every conversation that the request names, `in_body` included, each once.
    pub(crate) fn named<'a>(&'a self, in_body: Option<&'a str>) -> Vec<&'a str> {
        let mut named: Vec<&str> =
            [in_body, self.session.as_deref(), self.other_session.as_deref()].into_iter().flatten().collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Does `work` once per idempotency key; a repeated request gets the first one's answer. The caller commits. The answer is
    /// kept as it is, so this is for short ones; see [`Call::once_in_short`].
    pub(crate) async fn once<T: Serialize + DeserializeOwned>(
        &self,
        app: &App,
        tx: &mut WriteTx,
        request: &impl Serialize,
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        let keep = |answer: &T| serde_json::to_value(answer).map_err(Error::internal);
        self.carry_out(app, tx, (request, keep, async |_: &mut WriteTx, _: &mut T| Ok(())), work).await
    }

    /// The same for an answer that holds a long text which is stored already, or comes with the request: `shorten` takes it
    /// out of what is kept, `restore` puts it back.
    pub(crate) async fn once_in_short<T: Serialize + DeserializeOwned + Clone>(
        &self,
        app: &App,
        tx: &mut WriteTx,
        (request, shorten, restore): (
            &impl Serialize,
            impl FnOnce(&mut T),
            impl AsyncFnOnce(&mut WriteTx, &mut T) -> Result<()>,
        ),
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        let keep = |answer: &T| {
            let mut short = answer.clone();
            shorten(&mut short);
            serde_json::to_value(short).map_err(Error::internal)
        };
        self.carry_out(app, tx, (request, keep, restore), work).await
    }

    /// The key is claimed with the first round trip of `work`, and the answer kept with COMMIT.
    async fn carry_out<T: Serialize + DeserializeOwned>(
        &self,
        app: &App,
        tx: &mut WriteTx,
        (request, keep, restore): (
            &impl Serialize,
            impl FnOnce(&T) -> Result<Value>,
            impl AsyncFnOnce(&mut WriteTx, &mut T) -> Result<()>,
        ),
        work: impl AsyncFnOnce(&mut WriteTx) -> Result<T>,
    ) -> Result<T> {
        let Some(key) = &self.idempotency_key else { return work(tx).await };
        let digest: [u8; 32] = Sha256::digest(serde_json::to_vec(request).map_err(Error::internal)?).into();
        idempotency::claim(tx, key, &digest, app.now());
        let done = work(tx).await;
        match tx.is_repeated().await {
            // Whatever `work` says then, it says because it was not to be done.
            Ok(true) => {
                let kept = idempotency::find_answer(tx, key, &digest, app.now()).await?;
                let mut answer = serde_json::from_value(kept).map_err(Error::internal)?;
                restore(tx, &mut answer).await?;
                Ok(answer)
            }
            Err(unknown) if done.is_ok() => Err(unknown),
            _ => {
                let answer = done?;
                idempotency::answer(tx, key, keep(&answer)?);
                Ok(answer)
            }
        }
    }
}
