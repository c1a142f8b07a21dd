//! Patch: the preferred edit. Replaces text, all edits or none; the same patch again changes nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use knowhow_domain::patch::{Edit, Strategy, apply_edits, edits_digest};
use knowhow_domain::{ChangeKind, Error, Result, Scope, SkillDocument, manifest};
use knowhow_store::skills::{Beside, Locked};
use knowhow_store::{WriteTx, versions};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::change::{Changed, Proposal, Replaced, SkillChange, SkillVerb, Target, change_skill, check_version};
use super::draft::Draft;
use super::view::Skill;
use crate::dear::{self, Line, Turn};
use crate::lookup::{self, Reach};
use crate::{Ctx, compute};

/// Most edits of a patch that is quick: over the longest text they take about 5 ms. Of those with more, a tenant has one at a
/// time.
const MOST_QUICK: usize = 16;
/// Patches of more edits that the process makes at once.
const AT_ONCE: usize = 2;

static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("patches of many edits of this tenant", AT_ONCE));

/// Edits to make, in order, all or none.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"edits": [{"old_string": "Find free slots.", "new_string": "Find three free slots."}]}))]
pub struct PatchSkill {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// Replacements; each works on the result of the one before.
    #[schema(min_items = 1, max_items = 100)]
    pub edits: Vec<Edit>,
    /// The version the edits are based on.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// The result of a patch.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Patched {
    /// The skill as it is now.
    #[serde(flatten)]
    pub skill: Skill,
    /// The patch had been applied before; no version was made.
    pub unchanged: bool,
    /// Places that were replaced.
    #[schema(minimum = 0)]
    pub replacements: usize,
    /// How the text was found; of several edits, the most tolerant way.
    pub matched: Strategy,
}

/// Patches a skill.
///
/// # Errors
/// `NotFound`, `PatchNoMatch`, `PatchAmbiguous`, `Invalid`, `VersionConflict`; nothing has changed then.
pub async fn patch_skill(ctx: &Ctx, input: &PatchSkill) -> Result<Patched> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let _turn = input.turn(ctx).await?;
    change_skill(ctx, input).await
}

impl PatchSkill {
    /// Waits until a patch of many edits may be made; to be kept until it is. Not within a transaction, see [`Line::turn`].
    ///
    /// # Errors
    /// `RateLimited`.
    pub(crate) async fn turn(&self, ctx: &Ctx) -> Result<Option<Turn>> {
        match self.is_dear() {
            true => LINE.turn(&ctx.principal).await.map(Some),
            false => Ok(None),
        }
    }

    fn is_dear(&self) -> bool {
        self.edits.len() > MOST_QUICK
    }

    async fn replace(&self, ctx: &Ctx, current: &Locked) -> Result<Draft> {
        let texts = texts(current);
        let (limits, edits, raw) = (ctx.app.limits.clone(), self.edits.clone(), current.skill.document.clone());
        let patch = move || {
            let document = SkillDocument::parse_named(&raw, &limits)?;
            apply_edits(&document, &|path| texts.get(path).cloned(), &edits, &limits)
        };
        let patched = if self.is_dear() { dear::compute(patch).await? } else { compute(patch).await? };
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
        Target::Called(&self.skill, Reach::Segment)
    }

    fn reads(&self) -> Beside {
        // No file's path has a NUL, and Postgres takes none.
        let paths = self.edits.iter().filter_map(|edit| edit.path.clone()).filter(|path| !path.contains('\0'));
        Beside { files: paths.collect(), ..Beside::default() }
    }

    fn needs_only_the_skill(&self) -> bool {
        // What is refused at hand is tried again the usual way: of many edits that would cost more than a round trip.
        !self.is_dear() && self.edits.iter().all(|edit| edit.path.is_none())
    }

    async fn propose(&self, ctx: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let current = current.ok_or_else(lookup::missing)?;
        let request = edits_digest(&self.edits);
        if is_repeated(current, &request, self.expected_version) {
            return Ok(Proposal::Keep);
        }
        check_version(self.expected_version, Some(current))?;
        match self.replace(ctx, current).await {
            // What is gone may have been replaced by this very patch, before other changes came.
            Err(miss @ Error::PatchNoMatch { .. }) => {
                let made = versions::was_requested(tx, current.skill.id, &request).await?;
                if made { Ok(Proposal::Keep) } else { Err(miss) }
            }
            Err(refusal) => Err(refusal),
            Ok(draft) => Ok(Proposal::Write(Box::new(Draft { request_digest: Some(request), ..draft }))),
        }
    }
}

impl SkillVerb for PatchSkill {
    const NAME: &'static str = "skills.patch";
    type Answer = Patched;

    fn request(&self) -> impl Serialize {
        ("patch", &self.skill, self)
    }

    fn answer(&self, changed: Changed) -> Patched {
        let Changed { skill, unchanged, replaced: Replaced { places, matched }, .. } = changed;
        Patched { skill, unchanged, replacements: places, matched }
    }
}

/// Whether the current version was made by these very edits, sent for the version before it or for none; enrichment aside.
fn is_repeated(current: &Locked, request: &[u8; 32], expected: Option<i32>) -> bool {
    current.request_digest.as_deref() == Some(request)
        && expected.is_none_or(|v| current.is_at(v) || v.checked_add(1) == Some(current.authored_version))
}

/// The files that edits name, as far as they are texts.
fn texts(current: &Locked) -> HashMap<String, String> {
    let text = |(path, bytes): (&String, &Vec<u8>)| Some((path.clone(), String::from_utf8(bytes.clone()).ok()?));
    current.files.iter().filter_map(text).collect()
}
