//! A bounded queue of texts for the model. Texts of turns come first, then recently changed texts, then bulk. Within
//! a priority, the caller with the least use comes first.
//!
//! A text is removed when its caller gives up. Texts that would miss their deadline are rejected, on arrival or
//! before they are processed. A late vector is useless and delays the next texts.

mod pace;

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio::time::Instant;

use self::pace::Pace;
use super::lane::{Lane, Mark};
use super::queued_text::{Order, QueuedText, Reply, lock};
use super::{EmbedError, TextKind};
use crate::{Asker, Asking, Priority};

/// A batch is full when it has this many bytes of text. Larger batches are no faster, and all their callers wait
/// longer.
const BATCH_BYTES: usize = 256;
/// Fixed cost of a batch, expressed in bytes of text.
const OVERHEAD_BYTES: usize = 16;
/// Priorities in order of service.
const ORDER: [Priority; 3] = [Priority::Turn, Priority::Change, Priority::Background];

/// Texts that the model processes together.
pub(super) struct Batch {
    pub(super) priority: Priority,
    pub(super) tasks: Vec<QueuedText>,
    /// Number of bytes in all texts.
    bytes: usize,
    number: u64,
    began: Instant,
    /// The caller's use, if the batch is a single long text. Short texts of callers with less use may overtake it.
    long: Option<Mark>,
}

impl Batch {
    /// Returns whether new turn texts must wait until this batch is done. All other batches can be overtaken.
    fn is_in_the_way(&self) -> bool {
        self.priority == Priority::Turn && self.long.is_none()
    }
}

/// The queues by priority.
pub(super) struct Queue {
    lanes: Mutex<Lanes>,
    news: Condvar,
    limit: usize,
}

#[derive(Default)]
struct Lanes {
    turn: Lane,
    change: Lane,
    background: Lane,
    closed: bool,
    /// Number of threads that serve the queues.
    threads: usize,
    pace: Pace,
    /// Number of batches taken so far.
    taken: u64,
    /// Running batches that new turn texts must wait for: the number of the batch and its expected end.
    in_hand: Vec<(u64, Instant)>,
}

impl Queue {
    /// Creates a queue with at most `limit` waiting texts per priority.
    pub(super) fn new(limit: usize, threads: usize) -> Self {
        let lanes = Lanes { threads: threads.max(1), ..Lanes::default() };
        Self { lanes: Mutex::new(lanes), news: Condvar::new(), limit }
    }

    /// Queues all texts of a request, or rejects all of them.
    pub(super) fn push(&self, texts: Vec<String>, kind: TextKind, asking: Asking) -> Result<Reply, EmbedError> {
        let Asking { asker, priority, deadline } = asking;
        let count = texts.len();
        if count > self.limit {
            return Err(EmbedError::TooMany(self.limit));
        }
        let (reply, receiver) = oneshot::channel();
        let mut lanes = lock(&self.lanes);
        if lanes.closed {
            return Err(EmbedError::Stopped);
        }
        if lanes.would_be_late(&texts, asking) {
            lanes.pace.note_refused();
            return Err(EmbedError::Late);
        }
        let lane = lanes.lane(priority);
        if lane.len() + count > self.limit {
            lane.drop_unwanted();
        }
        if lane.make_room(asker, count, self.limit).is_none() {
            return Err(EmbedError::Busy(lane.len()));
        }
        let order = Order { vectors: vec![Vec::new(); count], left: count, deadline, reply: Some(reply) };
        let order = Arc::new(Mutex::new(order));
        for (place, text) in texts.into_iter().enumerate() {
            lane.push(QueuedText { text, kind, asker, place, order: order.clone() });
        }
        drop(lanes);
        self.news.notify_all();
        Ok(receiver)
    }

