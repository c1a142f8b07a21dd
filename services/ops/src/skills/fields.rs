//! Discovery fields alone: the frontmatter is edited where they stand, the body stays as it is.

use knowhow_domain::{ChangeKind, Error, FieldEdits, Result, Role, Scope, SkillDocument, with_skill_fields};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::change::{Changed, Proposal, SkillChange, SkillVerb, Target, change_skill, existing};
use super::draft::Draft;
use super::view::SavedSkill;
use crate::Ctx;
use crate::lookup::Reach;

macro_rules! put_fields {
    (
        single { $($(#[doc = $doc:literal])* $(#[schema $schema:tt])? $single:ident: $type:ident,)* }
        lists { $($(#[doc = $list_doc:literal])* $(#[schema $list_schema:tt])? $list:ident,)* }
    ) => {
        /// Fields to change. What is absent stays; null removes what is optional.
        #[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(example = json!({}))]
        pub struct PutFields {
            /// The skill, by name or id: of the path, not of the body.
            #[serde(skip)]
            pub skill: String,
            /// What it does and when to use it.
            #[schema(min_length = 1, max_length = 1024)]
            pub description: Option<String>,
            $(
                $(#[doc = $doc])*
                #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
                #[schema(value_type = Option<$type>)]
                pub $single: Option<Option<$type>>,
            )*
            $($(#[doc = $list_doc])* $(#[schema $list_schema])? pub $list: Option<Vec<String>>,)*
            /// Merged into the frontmatter's `metadata` key by key; null removes a key.
            pub metadata: Option<Map<String, Value>>,
            /// Protects from deletion and background changes. Not part of the text: makes no version.
            pub pinned: Option<bool>,
            /// The version this is based on.
            #[schema(minimum = 1)]
            pub expected_version: Option<i32>,
        }

        impl PutFields {
            fn edits(&self) -> FieldEdits {
                FieldEdits {
                    description: self.description.clone(),
                    $($single: self.$single.clone(),)*
                    $($list: self.$list.clone(),)*
                    metadata: self.metadata.clone(),
                }
            }
        }
    };
}
with_skill_fields!(put_fields);

/// Tells null (remove) from absent (keep).
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

/// Changes discovery fields.
///
/// # Errors
/// `NotFound`, `Invalid`, `VersionConflict`.
pub async fn put_fields(ctx: &Ctx, input: &PutFields) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let edits = input.edits();
    let findings = edits.validate();
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    change_skill(ctx, &EditFields { input, edits }).await
}

/// Fields that can be edited.
struct EditFields<'a> {
    input: &'a PutFields,
    edits: FieldEdits,
}

impl SkillChange for EditFields<'_> {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.input.skill, Reach::Segment)
    }

    fn needs_only_the_skill(&self) -> bool {
        true
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let (limits, current) = (&ctx.app.limits, existing(current, self.input.expected_version)?);
        let document = SkillDocument::parse_named(&current.skill.document, limits)?;
        let document = document.with_edits(&self.edits, None, limits)?;
        let draft = Draft::of(ChangeKind::Save, current, document)?;
        Ok(Proposal::Write(Box::new(Draft { derived: true, pinned: self.input.pinned, ..draft })))
    }
}

impl SkillVerb for EditFields<'_> {
    const NAME: &'static str = "skills.fields";
    type Answer = SavedSkill;

    fn request(&self) -> impl Serialize {
        ("fields", &self.input.skill, self.input)
    }

    fn answer(&self, changed: Changed) -> SavedSkill {
        SavedSkill::of(changed)
    }
}
