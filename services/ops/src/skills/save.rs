//! Saves a skill: creates or updates it from fields or from a whole SKILL.md.

use knowhow_domain::skills::name;
use knowhow_domain::{
    ChangeKind, Error, FieldEdits, FieldError, Limits, Result, Role, Scope, SkillDocument, SkillName, with_skill_fields,
};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::similar::find_similar;
use super::view::SavedSkill;
use crate::Ctx;
use crate::change::draft::Draft;
use crate::change::{ChangeResult, ProposedChange, SkillChange, SkillVerb, Target, change_skill, check_version};

macro_rules! save_skill {
    (
        single { $($(#[doc = $doc:literal])* $(#[schema $schema:tt])? $single:ident: $type:ident,)* }
        lists { $($(#[doc = $list_doc:literal])* $(#[schema $list_schema:tt])? $list:ident,)* }
    ) => {
        /// A skill to save: either `name`, `description`, `content` and other fields, or a whole SKILL.md. In an
        /// update, absent members stay unchanged.
        #[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(example = json!({
            "name": "plan-meeting",
            "description": "Schedule meetings and invite attendees. Use when the user wants people to meet.",
            "content": "## When to Use\n\nThe user wants people to meet.\n\n## Procedure\n\n1. Find free slots.\n"
        }))]
        pub struct SaveSkill {
            /// Whether to reject the save if the name exists. The value comes from the query, not from the body.
            #[serde(skip)]
            pub create_only: bool,
            /// 1 to 4 segments `[a-z0-9]+(-[a-z0-9]+)*` joined by `/`. With `skill_md` it can only add a namespace.
            #[schema(max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*){0,3}$")]
            pub name: Option<String>,
            /// The whole SKILL.md, stored byte for byte. Only `name` and `expected_version` can be combined with it.
            pub skill_md: Option<String>,
            /// The skill's purpose and when to use it; required for a new skill.
            #[schema(min_length = 1, max_length = 1024)]
            pub description: Option<String>,
            /// The markdown body; required for a new skill.
            #[schema(min_length = 1)]
            pub content: Option<String>,
            $($(#[doc = $doc])* $(#[schema $schema])? pub $single: Option<$type>,)*
            $($(#[doc = $list_doc])* $(#[schema $list_schema])? pub $list: Option<Vec<String>>,)*
            /// Changes to the frontmatter's `metadata`, merged key by key; null removes a key.
            pub metadata: Option<Map<String, Value>>,
            /// The version that this save is based on; 0 if the skill must not exist yet.
            #[schema(minimum = 0)]
            pub expected_version: Option<i32>,
        }

        impl SaveSkill {
            fn edits(&self) -> FieldEdits {
                FieldEdits {
                    description: self.description.clone(),
                    $($single: self.$single.clone().map(Some),)*
                    $($list: self.$list.clone(),)*
                    metadata: self.metadata.clone(),
                }
            }
        }
    };
}
with_skill_fields!(save_skill);

/// The result of a save.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    /// The answer to the caller.
    pub skill: SavedSkill,
    /// Whether the save created the skill.
    pub created: bool,
    /// Whether it is the user's only skill, so that no similar skill exists.
    #[serde(skip)]
    is_first: bool,
    /// The new revision of the user's catalogue; `None` if no version was created.
    #[serde(skip)]
    pub(crate) revision: Option<i64>,
}

/// Saves a skill.
///
/// # Errors
/// `Invalid`, `TooLarge` or `Quota`; `VersionConflict` if `expected_version` is not the current version; `Conflict`
/// `skill-exists` if `create_only` is set and the skill exists.
pub async fn save_skill(ctx: &Ctx, input: &SaveSkill) -> Result<Saved> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut saved = change_skill(ctx, &Save::of(&ctx.app.limits, input)?).await?;
    if saved.created && !saved.is_first {
        saved.skill.similar = find_similar(ctx, &saved.skill.skill, saved.revision).await;
    }
    Ok(saved)
}

/// A validated request to save a skill.
pub(crate) struct Save<'a> {
    input: &'a SaveSkill,
    name: SkillName,
    body: SaveBody<'a>,
}

impl SkillChange for Save<'_> {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    fn needs_only_the_skill(&self) -> bool {
        true
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        if self.input.create_only && current.is_some() {
            let detail = format!("'{}' exists; save without create_only to change it", self.name);
            return Err(Error::Conflict { code: "skill-exists", detail });
        }
        check_version(self.input.expected_version, current)?;
        let document = self.document(&ctx.app.limits, current)?;
        // A whole SKILL.md replaces the previous text. Fields change only the parts that they name.
        let derived = matches!(self.body, SaveBody::Fields(..)) && current.is_some();
        let resources = current.map(|current| current.skill.resources.clone()).unwrap_or_default();
        let draft = Draft::new(ChangeKind::Save, self.name.clone(), document);
        Ok(ProposedChange::Write(Box::new(Draft { resources, derived, ..draft })))
    }
}

impl SkillVerb for Save<'_> {
    const NAME: &'static str = "skills.save";
    type Answer = Saved;

    fn request(&self) -> impl Serialize {
        ("save", self.input.create_only, self.input)
    }

    fn answer(&self, changed: ChangeResult) -> Saved {
        let ChangeResult { created, is_first, .. } = changed;
        Saved { skill: SavedSkill::of(changed), created, is_first, revision: None }
    }
}

