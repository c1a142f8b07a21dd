//! Idempotency keys claimed by a transaction. They ensure that a repeated request does its work only once.

use knowhow_domain::{Error, Result};

use super::WriteTx;
use crate::vault::batch::PendingRows;
use crate::vault::statement::Write;

impl WriteTx {
    /// Claims an idempotency key with the next round trip. `claim` returns a row if the key is new. The transaction
    /// commits only after the answer is known.
    pub(crate) fn claim<S: Write<Row = ()> + Send + 'static>(&mut self, claim: S) {
        self.claim = Some(self.send_ahead(claim));
    }

    /// Returns whether the request is a repetition. If so, the repetition is the cause of every failure since the
    /// claim.
    ///
    /// # Errors
    /// `Unavailable` if the answer to the claim could not be read.
    pub async fn is_repeated(&mut self) -> Result<bool> {
        match self.learn_claim().await {
            Err(_) if self.was_made_before() => Ok(true),
            learned => learned.map(|()| self.was_made_before()),
        }
    }

    pub(super) fn was_made_before(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.is_empty() == Some(true))
    }

    /// Continues in a new transaction, which answers the repeated request.
    pub(crate) fn begin_again(&mut self) {
        self.claim = None;
        self.queue.clear();
        self.connection.begin_again();
    }

    /// Sends the queue if the answer to the claim is not known yet.
    pub(super) async fn learn_claim(&mut self) -> Result<()> {
        match self.claim.as_ref().map(PendingRows::is_empty) {
            None | Some(Some(false)) => Ok(()),
            Some(Some(true)) => Err(made_before()),
            Some(None) if self.queue.is_empty() => Err(Error::internal("the claim of an idempotency key was not sent")),
            Some(None) => self.fly(false).await,
        }
    }
}

/// Returns the error that ends the work of a repeated request. The caller of the service then gets the first
/// request's answer.
pub(super) fn made_before() -> Error {
    Error::internal("the request is a repetition")
}
