//! Submits a change for review.

use knowhow_domain::{Error, Result, Scope, Submission};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::schema::{OneOfBuilder, SchemaType};
use utoipa::openapi::{Object, ObjectBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::Ctx;
use crate::change::hold::{ReviewOptions, propose};
use crate::skills::{DeleteSkill, PatchSkill, Save, SaveSkill};

/// Maximum number of characters of a reason.
const REASON_CHARS: usize = 1000;

/// A change to review and a reason. The change is the body of a save, a skill with the body of a patch, or a skill to
/// delete.
#[derive(Debug, Clone, Serialize)]
pub struct Submit {
    /// The submitter's reason, for the reviewer.
    pub reason: Option<String>,
    #[serde(flatten)]
    pub change: SubmittedChange,
}

/// The submitted change.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum SubmittedChange {
    Save(Box<SaveSkill>),
    /// Edits of an existing skill.
    Patch(PatchSkill),
    /// The deletion of a skill.
    Delete(DeleteSkill),
}

impl<'de> Deserialize<'de> for Submit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut members = Map::<String, Value>::deserialize(deserializer)?;
        if members.get("reason").is_some_and(Value::is_null) {
            members.remove("reason");
        }
        let mut text = |name: &str| match members.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(D::Error::custom(format!("{name} must be a string"))),
        };
        let (reason, skill) = (text("reason")?, text("skill")?);
        let delete = members.remove("delete");
        let rest = Value::Object(members);
        let change = match (skill, delete, rest.get("edits").is_some()) {
            (Some(skill), None, true) => {
                let patch: PatchSkill = serde_json::from_value(rest).map_err(D::Error::custom)?;
                SubmittedChange::Patch(PatchSkill { skill, ..patch })
            }
            (Some(skill), Some(Value::Bool(true)), false) => {
                let delete: DeleteSkill = serde_json::from_value(rest).map_err(D::Error::custom)?;
                SubmittedChange::Delete(DeleteSkill { skill, ..delete })
            }
            (None, None, true) => {
                return Err(D::Error::custom("edits need 'skill', the name or id of the skill to edit"));
            }
            (None, None, false) => {
                SubmittedChange::Save(serde_json::from_value(rest).map_err(D::Error::custom).map(Box::new)?)
            }
            _ => return Err(D::Error::custom("'skill' needs either 'edits' or \"delete\": true")),
        };
        Ok(Self { reason, change })
    }
}

impl PartialSchema for Submit {
    fn schema() -> RefOr<Schema> {
        let any = OneOfBuilder::new()
            .description(Some(
                "The body of a save, or a skill with the body of a patch, or a skill to delete; and a reason.",
            ))
            .item(Ref::from_schema_name(SAVE))
            .item(Ref::from_schema_name(PATCH))
            .item(Ref::from_schema_name(DELETE))
            .examples([serde_json::json!({
                "skill": "plan-meeting",
                "edits": [{"old_string": "Find free slots.", "new_string": "Find three free slots."}]
            })])
            .build();
        RefOr::T(Schema::OneOf(any))
    }
}

// Names of the schemas. They must be distinct, because client generators create types from them.
const SAVE: &str = "SubmitSave";
const PATCH: &str = "SubmitPatch";
const DELETE: &str = "SubmitDelete";

impl ToSchema for Submit {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        <SaveSkill as ToSchema>::schemas(schemas);
        <PatchSkill as ToSchema>::schemas(schemas);
        <DeleteSkill as ToSchema>::schemas(schemas);
        let skill = || text("The skill, by name or id.", 255, SchemaType::new(Type::String));
        let delete = ObjectBuilder::new()
            .schema_type(Type::Boolean)
            .enum_values(Some([true]))
            .description(Some("Deletes the skill."))
            .build();
        schemas.extend([
            (SAVE.into(), with_reason(SaveSkill::schema(), [])),
            (PATCH.into(), with_reason(PatchSkill::schema(), [("skill", skill())])),
            (DELETE.into(), with_reason(DeleteSkill::schema(), [("skill", skill()), ("delete", delete)])),
        ]);
    }
}

/// Adds the members of a submission to the schema of a change. The members in `required` are mandatory.
fn with_reason<const N: usize>(change: RefOr<Schema>, required: [(&str, Object); N]) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut object)) = change else { return change };
    let or_null = SchemaType::from_iter([Type::String, Type::Null]);
    let reason = text("The reason, for the reviewer.", REASON_CHARS, or_null);
    object.properties.insert("reason".into(), RefOr::T(Schema::Object(reason)));
    for (name, member) in required {
        object.properties.insert(name.into(), RefOr::T(Schema::Object(member)));
        object.required.push(name.into());
    }
    object.example = None;
    object.examples.clear();
    RefOr::T(Schema::Object(object))
}

fn text(about: &str, longest: usize, kind: SchemaType) -> Object {
    ObjectBuilder::new().schema_type(kind).description(Some(about)).max_length(Some(longest)).build()
}

/// Submits a change for review. If no check holds the change, it is applied immediately; otherwise a person decides.
///
/// # Errors
/// - errors of the change itself
/// - `Invalid` if the reason is too long
/// - `Conflict` `unchanged` if the skill would not change
/// - `Conflict` `rejected` if exactly this change was rejected
/// - `Quota` if the user has too many pending submissions
pub async fn submit_skill(ctx: &Ctx, input: &Submit) -> Result<Submission> {
    ctx.principal.require(Scope::SkillsWrite)?;
    check_submit_reason(input.reason.as_deref())?;
    let options = ReviewOptions { reason: input.reason.as_deref(), ..ReviewOptions::default() };
    let submission = match &input.change {
        SubmittedChange::Save(save) => propose(ctx, &Save::of(&ctx.app.limits, save)?, options).await?,
        SubmittedChange::Patch(patch) => {
            let _turn = patch.turn(ctx).await?;
            propose(ctx, patch, options).await?
        }
        SubmittedChange::Delete(delete) => propose(ctx, delete, options).await?,
    };
    Ok(submission.without_findings())
}

/// Validates the reason for a submission.
///
/// # Errors
/// `Invalid` if the reason is too long or contains NUL.
pub(super) fn check_submit_reason(reason: Option<&str>) -> Result<()> {
    if reason.is_some_and(|reason| reason.chars().count() > REASON_CHARS || reason.contains('\0')) {
        return Err(Error::invalid("/reason", format!("takes at most {REASON_CHARS} characters and no NUL")));
    }
    Ok(())
}
