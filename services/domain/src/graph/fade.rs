//! How importance and computed relations fade. Nothing is rewritten by time: all is worked out as it is read.

use chrono::{DateTime, Utc};

/// What is left of a skill's importance from one idle day to the next.
pub const DAILY_IMPORTANCE: f32 = 0.99;

/// What is left of a memory's importance from one day to the next.
pub const DAILY_MEMORY: f32 = 0.95;

/// A skill never matters less than that by idleness, unless it did before.
pub const IMPORTANCE_FLOOR: f32 = 0.3;

/// So many memories that name both make two skills often used together.
pub const SHARED_FOR_AFFINITY: i32 = 3;

/// A computed relation keeps that share of its strength from one day to the next.
pub const COMPUTED_DAILY: f64 = 0.99;

/// Days since a moment, with their fractions; none for what is to come.
pub fn idle_days(since: DateTime<Utc>, now: DateTime<Utc>) -> f64 {
    (now - since).num_milliseconds().max(0) as f64 / 86_400_000.0
}

/// What is left of an importance after so many idle days: `max(floor, base x daily^days)`. A base below the floor stays as
/// it is.
pub fn faded(base: f32, daily: f32, days: f64, floor: f32) -> f32 {
    let left = f64::from(base) * f64::from(daily).powf(days);
    (left as f32).max(floor.min(base))
}

/// How strong the relation of two skills is that share so many memories: `tanh(shared / 2)`.
pub fn affinity(shared: i32) -> f32 {
    (f64::from(shared) * 0.5).tanh() as f32
}

/// What is left of a computed relation's strength after so many days.
pub fn computed_strength(strength: f32, days: f64) -> f32 {
    (f64::from(strength) * COMPUTED_DAILY.powf(days)) as f32
}

#[cfg(test)]
mod tests;
