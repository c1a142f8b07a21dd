//! Checks a patch to a skill. Most of the skill's text must remain.

use serde_json::Value;

use super::lost_tokens::describe_missing;
use super::plan_state::{PlanState, text_of};
use super::temporary_content::check_no_new_secret;
use super::{Checked, ShownSkill};
use crate::SkillDocument;
use crate::learning::dream::RunPass;
use crate::learning::dream::tokens::{hard_tokens, missing_of};
use crate::skills::patch::{Edit, Strategy, apply_edits};

/// Maximum number of bytes that learning adds to a skill within 7 days. It prevents that a text grows each night.
pub const WEEKLY_GROWTH: i64 = 3_000;

/// Frontmatter keys that a patch may change. Their texts serve to find the skill.
const OPEN_KEYS: [&str; 4] = ["description", "summary", "tags", "triggers"];

pub(super) struct PatchCheck<'a> {
    pub(super) name: &'a str,
    pub(super) version: i32,
    pub(super) edits: &'a [Edit],
    pub(super) evidence: &'a [String],
}

impl PatchCheck<'_> {
    pub(super) fn check(&self, state: &PlanState<'_>) -> Checked {
        let skill = state.whole_skill(self.name, self.version)?;
        let evidence = state.evidence(self.evidence)?;
        if state.shown.pass == RunPass::Gaps {
            state.check_gap(&evidence)?;
        }
        // Other files were not shown to the model. `replace_all` is allowed, because the patched text is checked.
        if self.edits.iter().any(|edit| !matches!(edit.path.as_deref(), None | Some("SKILL.md" | "frontmatter"))) {
            return Err("it edits a file other than SKILL.md".to_owned());
        }
        let before = state.document(skill)?;
        let patched = apply_edits(&before, &|_| None, self.edits, &state.shown.limits)
            .map_err(|error| format!("its edits do not fit the text: {error}"))?;
        if patched.unchanged {
            return Err("its edits do not change the text".to_owned());
        }
        check_unchanged_fields(&before, &patched.document)?;
        check_growth(skill, &patched.document)?;
        check_no_new_secret(&[&before], &patched.document)?;
        let mut reasons = Vec::new();
        if patched.matched == Strategy::Similarity {
            reasons.push("an edit's passage is only similar to the one in the text".to_owned());
        }
        if state.shown.pass == RunPass::Optimize && !state.shown.candidates.weak.contains(self.name) {
            reasons.push(format!(
                "'{}' is not known to fail or to be too short: read it before you approve the patch",
                self.name
            ));
        }
        if state.shown.pass == RunPass::Gaps && !state.shown.candidates.near.contains(self.name) {
            reasons.push(format!("'{}' is not known to be close to the request", self.name));
        }
        Ok(reasons)
    }
}

/// Checks that a skill does not grow too fast by learning.
fn check_growth(skill: &ShownSkill, after: &SkillDocument) -> Result<(), String> {
    let bytes = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
    let added = bytes(after.raw()) - bytes(&skill.raw);
    let grown = skill.grown.max(0).saturating_add(added);
    match added > 0 && grown > WEEKLY_GROWTH {
        true => Err(format!("learning would add {grown} bytes within 7 days; the limit is {WEEKLY_GROWTH}")),
        false => Ok(()),
    }
}

/// Checks that a patch changes only the editable frontmatter keys and keeps most of the text.
fn check_unchanged_fields(before: &SkillDocument, after: &SkillDocument) -> Result<(), String> {
    if closed_part(before) != closed_part(after) {
        return Err(format!("it edits frontmatter keys other than {}", OPEN_KEYS.join(", ")));
    }
    let (length, was) = (after.content().trim().chars().count(), before.content().trim().chars().count());
    if length * 10 < was * 7 {
        return Err(format!("the text would shrink from {was} to {length} characters, by more than 30 %"));
    }
    let tokens = hard_tokens(&text_of(before));
    let missing = missing_of(&tokens, &text_of(after));
    if missing.len() * 5 > tokens.len() {
        let missing = describe_missing(&missing, tokens.len());
        return Err(format!("the patch would lose {missing}. Only a person may remove more than one in five"));
    }
    Ok(())
}

/// Returns the frontmatter without the editable keys, at the top and below `metadata`.
fn closed_part(document: &SkillDocument) -> Value {
    let mut frontmatter = document.frontmatter_json();
    if let Value::Object(map) = &mut frontmatter {
        map.retain(|key, _| !OPEN_KEYS.contains(&key.as_str()));
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            metadata.retain(|key, _| !OPEN_KEYS.contains(&key.as_str()));
            if metadata.is_empty() {
                map.remove("metadata");
            }
        }
    }
    frontmatter
}
