//! Migrations, places, and the checks before the service starts.

mod boot;
mod migrations;
mod places;
