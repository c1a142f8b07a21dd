//! Patch: the preferred edit. Replaces text, all edits or none; the same patch again changes nothing.

use std::collections::HashMap;

use knowhow_domain::patch::{Edit, Strategy, apply_edits, edits_digest};
use knowhow_domain::{Error, ResourceEntry, Result, Scope, SkillDocument, SkillName, manifest};
use knowhow_store::skills::{self, ChangeKind, Locked, SkillKey};
use knowhow_store::{Principal, WriteTx, versions};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::{Origin, Proposal, apply, check_version};
use super::kept;
use super::lookup::{self, Reach};
use super::save::source;
use super::view::Skill;
use crate::{App, Call, compute};

/// Edits to make, in order, all or none.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"edits": [{"old_string": "Find free slots.", "new_string": "Find three free slots."}]}))]
pub struct PatchSkill {
    /// Replacements; each works on the result of the one before.
    #[schema(min_items = 1, max_items = 100)]
    pub edits: Vec<Edit>,
    /// The version the edits are based on.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// What a patch came to.
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
pub async fn patch_skill(
    app: &App,
    principal: &Principal,
    call: &Call,
    skill: &str,
    input: &PatchSkill,
) -> Result<Patched> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let found = lookup::find(app, principal, skill, Reach::Segment, async |key: &SkillKey| {
        change(app, principal, call, (skill, key), input).await
    })
    .await?;
    Ok(found.item)
}

async fn change(
    app: &App,
    principal: &Principal,
    call: &Call,
    (asked, key): (&str, &SkillKey),
    input: &PatchSkill,
) -> Result<Patched> {
    let origin = Origin::new(principal, call, ChangeKind::Patch, source(principal, call));
    let mut tx = WriteTx::begin(&app.db, principal, "skills.patch").await?;
    let mut patched = call
        .once_in_short(app, &mut tx, (&("patch", asked, input), kept::shorten, kept::restore), async |tx| {
            let (mut replacements, mut matched) = (0, Strategy::Exact);
            let applied = apply(app, tx, key, &origin, async |tx: &mut WriteTx, current: Option<&Locked>| {
                let current = current.ok_or_else(lookup::missing)?;
                let request = edits_digest(&input.edits);
                if is_repeated(current, &request, input.expected_version) {
                    return Ok(None);
                }
                check_version(input.expected_version, Some(current))?;
                match replace(app, tx, current, &input.edits).await {
                    // What is gone may have been replaced by this very patch, before other changes came.
                    Err(miss @ Error::PatchNoMatch { .. }) => {
                        let made = versions::was_requested(tx, current.skill.id, &request).await?;
                        if made { Ok(None) } else { Err(miss) }
                    }
                    Err(refusal) => Err(refusal),
                    Ok(done) => {
                        (replacements, matched) = (done.replacements, done.matched);
                        Ok(done.proposal(current, request))
                    }
                }
            })
            .await?;
            Ok(Patched { skill: applied.skill, unchanged: applied.unchanged, replacements, matched })
        })
        .await?;
    origin.commit(app, tx, Some(&mut patched.skill)).await?;
    Ok(patched)
}

/// Whether the current version was made by these very edits, sent for the version before it or for none.
fn is_repeated(current: &Locked, request: &[u8; 32], expected: Option<i32>) -> bool {
    current.request_digest.as_deref() == Some(request)
        && expected.is_none_or(|v| v == current.skill.version || v.checked_add(1) == Some(current.skill.version))
}

struct Replaced {
    document: SkillDocument,
    resources: Vec<ResourceEntry>,
    new_files: Vec<Vec<u8>>,
    replacements: usize,
    matched: Strategy,
    unchanged: bool,
}

impl Replaced {
    fn proposal(self, current: &Locked, request: [u8; 32]) -> Option<Proposal> {
        match SkillName::parse(&current.skill.name) {
            Ok(name) if !self.unchanged => Some(Proposal {
                name,
                document: self.document,
                resources: self.resources,
                new_files: self.new_files,
                request_digest: Some(request),
                derived: true,
                brought: None,
            }),
            _ => None,
        }
    }
}

async fn replace(app: &App, tx: &mut WriteTx, current: &Locked, edits: &[Edit]) -> Result<Replaced> {
    let texts = read_texts(tx, current, edits).await?;
    let (limits, edits, raw) = (app.limits.clone(), edits.to_vec(), current.skill.document.clone());
    let patched = compute(move || {
        let document = SkillDocument::parse_named(&raw, &limits)?;
        apply_edits(&document, &|path| texts.get(path).cloned(), &edits, &limits)
    })
    .await?;
    let mut resources = current.skill.resources.clone();
    let mut new_files = Vec::new();
    for (path, text) in patched.resources {
        if let Some(entry) = resources.iter_mut().find(|r| r.path == path.as_str()) {
            entry.size = text.len() as u64;
            entry.digest = manifest::hex(&manifest::digest(text.as_bytes()));
        }
        new_files.push(text.into_bytes());
    }
    Ok(Replaced {
        document: patched.document,
        resources,
        new_files,
        replacements: patched.replacements,
        matched: patched.matched,
        unchanged: patched.unchanged,
    })
}

/// The texts of the resources that edits name, in one query; none where no edit names any.
async fn read_texts(tx: &mut WriteTx, current: &Locked, edits: &[Edit]) -> Result<HashMap<String, String>> {
    let named = |r: &&ResourceEntry| edits.iter().any(|e| e.path.as_deref() == Some(r.path.as_str()));
    let wanted: Vec<&ResourceEntry> = current.skill.resources.iter().filter(named).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let digests: Vec<String> = wanted.iter().map(|r| r.digest.clone()).collect();
    let files: HashMap<String, Vec<u8>> = skills::read_files(tx, &digests).await?.into_iter().collect();
    Ok(wanted
        .into_iter()
        .filter_map(|r| Some((r.path.clone(), String::from_utf8(files.get(&r.digest)?.clone()).ok()?)))
        .collect())
}
