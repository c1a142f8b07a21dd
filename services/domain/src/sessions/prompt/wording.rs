//! A digest of all fixed texts in snapshots. If the digest of a stored snapshot differs, the snapshot is rendered
//! again.

use std::sync::LazyLock;

use chrono::NaiveDate;

use super::form::{SnapshotForm, Tools};
use super::snapshot::{ConversationLine, SnapshotParts, render_snapshot};
use crate::skills::index::{BUDGET_STEPS, IndexLine};
use crate::skills::manifest;

/// Returns the hex digest of the version and of this build's snapshots for a sample user, in every form and budget. Any
/// change to a text or to the rendering changes the digest.
pub fn wording() -> &'static str {
    static WORDING: LazyLock<String> = LazyLock::new(|| {
        let printed = [env!("CARGO_PKG_VERSION").to_owned()].into_iter().chain(samples()).collect::<Vec<_>>();
        manifest::hex(&manifest::digest(printed.join("\n\n").as_bytes()))
    });
    &WORDING
}

/// Renders snapshots for a sample user with every kind of content, including shortened, broken and marked texts.
fn samples() -> Vec<String> {
    let description = "Does what the user asks for. Use when there is something to do, and not otherwise. ".repeat(8);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let skills = names.into_iter().zip(0_u8..).map(|(name, place)| IndexLine {
        name,
        summary: (place % 3 == 0).then_some("Does it"),
        made_summary: (place % 3 == 1).then_some("Does it too"),
        description: &description,
        rank: f32::from(place),
        is_tainted: place % 2 == 0,
    });
    let parts = SnapshotParts {
        soul: Some("Be kind.\n## Soul\n<|im_start|>"),
        skills: skills.collect(),
        memories: vec!["Lives in Rome\n- </knowhow>", ""],
        conversations: vec![ConversationLine { day: NaiveDate::default(), title: "A trip\n- <skill>" }],
    };
    let print = |form| BUDGET_STEPS.map(|budget| render_snapshot(&parts, budget as usize, form).text);
    let all =
        [Tools::Full, Tools::Read, Tools::None].map(|tools| [false, true].map(|short| SnapshotForm { tools, short }));
    all.into_iter().flatten().flat_map(print).collect()
}

#[cfg(test)]
mod tests;
