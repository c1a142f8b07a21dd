//! Patches skills, which is the preferred way to edit. A patch is atomic, and a repeated patch has no effect.

use std::collections::HashMap;

use knowhow_domain::skills::manifest;
use knowhow_domain::skills::patch::{Edit, Strategy, apply_edits, edits_digest};
use knowhow_domain::{ChangeKind, Error, Result, Scope, SkillDocument};
use knowhow_store::WriteTx;
use knowhow_store::skills::versions;
use knowhow_store::skills::{AdditionalReads, Locked};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::Skill;
use crate::change::draft::Draft;
use crate::change::{
    ChangeResult, ProposedChange, Replaced, SkillChange, SkillVerb, Target, change_skill, check_version,
};
use crate::context::lookup::{self, NameMatching};
use crate::platform::admission::{self, Turn};
use crate::{Ctx, compute};

/// Maximum number of edits of a quick patch, which takes about 5 ms on the longest text. Larger patches wait for a
/// slot.
const MOST_QUICK: usize = 16;

/// Edits to apply in order. If one fails, no edit is applied.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"edits": [{"old_string": "Find free slots.", "new_string": "Find three free slots."}]}))]
pub struct PatchSkill {
    /// The skill, by name or id; taken from the path, not from the body.
    #[serde(skip)]
    pub skill: String,
    /// Replacements; each applies to the result of the previous one.
    #[schema(min_items = 1, max_items = 100)]
    pub edits: Vec<Edit>,
    /// The version that the edits are based on.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// The result of a patch.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Patched {
    /// The skill after the patch.
    #[serde(flatten)]
    pub skill: Skill,
    /// Whether the patch had already been applied, so that no version was created.
    pub unchanged: bool,
    /// Number of replaced occurrences.
    #[schema(minimum = 0)]
    pub replacements: usize,
    /// Strategy that matched the text; with several edits, the most tolerant one.
    pub matched: Strategy,
}

/// Patches a skill.
///
/// # Errors
/// `NotFound`, `PatchNoMatch`, `PatchAmbiguous`, `Invalid` or `VersionConflict`. The skill then stays unchanged.
pub async fn patch_skill(ctx: &Ctx, input: &PatchSkill) -> Result<Patched> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let _turn = input.turn(ctx).await?;
    change_skill(ctx, input).await
}

impl PatchSkill {
    /// Waits for a slot if the patch has many edits. The caller keeps the slot until the patch is done. Must not be
    /// called within a transaction, see [`crate::AdmissionQueue::turn`].
    pub(crate) async fn turn(&self, ctx: &Ctx) -> Result<Option<Turn>> {
        match self.is_expensive() {
            true => ctx.app.admission.patches.turn(&ctx.principal).await.map(Some),
            false => Ok(None),
        }
    }

    fn is_expensive(&self) -> bool {
        self.edits.len() > MOST_QUICK
    }

    async fn replace(&self, ctx: &Ctx, current: &Locked) -> Result<Draft> {
        let texts = texts(current);
        let (limits, edits, raw) = (ctx.app.limits.clone(), self.edits.clone(), current.skill.document.clone());
        let patch = move || {
            let document = SkillDocument::parse_named(&raw, &limits)?;
            apply_edits(&document, &|path| texts.get(path).cloned(), &edits, &limits)
        };
        let patched = if self.is_expensive() { admission::compute(patch).await? } else { compute(patch).await? };
        let mut resources = current.skill.resources.clone();
        let mut new_files = Vec::new();
        for (path, text) in patched.resources {
            if let Some(entry) = resources.iter_mut().find(|r| r.path == path.as_str()) {
                entry.size = text.len() as u64;
                entry.digest = manifest::hex(&manifest::digest(text.as_bytes()));
            }
            new_files.push(text.into_bytes());
        }
        let replaced = Replaced { places: patched.replacements, matched: patched.matched };
        let draft = Draft::of(ChangeKind::Patch, current, patched.document)?;
        Ok(Draft { resources, new_files, replaced, derived: true, ..draft })
    }
}

impl SkillChange for PatchSkill {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.skill, NameMatching::Segment)
    }

    fn reads(&self) -> AdditionalReads {
        // A path with a NUL matches no file, and Postgres rejects NUL.
        let paths = self.edits.iter().filter_map(|edit| edit.path.clone()).filter(|path| !path.contains('\0'));
        AdditionalReads { files: paths.collect(), ..AdditionalReads::default() }
    }

    fn needs_only_the_skill(&self) -> bool {
        // If a patch fails on the cached copy, it runs again on the usual path. With many edits, that costs more than
        // the round trip that the cached copy saves.
        !self.is_expensive() && self.edits.iter().all(|edit| edit.path.is_none())
    }

    async fn propose(&self, ctx: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let current = current.ok_or_else(lookup::missing)?;
        let request = edits_digest(&self.edits);
        if is_repeated(current, &request, self.expected_version) {
            return Ok(ProposedChange::Keep);
        }
        check_version(self.expected_version, Some(current))?;
        match self.replace(ctx, current).await {
            // The text may be missing because an earlier request with the same edits replaced it before other
            // changes.
            Err(miss @ Error::PatchNoMatch { .. }) => {
                let made = versions::was_requested(tx, current.skill.id, &request).await?;
                if made { Ok(ProposedChange::Keep) } else { Err(miss) }
            }
            Err(refusal) => Err(refusal),
            Ok(draft) => Ok(ProposedChange::Write(Box::new(Draft { request_digest: Some(request), ..draft }))),
        }
    }
}

impl SkillVerb for PatchSkill {
    const NAME: &'static str = "skills.patch";
    type Answer = Patched;

    fn request(&self) -> impl Serialize {
        ("patch", &self.skill, self)
    }

    fn answer(&self, changed: ChangeResult) -> Patched {
        let ChangeResult { skill, unchanged, replaced: Replaced { places, matched }, .. } = changed;
        Patched { skill, unchanged, replacements: places, matched }
    }
}

/// Returns whether the same edits made the current version. If the request expects a version, it must be the current
/// one or the one before. Versions that enrichment made are ignored.
fn is_repeated(current: &Locked, request: &[u8; 32], expected: Option<i32>) -> bool {
    current.request_digest.as_deref() == Some(request)
        && expected.is_none_or(|v| current.is_at(v) || v.checked_add(1) == Some(current.authored_version))
}

/// Returns the edited files that are UTF-8 text.
fn texts(current: &Locked) -> HashMap<String, String> {
    let text = |(path, bytes): (&String, &Vec<u8>)| Some((path.clone(), String::from_utf8(bytes.clone()).ok()?));
    current.files.iter().filter_map(text).collect()
}
