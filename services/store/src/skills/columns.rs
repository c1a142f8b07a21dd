//! Columns shared by a new skill and a new version, and the follow-up of both (`app.follow_text`).

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Error, Fields, Result, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use super::planned_change::PlannedChange;
use crate::vault::parameters;
use crate::vault::value::StoredAttributes;

parameters! {
    /// Parameters `$5` to `$37` of the statements that insert and update a skill.
    struct SkillColumns {
        description: String,
        summary: Option<String>,
        category: Option<String>,
        tags: Vec<String>,
        triggers: Vec<String>,
        see_also: Vec<String>,
        role: Option<&'static str>,
        attributes: Value,
        digest: Vec<u8>,
        document_digest: Vec<u8>,
        document_bytes: i32,
        frontmatter_at: i32,
        frontmatter_end: i32,
        content_at: i32,
        resources: Value,
        resource_bytes: i32,
        now: DateTime<Utc>,
        frontmatter: Option<Value>,
        digests: Vec<Vec<u8>>,
        files: Vec<Vec<u8>>,
        change: &'static str,
        actor: String,
        session: Option<String>,
        added_bytes: i64,
        audit_id: Uuid,
        named: Vec<String>,
        derived: bool,
        brought: Option<Vec<String>>,
        tasks: Vec<String>,
        is_bulk: bool,
        relate: &'static str,
        outdates_vectors: bool,
        kept_model: Option<String>,
    }
}

impl SkillColumns {
    /// Builds the columns of a change.
    ///
    /// # Errors
    /// `Internal` if a size exceeds the type of its column.
    pub(super) fn of(planned: &PlannedChange<'_>) -> Result<Self> {
        let (change, fields) = (&planned.change, planned.change.document.fields());
        let [frontmatter_at, frontmatter_end, content_at] = change.document.cuts();
        let (digests, files) = planned.files.iter().cloned().unzip();
        Ok(Self {
            description: fields.description.clone(),
            summary: fields.summary.clone(),
            category: fields.category.clone(),
            tags: fields.tags.clone(),
            triggers: fields.triggers.clone(),
            see_also: fields.see_also.clone(),
            role: fields.role.map(|role| role.as_str()),
            attributes: attributes(fields, change.name.as_str()),
            digest: change.digest.to_vec(),
            document_digest: change.document.digest().to_vec(),
            document_bytes: size(change.document.raw().len())?,
            frontmatter_at: size(frontmatter_at)?,
            frontmatter_end: size(frontmatter_end)?,
            content_at: size(content_at)?,
            resources: json!(change.resources),
            resource_bytes: i32::try_from(planned.resource_bytes).map_err(Error::internal)?,
            now: change.now,
            frontmatter: change.frontmatter.clone(),
            digests,
            files,
            change: change.kind.as_str(),
            actor: planned.actor.clone(),
            session: change.session.map(str::to_owned),
            added_bytes: planned.added_bytes,
            audit_id: new_id(),
            named: own(change.lineage.named),
            derived: change.lineage.derived,
            brought: change.lineage.brought.map(<[String]>::to_vec),
            tasks: own(change.follow_up.tasks),
            is_bulk: change.follow_up.is_bulk,
            relate: task::RELATE_SKILLS,
            outdates_vectors: change.follow_up.outdates_vectors,
            kept_model: change.follow_up.replaced_by.map(str::to_owned),
        })
    }
}

/// Returns the frontmatter fields that have no columns of their own, as the JSON that is stored.
pub(crate) fn attributes(fields: &Fields, skill: &str) -> Value {
    json!(StoredAttributes {
        shown: fields.attributes.clone(),
        disable_model_invocation: fields.reserved,
        alias: fields.alias(skill),
    })
}

pub(super) fn size(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(Error::internal)
}

pub(super) fn own(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
