//! Reflections: once a day, week and month, what happened is told for the agent that works with the user next. Each is kept as a
//! memory, and may propose changes of skills that go the way of dreams.

mod actions;
mod list;
mod make;
mod material;
mod question;
mod start;

pub use list::{ListReflections, list_reflections};
pub use start::{StartReflection, StartedReflection, start_reflection};

pub(crate) use make::make_reflection;
