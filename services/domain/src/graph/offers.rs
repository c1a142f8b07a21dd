//! How often a skill was offered, and what came of it.

use std::ops::Add;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How often turns offered a skill, and how often it was of no use. Recall does not look at these counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offers {
    /// Turns that named it, or brought its text.
    #[schema(minimum = 0)]
    pub offered: i64,
    /// Of these, how many named it without its text, and the user's next turn in the session came before any use of it.
    #[schema(minimum = 0)]
    pub ignored: i64,
    /// Reports that it did not apply.
    #[schema(minimum = 0)]
    pub inapplicable: i64,
}

impl Offers {
    /// Returns whether nothing was counted.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl Add for Offers {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            offered: self.offered + other.offered,
            ignored: self.ignored + other.ignored,
            inapplicable: self.inapplicable + other.inapplicable,
        }
    }
}
