//! Identifiers: made by the service, never by a caller. Each noun has its own, so that none is taken for another's.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

// In JSON, in paths and in the database an id is the bare UUID or number.
macro_rules! id {
    ($name:ident($inner:ty), $what:literal) => {
        #[doc = $what]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, ToSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl From<$inner> for $name {
            fn from(id: $inner) -> Self {
                Self(id)
            }
        }

        impl From<$name> for $inner {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = <$inner as FromStr>::Err;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
    ($name:ident, $what:literal) => {
        id!($name(Uuid), $what);

        impl $name {
            /// Before all others in the order of ids.
            pub const FIRST: Self = Self(Uuid::nil());
            /// Behind all others in the order of ids.
            pub const LAST: Self = Self(Uuid::max());

            /// When it was made; `None` of one that does not tell.
            pub fn made_at(self) -> Option<DateTime<Utc>> {
                let (seconds, nanoseconds) = self.0.get_timestamp()?.to_unix();
                DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)
            }
        }
    };
}

id!(TenantId, "A customer of the deployment.");
id!(UserId, "One end user of a tenant.");
id!(IssuerId, "Whose tokens a tenant's users come with.");
id!(KeyId, "An API key of a tenant.");
id!(AuditId, "An entry of the audit log; later ones have larger ids.");
id!(JobId(i64), "Work in the background; later jobs have larger numbers.");
id!(SkillId, "A skill, for as long as it lives; a restored skill keeps its id.");
id!(ArchiveId, "A deleted skill that waits in the archive.");
id!(ExampleId, "A message that a skill was used after.");
id!(MemoryId, "What is remembered of a user; later ones have larger ids.");
id!(SessionId, "One conversation, from its opening on.");
id!(MessageId, "One message of a conversation; later ones have larger ids.");
id!(ErasureId, "That a user was erased; later ones have larger ids.");
id!(EntityId, "What memories speak of; the id of a skill's entity is the skill's.");
id!(ProcessId, "A running process of the service.");
id!(SnapshotId, "A frozen prompt block.");
id!(DreamId, "A run of a dream over a user's skills; later ones have larger ids.");
id!(ReflectionId, "What is told of a period; later ones have larger ids.");
id!(SubmissionId, "A change that waits for review, or was decided; later ones have larger ids.");

impl UserId {
    /// The owner of rows that belong to a tenant as a whole, such as an operator's audit entry.
    pub const TENANT_WIDE: Self = Self::FIRST;
}

/// A new time-ordered id (RFC 9562, version 7).
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// Before all ids of that time and later: the time is what they begin with, in milliseconds since 1970.
pub fn first_id_of(time: DateTime<Utc>) -> Uuid {
    let millis = u128::try_from(time.timestamp_millis()).unwrap_or_default() & 0xffff_ffff_ffff;
    Uuid::from_u128(millis << 80)
}

#[cfg(test)]
mod tests;
