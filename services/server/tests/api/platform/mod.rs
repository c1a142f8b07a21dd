//! Health, limits, models and the connections to the database.

mod bounds;
mod crowded;
mod distant;
mod flights;
mod health;
mod models;
pub mod pools;
mod reads;
mod session_flights;
pub mod waiting;