enum SaveBody<'a> {
    Document(Box<SkillDocument>),
    /// Fields to change, and the body if it is given.
    Fields(Box<FieldEdits>, Option<&'a str>),
}

impl<'a> Save<'a> {
    /// Validates a request to save a skill.
    pub(crate) fn of(limits: &Limits, input: &'a SaveSkill) -> Result<Self> {
        match &input.skill_md {
            Some(skill_md) => Self::of_document(limits, input, skill_md),
            None => Self::of_fields(input),
        }
    }

    fn of_document(limits: &Limits, input: &'a SaveSkill, skill_md: &str) -> Result<Self> {
        let edits = input.edits();
        if input.content.is_some() || !edits.is_empty() {
            return Err(Error::invalid("/skill_md", "a whole SKILL.md excludes content and fields; edit it instead"));
        }
        let document = SkillDocument::parse_named(skill_md, limits)?;
        let (name, _) = name::parse_new(input.name.as_deref().unwrap_or(document.name_in_frontmatter()))?;
        Ok(Self { input, name, body: SaveBody::Document(Box::new(document)) })
    }

    fn of_fields(input: &'a SaveSkill) -> Result<Self> {
        let mut findings = Vec::new();
        if input.name.is_none() {
            findings.push(FieldError::new("/name", "is required: the skill's name, e.g. plan-meeting"));
        }
        if input.content.as_ref().is_some_and(|content| content.trim().is_empty()) {
            findings.push(FieldError::new("/content", NO_CONTENT));
        }
        let mut edits = input.edits();
        findings.extend(edits.validate());
        match &input.name {
            Some(name) if findings.is_empty() => {
                let (name, title) = name::parse_new(name)?;
                if let Some(title) = title {
                    let metadata = edits.metadata.get_or_insert_default();
                    metadata.entry("title").or_insert(title.into());
                }
                Ok(Self { input, name, body: SaveBody::Fields(Box::new(edits), input.content.as_deref()) })
            }
            _ => Err(Error::Invalid(findings)),
        }
    }

    fn document(&self, limits: &Limits, current: Option<&Locked>) -> Result<SkillDocument> {
        match (&self.body, current) {
            (SaveBody::Document(document), current) => {
                check_name(limits, &self.name, document.name_in_frontmatter(), current)?;
                Ok((**document).clone())
            }
            (SaveBody::Fields(edits, Some(content)), None) => {
                SkillDocument::compose(&self.name, edits, content, limits)
            }
            (SaveBody::Fields(edits, None), None) => {
                let mut findings = vec![FieldError::new("/content", NO_CONTENT)];
                if edits.description.is_none() {
                    findings.push(FieldError::new("/description", "is required for a new skill"));
                }
                Err(Error::Invalid(findings))
            }
            (SaveBody::Fields(edits, content), Some(current)) => {
                SkillDocument::parse_named(&current.skill.document, limits)?.with_edits(edits, *content, limits)
            }
        }
    }
}

const NO_CONTENT: &str = "is required for a new skill: the markdown body (or give skill_md)";

/// Checks that the skill's name ends with the frontmatter's name. An existing difference, e.g. of an imported skill,
/// may stay.
fn check_name(limits: &Limits, name: &SkillName, in_frontmatter: &str, current: Option<&Locked>) -> Result<()> {
    let plain = name::parse_new(in_frontmatter).map(|(plain, _)| plain.as_str().to_owned());
    let in_letters = plain.as_deref().unwrap_or(in_frontmatter);
    if in_letters == name.as_str() || in_letters == name.last_segment() {
        return Ok(());
    }
    if let Some(current) = current
        && SkillDocument::parse_named(&current.skill.document, limits)?.name_in_frontmatter() == in_frontmatter
    {
        return Ok(());
    }
    plain?;
    let detail = format!("'{name}' must end in the frontmatter's name '{in_frontmatter}'; change one of them");
    Err(Error::invalid("/name", detail))
}
