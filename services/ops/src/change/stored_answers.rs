//! Shortens the answers stored for idempotency keys. An answer is stored without the content of the skill's version,
//! which is read again for a repeated request.

use knowhow_domain::{Error, Limits, ResourceEntry, Result, SkillDocument};
use knowhow_store::WriteTx;
use knowhow_store::skills::WrittenOutcome;
use knowhow_store::skills::versions;

use crate::context::idempotency::LongText;
use crate::skills::{Patched, Saved, SavedSkill, Skill};

/// Gives access to the skill in an answer, if there is one.
pub(crate) trait ShowsSkill {
    /// Returns the contained skill.
    fn skill(&mut self) -> Option<&mut Skill> {
        None
    }

    /// Copies the results of the write into the answer.
    fn note_written(&mut self, outcome: WrittenOutcome) {
        if let Some(skill) = self.skill() {
            skill.tainted = outcome.tainted;
        }
    }
}

impl ShowsSkill for Saved {
    fn skill(&mut self) -> Option<&mut Skill> {
        Some(&mut self.skill.skill)
    }

    fn note_written(&mut self, outcome: WrittenOutcome) {
        self.skill.skill.tainted = outcome.tainted;
        self.revision = Some(outcome.revision);
    }
}

impl ShowsSkill for SavedSkill {
    fn skill(&mut self) -> Option<&mut Skill> {
        Some(&mut self.skill)
    }
}

impl ShowsSkill for Patched {
    fn skill(&mut self) -> Option<&mut Skill> {
        Some(&mut self.skill)
    }
}

/// The long text of an answer with a skill: the members that come from the files of the skill's version.
pub(crate) struct OfVersion;

impl<T: ShowsSkill> LongText<T> for OfVersion {
    fn shorten(&self, answer: &mut T) {
        if let Some(skill) = answer.skill() {
            skill.refill(None);
        }
    }

    /// Restores the content from the stored version.
    ///
    /// # Errors
    /// `Conflict` `answer-gone` if the version has been deleted.
    async fn restore(&self, tx: &mut WriteTx, answer: &mut T) -> Result<()> {
        match answer.skill() {
            Some(skill) => restore(tx, skill).await,
            None => Ok(()),
        }
    }
}

async fn restore(tx: &mut WriteTx, skill: &mut Skill) -> Result<()> {
    let Some(state) = versions::find(tx, skill.id, skill.version).await? else {
        let detail = format!(
            "this request was already applied and created version {}, which has been deleted, so the answer is no \
                longer available; read the current skill",
            skill.version
        );
        return Err(Error::Conflict { code: "answer-gone", detail });
    };
    // The text may have been stored under larger limits than the present ones, so its length is not limited here.
    let limits = Limits::default().with_unbounded_body();
    let document = SkillDocument::parse_named(&state.document, &limits)?;
    // The answer was stored before the database had computed the taint.
    skill.tainted = state.version.tainted;
    skill.refill(Some((document, state.resources)));
    Ok(())
}

impl Skill {
    /// Fills the members that come from the version's files; clears them if `files` is `None`.
    fn refill(&mut self, files: Option<(SkillDocument, Vec<ResourceEntry>)>) {
        let (document, resources) = files.unzip();
        let fields = document.as_ref().map(|document| document.fields().clone()).unwrap_or_default();
        self.description = fields.description;
        self.category = fields.category;
        self.tags = fields.tags;
        self.triggers = fields.triggers;
        self.see_also = fields.see_also;
        self.role = fields.role.map(|role| role.as_str().to_owned());
        self.attributes = fields.attributes;
        let [from, to, body] = document.as_ref().map(SkillDocument::cuts).unwrap_or_default();
        let raw = document.as_ref().map(SkillDocument::raw).unwrap_or_default();
        self.frontmatter = raw.get(from..to).unwrap_or_default().to_owned();
        self.content = raw.get(body..).unwrap_or_default().to_owned();
        self.resources = resources.unwrap_or_default();
    }
}
