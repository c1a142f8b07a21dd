//! An answer that shows a skill, as it is kept for its idempotency key: what the stored version says is left out.

use knowhow_domain::{Error, Limits, ResourceEntry, Result, SkillDocument};
use knowhow_store::skills::WrittenOutcome;
use knowhow_store::{WriteTx, versions};

use super::patch::Patched;
use super::save::Saved;
use super::view::{SavedSkill, Skill};
use crate::once::Long;

/// An answer that may have a skill in it.
pub(crate) trait ShowsSkill {
    /// The skill that it shows.
    fn skill(&mut self) -> Option<&mut Skill> {
        None
    }

    /// Takes over what the database found out as it wrote the version.
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

/// What SKILL.md and the version's list of files say.
pub(super) struct OfVersion;

impl<T: ShowsSkill> Long<T> for OfVersion {
    fn shorten(&self, answer: &mut T) {
        if let Some(skill) = answer.skill() {
            skill.refill(None);
        }
    }

    /// # Errors
    /// `Conflict` `answer-gone` where the version is kept no more.
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
            "this request was carried out before and made version {}, which is kept no more, so that it cannot be answered \
             again; read the skill as it is now",
            skill.version
        );
        return Err(Error::Conflict { code: "answer-gone", detail });
    };
    // What is stored has passed the limits of its time.
    let limits = Limits::default().with_unbounded_body();
    let document = SkillDocument::parse_named(&state.document, &limits)?;
    // The answer was kept before the database had told.
    skill.tainted = state.version.tainted;
    skill.refill(Some((document, state.resources)));
    Ok(())
}

impl Skill {
    /// Sets what follows from the files of its version, or empties it.
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
