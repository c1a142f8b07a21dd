//! Texts that were ordered together, and their reply: they wait one by one, and are answered together.

use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::lock;
use crate::Asker;
use crate::embed::{EmbedError, TextKind, Vectors};

/// The vectors of an order, or why there are none. Dropped, the embedder gave up.
pub(in crate::embed) type Reply = oneshot::Receiver<Result<Vectors, EmbedError>>;

/// One text and where its vector goes.
pub(in crate::embed) struct QueuedText {
    pub(in crate::embed) text: String,
    pub(in crate::embed) kind: TextKind,
    pub(in crate::embed) asker: Asker,
    pub(super) place: usize,
    pub(super) order: Arc<Mutex<Order>>,
}

/// Texts that were asked for together.
pub(super) struct Order {
    pub(super) vectors: Vectors,
    pub(super) left: usize,
    pub(super) deadline: Option<Instant>,
    pub(super) reply: Option<oneshot::Sender<Result<Vectors, EmbedError>>>,
}

impl Order {
    fn answer(&mut self, answer: Result<Vectors, EmbedError>) {
        if let Some(reply) = self.reply.take() {
            // Nobody may wait any more.
            let _ = reply.send(answer);
        }
    }
}

impl QueuedText {
    /// Whether somebody still waits for it.
    pub(in crate::embed) fn is_wanted(&self) -> bool {
        lock(&self.order).reply.as_ref().is_some_and(|reply| !reply.is_closed())
    }

    /// Hands the vector in; the last one of an order is its answer.
    pub(in crate::embed) fn finish(self, vector: Vec<f32>) {
        let mut order = lock(&self.order);
        order.vectors[self.place] = vector;
        order.left -= 1;
        if order.left == 0 {
            let vectors = std::mem::take(&mut order.vectors);
            order.answer(Ok(vectors));
        }
    }

    /// When its vector is of no use any more.
    pub(super) fn deadline(&self) -> Option<Instant> {
        lock(&self.order).deadline
    }

    /// Whether its vector would come after its deadline; then who waits is told.
    pub(super) fn is_late(&self, ready: Instant) -> bool {
        let mut order = lock(&self.order);
        let is_late = order.deadline.is_some_and(|deadline| deadline < ready);
        if is_late {
            order.answer(Err(EmbedError::Late));
        }
        is_late
    }

    /// Tells who waits why there will be no vector.
    pub(in crate::embed) fn refuse(self, why: EmbedError) {
        lock(&self.order).answer(Err(why));
    }

    /// Gives up on the whole order.
    pub(in crate::embed) fn fail(self) {
        lock(&self.order).reply = None;
    }
}
