//! Decay of importance and computed relations. Stored values stay unchanged; decay is computed when they are read.

use chrono::{DateTime, Utc};

/// Factor on a skill's importance per idle day.
pub const DAILY_IMPORTANCE: f32 = 0.99;

/// Factor on a memory's importance per day.
pub const DAILY_MEMORY: f32 = 0.95;

/// Minimum importance of a skill after decay, unless it was lower before.
pub const IMPORTANCE_FLOOR: f32 = 0.3;

/// Minimum number of shared memories for the relation `often_used_with` between two skills.
pub const SHARED_FOR_AFFINITY: i32 = 3;

/// Factor on a computed relation's strength per day.
pub const COMPUTED_DAILY: f64 = 0.99;

/// Returns the fractional days since a time; 0 if it is in the future.
pub fn idle_days(since: DateTime<Utc>, now: DateTime<Utc>) -> f64 {
    (now - since).num_milliseconds().max(0) as f64 / 86_400_000.0
}

/// Returns an importance after `days` idle days: `max(floor, base x daily^days)`. A base below the floor stays
/// unchanged.
pub fn faded(base: f32, daily: f32, days: f64, floor: f32) -> f32 {
    let left = f64::from(base) * f64::from(daily).powf(days);
    (left as f32).max(floor.min(base))
}

/// Returns the strength of the relation between two skills that `shared` memories both name: `tanh(shared / 2)`.
pub fn affinity(shared: i32) -> f32 {
    (f64::from(shared) * 0.5).tanh() as f32
}

/// Returns a computed relation's strength after `days` days.
pub fn computed_strength(strength: f32, days: f64) -> f32 {
    (f64::from(strength) * COMPUTED_DAILY.powf(days)) as f32
}

#[cfg(test)]
mod tests;
