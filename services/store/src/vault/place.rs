//! Places: the databases that tenants are spread over if one server is not enough. All data of a tenant is in one
//! place. A deployment with one database has the single place `home`.

use knowhow_domain::Secret;

/// The place of `KNOWHOW_DATABASE_URL`.
pub const HOME: PlaceId = PlaceId(0);

/// The name of [`HOME`].
pub const HOME_NAME: &str = "home";

/// Identifies a place by its index in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PlaceId(pub(crate) u16);

impl PlaceId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Configuration of a place other than `home`.
#[derive(Debug, Clone)]
pub struct PlaceConfig {
    /// Name of the place, chosen by operators.
    pub name: String,
    /// URL (`postgres://`) for connections as the login role.
    pub url: Secret,
}
