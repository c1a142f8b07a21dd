//! Texts of one request: they are queued one by one, and answered together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{EmbedError, TextKind, Vectors};
use crate::Asker;

/// The vectors of a request, or an error. A closed channel means that the embedder stopped.
pub(super) type Reply = oneshot::Receiver<Result<Vectors, EmbedError>>;

/// A queued text, and its position in the request.
pub(super) struct QueuedText {
    pub(super) text: String,
    pub(super) kind: TextKind,
    pub(super) asker: Asker,
    pub(super) place: usize,
    pub(super) order: Arc<Mutex<Order>>,
}

/// The texts of a request.
pub(super) struct Order {
    pub(super) vectors: Vectors,
    pub(super) left: usize,
    pub(super) deadline: Option<Instant>,
    pub(super) reply: Option<oneshot::Sender<Result<Vectors, EmbedError>>>,
}

impl Order {
    fn answer(&mut self, answer: Result<Vectors, EmbedError>) {
        if let Some(reply) = self.reply.take() {
            // The caller may have given up.
            let _ = reply.send(answer);
        }
    }
}

impl QueuedText {
    /// Returns whether the caller still waits for the vector.
    pub(super) fn is_wanted(&self) -> bool {
        lock(&self.order).reply.as_ref().is_some_and(|reply| !reply.is_closed())
    }

    /// Stores the vector. The last vector of a request completes the answer.
    pub(super) fn finish(self, vector: Vec<f32>) {
        let mut order = lock(&self.order);
        order.vectors[self.place] = vector;
        order.left -= 1;
        if order.left == 0 {
            let vectors = std::mem::take(&mut order.vectors);
            order.answer(Ok(vectors));
        }
    }

    /// Returns the deadline of the request.
    pub(super) fn deadline(&self) -> Option<Instant> {
        lock(&self.order).deadline
    }

    /// Returns whether a vector that is done at `ready` would be late. If so, answers the caller with `Late`.
    pub(super) fn is_late(&self, ready: Instant) -> bool {
        let mut order = lock(&self.order);
        let is_late = order.deadline.is_some_and(|deadline| deadline < ready);
        if is_late {
            order.answer(Err(EmbedError::Late));
        }
        is_late
    }

    /// Answers the caller with an error.
    pub(super) fn refuse(self, why: EmbedError) {
        lock(&self.order).answer(Err(why));
    }

    /// Drops the reply of the whole request, so that its caller receives `Stopped`.
    pub(super) fn fail(self) {
        lock(&self.order).reply = None;
    }
}

/// Locks a mutex, ignoring poisoning: no critical section here leaves inconsistent data after a panic.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
