//! Places: the databases that tenants are spread over where one server is not enough. Each tenant lives at one of them, with all
//! that is kept of it; a deployment with one database has the one place `home`.

use knowhow_domain::Secret;

/// The place of `KNOWHOW_DATABASE_URL`.
pub const HOME: PlaceId = PlaceId(0);

/// The name of that place.
pub const HOME_NAME: &str = "home";

/// One of a deployment's places, by its number in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PlaceId(pub(crate) u16);

impl PlaceId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A place besides `home`.
#[derive(Debug, Clone)]
pub struct PlaceConfig {
    /// What operators call it.
    pub name: String,
    /// `postgres://` URL of the login role there.
    pub url: Secret,
}
