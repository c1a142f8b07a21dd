//! Reflections: summaries of each day, week and month for the agent's later work with the user. Each reflection is
//! stored as a memory. It may propose changes to skills, which are handled like operations of dreams.

mod actions;
mod list;
mod make;
mod material;
mod question;
mod start;

pub use list::{ListReflections, list_reflections};
pub use start::{StartReflection, StartedReflection, start_reflection};

pub(crate) use make::make_reflection;
