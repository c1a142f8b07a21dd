//! Load test with twice as many questions as the model can process, on a simulated clock.

use std::time::Duration;

use knowhow_domain::{TenantId, UserId, new_id};
use tokio::time::{Instant, advance};

use super::asking;
use super::queue::of;
use crate::Asker;
use crate::Priority::{Background, Turn};
use crate::models::embed::TextKind;
use crate::models::embed::queue::{Batch, Queue};
use crate::models::embed::queued_text::Reply;

/// Number of questions by result.
#[derive(Debug, Default)]
struct OverloadCounts {
    asked: u32,
    in_time: u32,
    /// Number of vectors computed after the caller gave up.
    late: u32,
}

/// Deterministic pseudo-random numbers from 0 to 1 (Marsaglia's xorshift).
struct RandomNumbers(u64);

impl RandomNumbers {
    fn throw(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

const DEADLINE: Duration = Duration::from_millis(50);
const TICK: Duration = Duration::from_millis(1);
/// Duration of a single text.
const TAKES: Duration = Duration::from_millis(12);
const TEXT: usize = 60;

/// Lets a tenant's 64 users send questions for five simulated seconds, at `times` the model's capacity. The model's
/// speed varies.
async fn ask(times: f64) -> OverloadCounts {
    let queue = Queue::new(256, 1);
    let (mut dice, mut outcome) = (RandomNumbers(0x9e37_79b9_7f4a_7c15), OverloadCounts::default());
    let tenant = TenantId(new_id());
    let askers: Vec<_> = (0..64).map(|_| Asker { tenant, user: UserId(new_id()) }).collect();
    let chance = times * TICK.as_secs_f64() / TAKES.as_secs_f64();
    let mut waiting: Vec<(Instant, Reply)> = Vec::new();
    let mut in_hand: Option<(Instant, Batch)> = None;
    let nothing = of(Background);
    for _ in 0..5_000 {
        advance(TICK).await;
        let now = Instant::now();
        if dice.throw() < chance {
            outcome.asked += 1;
            let asker = askers[(dice.throw() * 64.0) as usize];
            let deadline = now + DEADLINE;
            if let Ok(reply) =
                queue.push(vec!["t".repeat(TEXT)], TextKind::Message, asking(asker, Turn, Some(deadline)))
            {
                waiting.push((deadline, reply));
            }
        }
        if let Some((_, mut batch)) = in_hand.take_if(|(ends, _)| *ends <= now) {
            for task in std::mem::take(&mut batch.tasks) {
                outcome.late += u32::from(!task.is_wanted());
                task.finish(vec![1.0]);
            }
            queue.note_done(&batch, true);
        }
        waiting.retain_mut(|(deadline, reply)| {
            let answered = reply.try_recv();
            outcome.in_time += u32::from(matches!(answered, Ok(Ok(_))));
            matches!(answered, Err(tokio::sync::oneshot::error::TryRecvError::Empty)) && now < *deadline
        });
        if in_hand.is_none() {
            in_hand = queue.next_before(&nothing).map(|batch| {
                // In a batch, each text after the first takes four fifths of `TAKES`.
                let takes = TAKES * (batch.tasks.len() as u32 * 4 + 1) / 5;
                (now + takes.mul_f64(0.8 + 0.4 * dice.throw()), batch)
            });
        }
    }
    outcome
}

#[tokio::test(start_paused = true)]
async fn at_twice_the_capacity_few_vectors_are_late() {
    let OverloadCounts { asked, in_time, late } = ask(2.0).await;
    let shares = format!("of {asked} {in_time} in time, {late} late");
    assert!(in_time * 100 >= asked * 45, "{shares}");
    assert!(late * 20 <= in_time, "{shares}");
}

#[tokio::test(start_paused = true)]
async fn at_half_the_capacity_nearly_all_requests_get_a_vector() {
    let OverloadCounts { asked, in_time, late } = ask(0.5).await;
    assert!(in_time * 100 >= asked * 95, "of {asked} {in_time} in time, {late} late");
}