    /// Waits for the next batch. Returns `None` once the queue is closed.
    pub(super) fn next(&self) -> Option<Batch> {
        let mut lanes = lock(&self.lanes);
        while !lanes.closed {
            if let Some(next) = lanes.take_first(&ORDER) {
                return Some(next);
            }
            lanes = self.news.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Returns the next batch that may overtake `batch`: a batch of a more urgent priority, or a short text of the
    /// same priority. A short text may overtake only a long text of at least twice its length, and only if its caller
    /// has less use.
    pub(super) fn next_before(&self, batch: &Batch) -> Option<Batch> {
        let before = ORDER.iter().position(|other| *other == batch.priority).unwrap_or_default();
        let mut lanes = lock(&self.lanes);
        lanes.take_first(&ORDER[..before]).or_else(|| lanes.take_passing(batch))
    }

    /// Records that a batch is done. The duration is measured only for turns, which have deadlines, and only if the
    /// batch was not interrupted.
    pub(super) fn note_done(&self, batch: &Batch, was_alone: bool) {
        let mut lanes = lock(&self.lanes);
        lanes.in_hand.retain(|(number, _)| *number != batch.number);
        if batch.priority == Priority::Turn && was_alone {
            lanes.pace.note(batch.bytes + OVERHEAD_BYTES, batch.began.elapsed());
        }
    }

    /// Closes the queue: no texts are accepted or returned, and all waiting callers receive an error.
    pub(super) fn close(&self) {
        *lock(&self.lanes) = Lanes { closed: true, ..Lanes::default() };
        self.news.notify_all();
    }
}

impl Lanes {
    fn lane(&mut self, priority: Priority) -> &mut Lane {
        match priority {
            Priority::Turn => &mut self.turn,
            Priority::Change => &mut self.change,
            Priority::Background => &mut self.background,
        }
    }

    /// Returns whether these texts would probably miss their deadline. Returns false if the model has no other work,
    /// so that its speed is measured again.
    fn would_be_late(&mut self, texts: &[String], asking: Asking) -> bool {
        let Some(deadline) = asking.deadline else { return false };
        let before = self.bytes_before(asking.asker, asking.priority);
        let now = Instant::now();
        let all_busy_until =
            self.in_hand.iter().map(|(_, ends)| *ends).min().filter(|_| self.in_hand.len() >= self.threads);
        if before == 0 && all_busy_until.is_none() {
            return false;
        }
        let own = texts.iter().map(String::len).sum::<usize>() + OVERHEAD_BYTES;
        let begins = all_busy_until.map_or(now, |until| until.max(now)) + self.pace.of(before) / self.threads as u32;
        begins + self.pace.at_most(own as u64) > deadline
    }

    /// Returns the number of bytes of text that are served before a new text of this caller.
    fn bytes_before(&mut self, asker: Asker, priority: Priority) -> u64 {
        let more_urgent = ORDER.iter().take_while(|other| **other != priority);
        let before: u64 = more_urgent.map(|other| self.lane(*other).bytes()).sum();
        before + self.lane(priority).bytes_before(asker)
    }

    /// Takes a batch from the first of these priorities that has texts.
    fn take_first(&mut self, order: &[Priority]) -> Option<Batch> {
        order.iter().find_map(|priority| self.take_batch(*priority, None))
    }

    fn take_passing(&mut self, batch: &Batch) -> Option<Batch> {
        let mark = batch.long?;
        let lane = self.lane(batch.priority);
        loop {
            let asker = lane.next().filter(|asker| lane.may_pass(*asker, mark))?;
            let first = lane.first(asker)?;
            if first.is_wanted() {
                let is_short = first.text.len() <= batch.bytes / 2;
                return is_short.then(|| self.take_batch(batch.priority, Some(mark))).flatten();
            }
            lane.pop(asker);
        }
    }

    /// Takes texts in fair order until the batch is full, or another text would make earlier texts late. Drops texts
    /// if their callers gave up, and texts that cannot meet their deadline. With `passes`, takes only texts of
    /// callers that may overtake the text of this mark.
    fn take_batch(&mut self, priority: Priority, passes: Option<Mark>) -> Option<Batch> {
        let (mut tasks, mut bytes, mut mark) = (Vec::new(), OVERHEAD_BYTES, None);
        let (now, mut pace, mut deadline) = (Instant::now(), self.pace, None);
        let lane = self.lane(priority);
        let may_come = |lane: &Lane, asker| passes.is_none_or(|mark| lane.may_pass(asker, mark));
        while let Some(asker) = lane.next().filter(|asker| may_come(lane, *asker)) {
            let more = bytes + lane.first(asker).map_or(0, |task| task.text.len());
            let ready = now + pace.at_most(more as u64);
            let is_full = more > BATCH_BYTES + OVERHEAD_BYTES || deadline.is_some_and(|deadline| deadline < ready);
            if !tasks.is_empty() && is_full {
                break;
            }
            let Some(task) = lane.pop(asker).filter(QueuedText::is_wanted) else { continue };
            if task.is_late(ready) {
                pace.note_refused();
            } else {
                deadline = deadline.into_iter().chain(task.deadline()).min();
                mark = Some(lane.charge(asker, task.text.len() + OVERHEAD_BYTES));
                bytes = more;
                tasks.push(task);
            }
        }
        self.pace = pace;
        if tasks.is_empty() {
            return None;
        }
        self.taken += 1;
        let long = mark.filter(|_| bytes > BATCH_BYTES + OVERHEAD_BYTES);
        let batch = Batch { priority, tasks, bytes: bytes - OVERHEAD_BYTES, number: self.taken, began: now, long };
        if batch.is_in_the_way() {
            self.in_hand.push((batch.number, now + pace.of(bytes as u64)));
        }
        Some(batch)
    }
}
