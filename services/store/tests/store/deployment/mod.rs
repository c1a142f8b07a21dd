//! Migrations, places, and the checks before the service starts.

mod boot;
pub mod carried;
mod migrations;
mod places;
