//! Whether a message asks for any skill at all.

use super::search::{Hit, Message};

/// Fits below this get nothing.
pub(super) const FLOOR: f32 = 0.2;

/// How likely the best hits answer the message.
pub(super) fn estimate_fit(_message: &Message, hits: &[Hit]) -> f32 {
    if hits.is_empty() { 0.0 } else { 1.0 }
}
