//! The idempotency key that a transaction claims: whether the request was made before, and that nothing is done twice where it was.

use knowhow_domain::{Error, Result};

use super::WriteTx;
use crate::vault::queued::Answer;
use crate::vault::statement::Write;

impl WriteTx {
    /// Claims an idempotency key with the next statement that is run. Nothing is committed before it is known whether the key
    /// is fresh: `claim` answers with a row then.
    pub(crate) fn claim<S: Write<Row = ()> + Send + 'static>(&mut self, claim: S) {
        self.claim = Some(self.send_ahead(claim));
    }

    /// Whether the request was made before. If so, that is the cause of every failure since.
    ///
    /// # Errors
    /// `Unavailable` where that is not known yet, and cannot be asked.
    pub async fn is_repeated(&mut self) -> Result<bool> {
        match self.learn_claim().await {
            Err(_) if self.was_made_before() => Ok(true),
            learned => learned.map(|()| self.was_made_before()),
        }
    }

    pub(super) fn was_made_before(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.is_empty() == Some(true))
    }

    /// Goes on in another transaction, where a request that was made before is only to be answered.
    pub(crate) fn begin_again(&mut self) {
        self.claim = None;
        self.queue.clear();
        self.connection.begin_again();
    }

    /// Sends what is in the queue, where it is not known yet whether the claimed key is fresh.
    pub(super) async fn learn_claim(&mut self) -> Result<()> {
        match self.claim.as_ref().map(Answer::is_empty) {
            None | Some(Some(false)) => Ok(()),
            Some(Some(true)) => Err(made_before()),
            Some(None) if self.queue.is_empty() => {
                Err(Error::internal("it is not known whether a request was made before"))
            }
            Some(None) => self.fly(false).await,
        }
    }
}

/// Ends the work of a request that turns out to be a repetition; its caller is given the first one's answer.
pub(super) fn made_before() -> Error {
    Error::internal("a request that was made before")
}
