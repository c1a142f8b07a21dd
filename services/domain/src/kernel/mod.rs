//! Ids, errors, the clock, limits, and checks of input.

pub mod bounds;
pub mod clock;
pub(crate) mod dot;
pub mod error;
pub mod ids;
pub mod limits;
pub mod object;
pub(crate) mod pattern;
pub mod secret;
pub mod validation_message;
