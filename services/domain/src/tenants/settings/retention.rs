//! Settings that limit the age or amount of stored data. Reducing such a setting deletes data permanently.

use super::{StoredSettings, TenantSettings};
use crate::{Error, Result};

/// A setting that deletes stored data when it is reduced.
struct Retention {
    name: &'static str,
    value: fn(&TenantSettings) -> u64,
    /// The data that is deleted when the setting is reduced.
    deletes: &'static str,
}

const RETENTIONS: [Retention; 8] = [
    Retention {
        name: "audit_days",
        value: |s| s.audit_days.into(),
        deletes: "entries of the audit log that are older than this many days",
    },
    Retention {
        name: "conversation_days",
        value: |s| s.conversation_days.into(),
        deletes: "messages of conversations that ended more than this many days ago",
    },
    Retention {
        name: "archive_days",
        value: |s| s.archive_days.into(),
        deletes: "skills deleted from now on, after this many days",
    },
    Retention {
        name: "example_days",
        value: |s| s.example_days.into(),
        deletes: "examples that were not confirmed for this many days",
    },
    Retention {
        name: "versions_per_skill",
        value: |s| s.versions_per_skill.into(),
        deletes: "the oldest versions of a skill above the limit, with its next change",
    },
    Retention {
        name: "stored_bytes_per_user",
        value: TenantSettings::most_stored_bytes,
        deletes: "the oldest versions and the archived skills of a user above the limit, with the next change",
    },
    Retention {
        name: "sessions_per_user",
        value: |s| s.sessions_per_user.into(),
        deletes: "the oldest conversations of a user above the limit, with the next one",
    },
    Retention {
        name: "conversation_bytes_per_user",
        value: |s| s.conversation_bytes_per_user,
        deletes: "the oldest conversations of a user above the limit, with the next one",
    },
];

/// Rejects new settings that keep less data than the old ones. An unusable stored value counts as larger than any
/// other.
///
/// # Errors
/// `Conflict` `confirm-needed`, which names each such setting and the data that it deletes.
pub fn require_longer_retention(old: &StoredSettings, new: &StoredSettings) -> Result<()> {
    let shortened = RETENTIONS.iter().filter_map(|retention| {
        let (before, after) = ((retention.value)(&old.settings), (retention.value)(&new.settings));
        let Retention { name, deletes, .. } = retention;
        let (is_shorter, before) = match old.is_unusable(name) {
            true => (!new.is_unusable(name), "an unusable value".to_owned()),
            false => (after < before, before.to_string()),
        };
        is_shorter.then(|| format!("{name} from {before} to {after} deletes {deletes}"))
    });
    let shortened: Vec<String> = shortened.collect();
    if shortened.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "this would delete data permanently, so the settings were not changed: {}. To confirm, repeat the request with ?confirm=shorten-retention",
        shortened.join("; ")
    );
    Err(Error::Conflict { code: "confirm-needed", detail })
}
