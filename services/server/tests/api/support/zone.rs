//! The time zone of tests.

use chrono::Timelike;
use knowhow_domain::{Clock, SystemClock};

/// Returns a time zone in which this hour has begun.
pub fn zone_at(hour: u32) -> String {
    let behind = i64::from(SystemClock.now().hour()) - i64::from(hour);
    // In the names of these zones `+` means west of UTC. They reach from fourteen hours ahead to twelve behind.
    format!("Etc/GMT{:+}", if behind > 12 { behind - 24 } else { behind })
}
