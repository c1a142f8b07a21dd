//! Passages of a skill are replaced. It stays the same skill, and most of it stays.

use serde_json::Value;

use super::Checked;
use super::course::{Course, text_of};
use super::lasting::check_no_new_secret;
use super::merge::say_missing;
use crate::SkillDocument;
use crate::dream::RunPass;
use crate::dream::tokens::{hard_tokens, missing_of};
use crate::patch::{Edit, Strategy, apply_edits};

/// What a patch may change in a frontmatter: words to find the skill by.
const OPEN_KEYS: [&str; 4] = ["description", "summary", "tags", "triggers"];

pub(super) struct Patch<'a> {
    pub(super) name: &'a str,
    pub(super) version: i32,
    pub(super) edits: &'a [Edit],
    pub(super) evidence: &'a [String],
}

impl Patch<'_> {
    pub(super) fn check(&self, course: &Course<'_>) -> Checked {
        let skill = course.whole_skill(self.name, self.version)?;
        course.evidence(self.evidence)?;
        // Files beside the document were not shown. `replace_all` is taken: what is checked is the outcome.
        if self.edits.iter().any(|edit| !matches!(edit.path.as_deref(), None | Some("SKILL.md" | "frontmatter"))) {
            return Err("it edits another file than SKILL.md".to_owned());
        }
        let before = course.document(skill)?;
        let patched = apply_edits(&before, &|_| None, self.edits, &course.shown.limits)
            .map_err(|error| format!("its edits do not fit the text: {error}"))?;
        if patched.unchanged {
            return Err("its edits change nothing".to_owned());
        }
        check_kept(&before, &patched.document)?;
        check_no_new_secret(&[&before], &patched.document)?;
        let mut reasons = Vec::new();
        if patched.matched == Strategy::Similarity {
            reasons.push("an edit gives a passage that is only similar to the one in the text".to_owned());
        }
        if course.shown.pass == RunPass::Optimize && !course.shown.candidates.weak.contains(self.name) {
            reasons.push(format!(
                "code did not find that '{}' fails or says too little: read it before you let the patch in",
                self.name
            ));
        }
        Ok(reasons)
    }
}

/// Checks that enough of a skill is kept.
fn check_kept(before: &SkillDocument, after: &SkillDocument) -> Result<(), String> {
    if closed_part(before) != closed_part(after) {
        return Err(format!("it edits more of the frontmatter than {}", OPEN_KEYS.join(", ")));
    }
    let (length, was) = (after.content().trim().chars().count(), before.content().trim().chars().count());
    if length * 10 < was * 7 {
        return Err(format!("the text would shrink from {was} to {length} characters, by more than 30 %"));
    }
    let tokens = hard_tokens(&text_of(before));
    let missing = missing_of(&tokens, &text_of(after));
    if missing.len() * 5 > tokens.len() {
        let missing = say_missing(&missing, tokens.len());
        return Err(format!(
            "the patch would lose {missing}. More than one in five goes only where a person edits the skill"
        ));
    }
    Ok(())
}

/// The frontmatter without what a patch may change, at the top and below `metadata`.
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
