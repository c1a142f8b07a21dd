//! What is kept of a user's skills.

mod catalogue;
mod handed;
mod lines;
