//! Identifiers, made by the service and never by a caller. Each noun has its own type, so that ids cannot be confused.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

// In JSON, paths and the database, an id is the bare UUID or number.
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
            /// The smallest id.
            pub const FIRST: Self = Self(Uuid::nil());
            /// The largest id.
            pub const LAST: Self = Self(Uuid::max());

            /// Returns the creation time; `None` if the id has no timestamp.
            pub fn made_at(self) -> Option<DateTime<Utc>> {
                let (seconds, nanoseconds) = self.0.get_timestamp()?.to_unix();
                DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanoseconds)
            }
        }
    };
}

id!(TenantId, "A customer of the deployment.");
id!(UserId, "An end user of a tenant.");
id!(IssuerId, "An issuer of tokens for a tenant's users.");
id!(KeyId, "An API key of a tenant.");
id!(AuditId, "An entry of the audit log; later ones have larger ids.");
id!(JobId(i64), "A background job; later jobs have larger numbers.");
id!(SkillId, "A skill; a restored skill keeps its id.");
id!(ArchiveId, "A deleted skill in the archive.");
id!(ExampleId, "A message and the skill that was used after it.");
id!(MemoryId, "A memory about a user; later ones have larger ids.");
id!(SessionId, "A conversation.");
id!(MessageId, "A message of a conversation; later ones have larger ids.");
id!(ErasureId, "The erasure of a user; later ones have larger ids.");
id!(EntityId, "A thing named in memories; a skill's entity has the skill's id.");
id!(ProcessId, "A running process of the service.");
id!(SnapshotId, "A frozen prompt block.");
id!(DreamId, "A run of a dream over a user's skills; later ones have larger ids.");
id!(ReflectionId, "A reflection on a period; later ones have larger ids.");
id!(SubmissionId, "A submitted change of a skill; later ones have larger ids.");

impl UserId {
    /// Owner of rows that belong to a tenant as a whole, such as an operator's audit entry.
    pub const TENANT_WIDE: Self = Self::FIRST;
}

/// Makes a new time-ordered id (RFC 9562, version 7).
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}

/// Returns the smallest possible id with this creation time. Ids begin with the milliseconds since 1970.
pub fn first_id_of(time: DateTime<Utc>) -> Uuid {
    let millis = u128::try_from(time.timestamp_millis()).unwrap_or_default() & 0xffff_ffff_ffff;
    Uuid::from_u128(millis << 80)
}

#[cfg(test)]
mod tests;
