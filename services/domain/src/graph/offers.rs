//! Counts of a skill's offers and their results.

use std::ops::Add;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Counts of the turns that offered a skill, and of offers that did not help. Recall does not use them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offers {
    /// Number of turns that named the skill or included its text.
    #[schema(minimum = 0)]
    pub offered: i64,
    /// Number of offers without the text that were not followed by a use before the user's next turn in the session.
    #[schema(minimum = 0)]
    pub ignored: i64,
    /// Number of reports that the skill did not apply.
    #[schema(minimum = 0)]
    pub inapplicable: i64,
}

impl Offers {
    /// Returns whether all counts are 0.
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
