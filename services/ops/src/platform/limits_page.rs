//! Checks that docs/reference/limits.md agrees with the constants.

use knowhow_domain::TenantSettings;
use knowhow_domain::kernel::limits;
use knowhow_domain::learning::lesson::{EXAMPLES_PER_SKILL, EXAMPLES_PER_USER};
use knowhow_domain::learning::{directive, reflection};
use knowhow_domain::skills::index::BUDGET_STEPS;
use knowhow_domain::skills::library;
use knowhow_store::sessions::{self, conversations, memories, souls};
use knowhow_store::tenants::{idempotency, keys, usage};

use crate::sessions::{LOG_BYTES, REPLIES};
use crate::skills::NAMES;

/// Returns the beginning of each table row, and a text that it must contain.
fn limits() -> Vec<(&'static str, String)> {
    let settings = TenantSettings::default();
    vec![
        ("skills |", grouped(settings.skills_per_user)),
        ("bytes of skills as they are now |", sized(settings.bytes_per_user)),
        ("versions of one skill |", grouped(settings.versions_per_skill)),
        ("bytes of skills with history and archive |", sized(settings.stored_bytes_per_user)),
        ("files of a skill |", grouped(settings.files_per_skill)),
        ("files of a skill |", sized(settings.bytes_per_file)),
        ("files of a skill |", sized(settings.bytes_per_skill)),
        ("paths of files that `skill_view` and a turn list |", grouped(limits::SHOWN_FILES)),
        ("deleted skills |", format!("{} days", settings.archive_days)),
        ("other names of one skill", grouped(NAMES)),
        ("answers under an `Idempotency-Key` |", grouped(idempotency::KEYS)),
        ("reported uses |", grouped(usage::USES_PER_DAY)),
        ("conversations with their log |", grouped(settings.sessions_per_user)),
        ("conversations with their log |", format!("{} days", settings.conversation_days)),
        ("bytes of conversations", sized(settings.conversation_bytes_per_user)),
        ("bytes of one conversation's log |", sized(LOG_BYTES.unsigned_abs())),
        ("replies to one turn |", grouped(REPLIES)),
        ("judgements of one conversation |", grouped(sessions::FEEDBACK)),
        ("summaries of conversations |", grouped(conversations::SUMMARIES)),
        ("memories |", grouped(memories::MEMORIES)),
        ("memories |", format!("{} of them core", memories::CORE_MEMORIES)),
        ("earlier versions of a memory |", memories::VERSIONS.to_string()),
        ("earlier versions of a memory |", grouped(memories::VERSIONS_OF_USER)),
        ("versions of the soul |", grouped(souls::VERSIONS)),
        ("messages that a skill learned from |", format!("{EXAMPLES_PER_SKILL} of one skill")),
        ("messages that a skill learned from |", grouped(EXAMPLES_PER_USER)),
        ("users |", grouped(settings.users)),
        ("skills of its library |", library::LIBRARY_SKILLS.to_string()),
        ("bytes of its library |", sized(library::LIBRARY_BYTES.unsigned_abs())),
        ("versions of a directive |", grouped(directive::DIRECTIVE_VERSIONS)),
        ("directive |", grouped(directive::DIRECTIVE_CHARS)),
        ("text of a reflection |", grouped(reflection::TEXT_CHARS)),
        ("tries of a reflection |", reflection::TRIES.to_string()),
        ("actions of reflections |", format!("{} of one, {} a day", reflection::ACTIONS, reflection::ACTIONS_A_DAY)),
        ("API keys that work |", grouped(keys::WORKING_KEYS)),
        ("issuers |", grouped(settings.issuers)),
        ("entries of the audit log |", format!("{} days", settings.audit_days)),
        ("name, with namespaces |", grouped(limits::NAME_CHARS)),
        ("description |", grouped(limits::DESCRIPTION_CHARS)),
        ("frontmatter |", sized(limits::FRONTMATTER_BYTES as u64)),
        ("`index_budget` of a session |", BUDGET_STEPS.map(grouped).join(", ").replace(", 200,000", " or 200,000")),
    ]
}

/// Formats a number with commas between thousands.
fn grouped(number: impl ToString) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn sized(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 30 => format!("{} GiB", bytes >> 30),
        bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    }
}

#[test]
fn the_limits_page_agrees_with_the_constants() {
    let page = include_str!("../../../../docs/reference/limits.md");
    for (row, number) in limits() {
        let row = page.lines().find(|line| line.starts_with(&format!("| {row}")));
        assert!(row.is_some_and(|row| row.contains(&number)), "{number} is not in: {row:?}");
    }
}
