//! Save: create or update, from fields or from a whole SKILL.md.

use knowhow_domain::{
    ChangeKind, Error, FieldEdits, FieldError, Limits, Result, Role, Scope, SkillDocument, SkillName, with_skill_fields,
};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::change::{Changed, Proposal, SkillChange, SkillVerb, Target, change_skill, check_version};
use super::draft::Draft;
use super::similar::find_similar;
use super::view::SavedSkill;
use crate::Ctx;

macro_rules! save_skill {
    (
        single { $($(#[doc = $doc:literal])* $(#[schema $schema:tt])? $single:ident: $type:ident,)* }
        lists { $($(#[doc = $list_doc:literal])* $(#[schema $list_schema:tt])? $list:ident,)* }
    ) => {
        /// A skill to save: either `name`, `description` and `content` with what else is known, or a whole SKILL.md. In an
        /// update, members that are absent stay as they are.
        #[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(example = json!({
            "name": "plan-meeting",
            "description": "Schedule meetings and invite attendees. Use when the user wants people to meet.",
            "content": "## When to Use\n\nThe user wants people to meet.\n\n## Procedure\n\n1. Find free slots.\n"
        }))]
        pub struct SaveSkill {
            /// Whether a skill of this name is refused: of the query, not of the body.
            #[serde(skip)]
            pub create_only: bool,
            /// 1 to 4 segments `[a-z0-9]+(-[a-z0-9]+)*` joined by `/`. With `skill_md` only to add a namespace.
            #[schema(max_length = 200, pattern = "^[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*){0,3}$")]
            pub name: Option<String>,
            /// The whole file, kept byte for byte. Excludes every other member but `name` and `expected_version`.
            pub skill_md: Option<String>,
            /// What it does and when to use it; required in a new skill.
            #[schema(min_length = 1, max_length = 1024)]
            pub description: Option<String>,
            /// The markdown body.
            #[schema(min_length = 1)]
            pub content: Option<String>,
            $($(#[doc = $doc])* $(#[schema $schema])? pub $single: Option<$type>,)*
            $($(#[doc = $list_doc])* $(#[schema $list_schema])? pub $list: Option<Vec<String>>,)*
            /// For the frontmatter's `metadata`; merged key by key, null removes a key.
            pub metadata: Option<Map<String, Value>>,
            /// The version this is based on; 0 for a skill that must not exist yet.
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
    /// The skill and what is to be said of it.
    pub skill: SavedSkill,
    /// Whether it is new.
    pub created: bool,
    /// Whether the user has no other, to which it could be similar.
    #[serde(skip)]
    is_first: bool,
    /// The revision of the user's catalogue that it made, where it made one.
    #[serde(skip)]
    pub(super) revision: Option<i64>,
}

/// Saves a skill.
///
/// # Errors
/// `Invalid`, `TooLarge`, `Quota`; `VersionConflict` where `expected_version` is not the current one; `Conflict`
/// `skill-exists` with `create_only`.
pub async fn save_skill(ctx: &Ctx, input: &SaveSkill) -> Result<Saved> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut saved = change_skill(ctx, &Save::of(&ctx.app.limits, input)?).await?;
    if saved.created && !saved.is_first {
        saved.skill.similar = find_similar(ctx, &saved.skill.skill, saved.revision).await;
    }
    Ok(saved)
}

/// A save that can be tried.
pub(crate) struct Save<'a> {
    input: &'a SaveSkill,
    name: SkillName,
    body: Body<'a>,
}

impl SkillChange for Save<'_> {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    fn needs_only_the_skill(&self) -> bool {
        true
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        if self.input.create_only && current.is_some() {
            let detail = format!("'{}' exists; save without create_only to change it", self.name);
            return Err(Error::Conflict { code: "skill-exists", detail });
        }
        check_version(self.input.expected_version, current)?;
        let document = self.document(&ctx.app.limits, current)?;
        // A whole SKILL.md leaves nothing of the one before; fields leave what they do not name.
        let derived = matches!(self.body, Body::Fields(..)) && current.is_some();
        let resources = current.map(|current| current.skill.resources.clone()).unwrap_or_default();
        let draft = Draft::new(ChangeKind::Save, self.name.clone(), document);
        Ok(Proposal::Write(Box::new(Draft { resources, derived, ..draft })))
    }
}

impl SkillVerb for Save<'_> {
    const NAME: &'static str = "skills.save";
    type Answer = Saved;

    fn request(&self) -> impl Serialize {
        ("save", self.input.create_only, self.input)
    }

    fn answer(&self, changed: Changed) -> Saved {
        let Changed { created, is_first, .. } = changed;
        Saved { skill: SavedSkill::of(changed), created, is_first, revision: None }
    }
}

enum Body<'a> {
    Document(Box<SkillDocument>),
    Fields(Box<FieldEdits>, &'a str),
}

impl<'a> Save<'a> {
    /// Reads what is to be saved.
    ///
    /// # Errors
    /// `Invalid`.
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
        let name = SkillName::parse(input.name.as_deref().unwrap_or(document.name_in_frontmatter()))?;
        Ok(Self { input, name, body: Body::Document(Box::new(document)) })
    }

    fn of_fields(input: &'a SaveSkill) -> Result<Self> {
        let mut findings = Vec::new();
        if input.name.is_none() {
            findings.push(FieldError::new("/name", "is required: the skill's name, e.g. plan-meeting"));
        }
        if input.content.as_ref().is_none_or(|c| c.trim().is_empty()) {
            findings.push(FieldError::new("/content", "is required: the markdown body (or give skill_md)"));
        }
        let edits = input.edits();
        findings.extend(edits.validate());
        match (&input.name, &input.content) {
            (Some(name), Some(content)) if findings.is_empty() => {
                Ok(Self { input, name: SkillName::parse(name)?, body: Body::Fields(Box::new(edits), content) })
            }
            _ => Err(Error::Invalid(findings)),
        }
    }

    fn document(&self, limits: &Limits, current: Option<&Locked>) -> Result<SkillDocument> {
        match (&self.body, current) {
            (Body::Document(document), current) => {
                check_name(limits, &self.name, document.name_in_frontmatter(), current)?;
                Ok((**document).clone())
            }
            (Body::Fields(edits, content), None) => SkillDocument::compose(&self.name, edits, content, limits),
            (Body::Fields(edits, content), Some(current)) => {
                SkillDocument::parse_named(&current.skill.document, limits)?.with_edits(edits, Some(content), limits)
            }
        }
    }
}

/// The name must end in the frontmatter's, unless the skill was imported with that very difference.
fn check_name(limits: &Limits, name: &SkillName, in_frontmatter: &str, current: Option<&Locked>) -> Result<()> {
    if in_frontmatter == name.as_str() || in_frontmatter == name.last_segment() {
        return Ok(());
    }
    if let Some(current) = current
        && SkillDocument::parse_named(&current.skill.document, limits)?.name_in_frontmatter() == in_frontmatter
    {
        return Ok(());
    }
    SkillName::parse(in_frontmatter)?;
    let detail = format!("'{name}' must end in the frontmatter's name '{in_frontmatter}'; change one of them");
    Err(Error::invalid("/name", detail))
}
