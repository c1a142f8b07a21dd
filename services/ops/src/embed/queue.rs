//! Texts that wait for the model: those of a turn before those of jobs, bounded, and dropped with whoever asked.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::{EmbedError, Vectors};
use crate::Priority;

/// A batch ends once it has that many bytes of text. Larger ones are no faster, and everybody in them waits longer.
const BATCH_BYTES: usize = 256;

/// One text and where its vector goes.
pub(super) struct Task {
    pub(super) text: String,
    place: usize,
    order: Arc<Mutex<Order>>,
}

/// Texts that were asked for together.
struct Order {
    vectors: Vectors,
    left: usize,
    reply: Option<oneshot::Sender<Vectors>>,
}

impl Task {
    /// Whether somebody still waits for it.
    fn is_wanted(&self) -> bool {
        lock(&self.order).reply.as_ref().is_some_and(|reply| !reply.is_closed())
    }

    /// Hands the vector in; the last one of an order is its answer.
    pub(super) fn finish(self, vector: Vec<f32>) {
        let mut order = lock(&self.order);
        order.vectors[self.place] = vector;
        order.left -= 1;
        if order.left == 0
            && let Some(reply) = order.reply.take()
        {
            // Nobody may wait any more.
            let _ = reply.send(std::mem::take(&mut order.vectors));
        }
    }

    /// Gives up on the whole order.
    pub(super) fn fail(self) {
        lock(&self.order).reply = None;
    }
}

/// The two lanes.
pub(super) struct Queue {
    lanes: Mutex<Lanes>,
    news: Condvar,
    limit: usize,
}

#[derive(Default)]
struct Lanes {
    turn: VecDeque<Task>,
    background: VecDeque<Task>,
    closed: bool,
}

impl Queue {
    /// A queue where `limit` texts may wait in each lane.
    pub(super) fn new(limit: usize) -> Self {
        Self { lanes: Mutex::default(), news: Condvar::new(), limit }
    }

    /// Puts texts in line, all or none.
    pub(super) fn push(
        &self,
        texts: Vec<String>,
        priority: Priority,
    ) -> Result<oneshot::Receiver<Vectors>, EmbedError> {
        let count = texts.len();
        if count > self.limit {
            return Err(EmbedError::TooMany(self.limit));
        }
        let (reply, receiver) = oneshot::channel();
        let mut lanes = lock(&self.lanes);
        if lanes.closed {
            return Err(EmbedError::Stopped);
        }
        let lane = lanes.lane(priority);
        if lane.len() + count > self.limit {
            lane.retain(Task::is_wanted);
        }
        if lane.len() + count > self.limit {
            return Err(EmbedError::Busy(lane.len()));
        }
        let order = Order { vectors: vec![Vec::new(); count], left: count, reply: Some(reply) };
        let order = Arc::new(Mutex::new(order));
        lane.extend(texts.into_iter().enumerate().map(|(place, text)| Task { text, place, order: order.clone() }));
        drop(lanes);
        self.news.notify_all();
        Ok(receiver)
    }

    /// The next batch, waiting for one; nothing once the queue is closed.
    pub(super) fn next(&self) -> Option<(Priority, Vec<Task>)> {
        let mut lanes = lock(&self.lanes);
        while !lanes.closed {
            for priority in [Priority::Turn, Priority::Background] {
                let batch = take_batch(lanes.lane(priority));
                if !batch.is_empty() {
                    return Some((priority, batch));
                }
            }
            lanes = self.news.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// The next batch of turns, where there is one.
    pub(super) fn next_urgent(&self) -> Option<Vec<Task>> {
        let batch = take_batch(&mut lock(&self.lanes).turn);
        (!batch.is_empty()).then_some(batch)
    }

    /// Lets nothing in or out any more; whoever waits is told.
    pub(super) fn close(&self) {
        *lock(&self.lanes) = Lanes { closed: true, ..Lanes::default() };
        self.news.notify_all();
    }
}

impl Lanes {
    fn lane(&mut self, priority: Priority) -> &mut VecDeque<Task> {
        match priority {
            Priority::Turn => &mut self.turn,
            Priority::Background => &mut self.background,
        }
    }
}

/// Texts from the front until they make a batch, without those that nobody waits for.
fn take_batch(lane: &mut VecDeque<Task>) -> Vec<Task> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while let Some(next) = lane.front() {
        if !batch.is_empty() && bytes + next.text.len() > BATCH_BYTES {
            break;
        }
        if let Some(task) = lane.pop_front().filter(Task::is_wanted) {
            bytes += task.text.len();
            batch.push(task);
        }
    }
    batch
}

/// A panic elsewhere leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
