//! Edits the discovery fields in a skill's frontmatter. The body stays unchanged.

use knowhow_domain::{ChangeKind, Error, FieldEdits, Result, Role, Scope, SkillDocument, with_skill_fields};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::view::SavedSkill;
use crate::Ctx;
use crate::change::draft::Draft;
use crate::change::{ChangeResult, ProposedChange, SkillChange, SkillVerb, Target, change_skill, existing};
use crate::context::lookup::NameMatching;

macro_rules! put_fields {
    (
        single { $($(#[doc = $doc:literal])* $(#[schema $schema:tt])? $single:ident: $type:ident,)* }
        lists { $($(#[doc = $list_doc:literal])* $(#[schema $list_schema:tt])? $list:ident,)* }
    ) => {
        /// Fields to change. Absent fields stay unchanged; null removes an optional field.
        #[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[schema(example = json!({}))]
        pub struct PutFields {
            /// The skill, by name or id; taken from the path, not from the body.
            #[serde(skip)]
            pub skill: String,
            /// The skill's purpose and when to use it.
            #[schema(min_length = 1, max_length = 1024)]
            pub description: Option<String>,
            $(
                $(#[doc = $doc])*
                #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
                #[schema(value_type = Option<$type>)]
                pub $single: Option<Option<$type>>,
            )*
            $($(#[doc = $list_doc])* $(#[schema $list_schema])? pub $list: Option<Vec<String>>,)*
            /// Changes to the frontmatter's `metadata`, merged key by key; null removes a key.
            pub metadata: Option<Map<String, Value>>,
            /// Whether to protect the skill from deletion and automatic changes. It is not part of the text, so
            /// changing it creates no version.
            pub pinned: Option<bool>,
            /// The version that these fields are based on.
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

/// Deserializes an optional field: null as `Some(None)`, which removes it. An absent field stays `None`, which leaves
/// it unchanged.
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

/// Changes the discovery fields of a skill.
pub async fn put_fields(ctx: &Ctx, input: &PutFields) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let edits = input.edits();
    let findings = edits.validate();
    if !findings.is_empty() {
        return Err(Error::Invalid(findings));
    }
    change_skill(ctx, &EditFields { input, edits }).await
}

/// A validated request to change fields.
struct EditFields<'a> {
    input: &'a PutFields,
    edits: FieldEdits,
}

impl SkillChange for EditFields<'_> {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.input.skill, NameMatching::Segment)
    }

    fn needs_only_the_skill(&self) -> bool {
        true
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let (limits, current) = (&ctx.app.limits, existing(current, self.input.expected_version)?);
        let document = SkillDocument::parse_named(&current.skill.document, limits)?;
        let document = document.with_edits(&self.edits, None, limits)?;
        let draft = Draft::of(ChangeKind::Save, current, document)?;
        Ok(ProposedChange::Write(Box::new(Draft { derived: true, pinned: self.input.pinned, ..draft })))
    }
}

impl SkillVerb for EditFields<'_> {
    const NAME: &'static str = "skills.fields";
    type Answer = SavedSkill;

    fn request(&self) -> impl Serialize {
        ("fields", &self.input.skill, self.input)
    }

    fn answer(&self, changed: ChangeResult) -> SavedSkill {
        SavedSkill::of(changed)
    }
}
