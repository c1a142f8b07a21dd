//! Discovery fields alone: the frontmatter is edited where they stand, the body stays as it is.

use knowhow_domain::{Error, FieldEdits, Result, Role, Scope, SkillDocument, SkillName};
use knowhow_store::skills::{self, ChangeKind, Locked, SkillKey};
use knowhow_store::{Principal, WriteTx};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::apply::{Origin, Proposal, apply, check_version};
use super::kept;
use super::lookup::{self, Reach};
use super::save::source;
use super::view::SavedSkill;
use crate::{App, Call};

/// Fields to change. What is absent stays; null removes what is optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"category": "office", "tags": ["calendar", "people"], "pinned": true}))]
pub struct PutFields {
    /// What it does and when to use it.
    #[schema(min_length = 1, max_length = 1024)]
    pub description: Option<String>,
    /// The index line, at most 15 words.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub summary: Option<Option<String>>,
    /// One word of order.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub category: Option<Option<String>>,
    /// Free labels.
    #[schema(max_items = 32)]
    pub tags: Option<Vec<String>>,
    /// Short phrases that call for it.
    #[schema(max_items = 8)]
    pub triggers: Option<Vec<String>>,
    /// Names of related skills.
    #[schema(max_items = 32)]
    pub see_also: Option<Vec<String>>,
    /// What kind of skill it is.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Role>)]
    pub role: Option<Option<Role>>,
    /// Of agentskills.io.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub license: Option<Option<String>>,
    /// Of agentskills.io.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub compatibility: Option<Option<String>>,
    /// Of agentskills.io.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub allowed_tools: Option<Option<String>>,
    /// Who wrote it.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub author: Option<Option<String>>,
    /// Merged into the frontmatter's `metadata` key by key; null removes a key.
    pub metadata: Option<Map<String, Value>>,
    /// Protects from deletion and background changes. Not part of the text: makes no version.
    pub pinned: Option<bool>,
    /// The version this is based on.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// Tells null (remove) from absent (keep).
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(input: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

/// Changes discovery fields.
///
/// # Errors
/// `NotFound`, `Invalid`, `VersionConflict`.
pub async fn put_fields(
    app: &App,
    principal: &Principal,
    call: &Call,
    skill: &str,
    input: &PutFields,
) -> Result<SavedSkill> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let edits = edits(input);
    let findings = edits.validate();
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    let found = lookup::find(app, principal, skill, Reach::Segment, async |key: &SkillKey| {
        change(app, principal, call, (skill, key), (input, &edits)).await
    })
    .await?;
    Ok(found.item)
}

async fn change(
    app: &App,
    principal: &Principal,
    call: &Call,
    (asked, key): (&str, &SkillKey),
    (input, edits): (&PutFields, &FieldEdits),
) -> Result<SavedSkill> {
    let mut tx = WriteTx::begin(&app.db, principal, "skills.fields").await?;
    let origin = Origin::new(principal, call, ChangeKind::Save, source(principal, call));
    let mut saved = call
        .once_in_short(app, &mut tx, (&("fields", asked, input), kept::shorten, kept::restore), async |tx| {
            let applied = apply(app, tx, key, &origin, async |_: &mut WriteTx, current: Option<&Locked>| {
                let current = current.ok_or_else(lookup::missing)?;
                check_version(input.expected_version, Some(current))?;
                let document = SkillDocument::parse_named(&current.skill.document, &app.limits)?;
                Ok(Some(Proposal {
                    name: SkillName::parse(&current.skill.name)?,
                    document: document.with_edits(edits, None, &app.limits)?,
                    resources: current.skill.resources.clone(),
                    new_files: Vec::new(),
                    request_digest: None,
                    derived: true,
                    brought: None,
                }))
            })
            .await?;
            let mut skill = applied.skill;
            let mut unchanged = applied.unchanged;
            if let Some(pinned) = input.pinned.filter(|p| *p != skill.pinned) {
                skills::set_flags(tx, skill.id, pinned, app.now());
                skill.pinned = pinned;
                skill.updated_at = app.now();
                unchanged = false;
            }
            Ok(SavedSkill { skill, unchanged, similar: Vec::new(), review: None })
        })
        .await?;
    origin.commit(app, tx, Some(&mut saved.skill)).await?;
    Ok(saved)
}

fn edits(input: &PutFields) -> FieldEdits {
    FieldEdits {
        description: input.description.clone(),
        summary: input.summary.clone(),
        category: input.category.clone(),
        license: input.license.clone(),
        compatibility: input.compatibility.clone(),
        allowed_tools: input.allowed_tools.clone(),
        author: input.author.clone(),
        role: input.role,
        tags: input.tags.clone(),
        triggers: input.triggers.clone(),
        see_also: input.see_also.clone(),
        metadata: input.metadata.clone(),
    }
}
