//! Imports several skills in one transaction. One round trip reads all of them, and another one writes them.

use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, ResourceEntry, Result, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, AdditionalReads, Locked, SkillKey};
use serde::{Deserialize, Serialize};

use super::import::read::Readable;
use super::import_report::{ImportOutcome, Imported};
use super::import_source::ImportSource;
use crate::Ctx;
use crate::change::hold;
use crate::change::stored_answers::ShowsSkill;
use crate::change::{
    ChangeResult, ProposedChange, SkillChange, SkillVerb, Target, carry_out, change_skill, check_version,
};
use crate::skills::follow_up;

/// Maximum number of skills in one transaction. The transaction blocks the user's other writes for at most tens of
/// milliseconds.
const SKILLS: usize = 32;

/// Maximum number of bytes in one transaction, unless it imports a single larger skill.
const BYTES: usize = 4 * 1024 * 1024;

/// A skill to import.
pub(super) struct ImportOne {
    /// Position of the skill in the report.
    pub(super) at: usize,
    pub(super) path: String,
    pub(super) name: SkillName,
    pub(super) skill: Readable,
    pub(super) source: ImportSource,
    /// The version that must be current, if the request gives one.
    pub(super) expected: Option<i32>,
    /// The original name, if it was reserved and has been replaced.
    pub(super) renamed_from: Option<SkillName>,
    pub(super) is_bulk: bool,
}

/// Outcome of importing one skill. It is stored with the idempotency key.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ImportedSkill {
    name: String,
    outcome: ImportOutcome,
    version: i32,
}

/// Splits an import into batches, one for each transaction.
pub(super) fn batches(all: &[ImportOne]) -> Vec<&[ImportOne]> {
    let (mut batches, mut from, mut bytes) = (Vec::new(), 0, 0);
    for (at, one) in all.iter().enumerate() {
        let own = one.bytes();
        if at > from && (at - from == SKILLS || bytes + own > BYTES) {
            batches.push(&all[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += own;
    }
    if from < all.len() {
        batches.push(&all[from..]);
    }
    batches
}

/// Imports several skills, and returns the result of each in the same order. A rejected skill does not stop the
/// others.
///
/// # Errors
/// An error that no skill caused. The skills of this batch are then not imported, unless an earlier request imported
/// them.
pub(super) async fn import_batch(ctx: &Ctx, batch: &[ImportOne]) -> Result<Vec<Result<ImportedSkill>>> {
    let together = match batch {
        [_] => vec![None],
        _ => match import_together(ctx, batch).await {
            Ok(together) => together,
            Err(refusal) if stops_import(&refusal) => return Err(refusal),
            Err(_) => batch.iter().map(|_| None).collect(),
        },
    };
    let mut all = Vec::with_capacity(batch.len());
    for (one, imported) in batch.iter().zip(together) {
        let ctx = &ctx.part(one.at);
        all.push(match imported {
            Some(Err(Error::MustBeReviewed(checks))) => Err(hold::hold(ctx, one, checks).await),
            Some(imported) => imported,
            None => change_skill(ctx, one).await,
        });
    }
    Ok(all)
}

/// Imports a batch in one transaction. `None` stands for a skill that was rejected by an earlier request with the
/// same idempotency key, because errors are not stored.
///
/// # Errors
/// The reason why the whole batch failed. Examples are a storage limit that one of the skills exceeds, and a tainted
/// skill that must be reviewed.
async fn import_together(ctx: &Ctx, batch: &[ImportOne]) -> Result<Vec<Option<Result<ImportedSkill>>>> {
    let ctx = &ctx.part(format!("batch-{}", batch.first().map_or(0, |one| one.at)));
    let asked: Vec<_> = batch.iter().map(SkillVerb::request).collect();
    let (mut refusals, mut say_else) = (Vec::new(), Vec::new());
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.import_batch").await?;
    let imported: Vec<Option<ImportedSkill>> = ctx
        .once(&mut tx, &asked, async |tx| {
            let keys: Vec<_> = batch.iter().map(|one| SkillKey::Name(one.name.as_str().to_owned())).collect();
            let locked = skills::lock_all(tx, &keys, &AdditionalReads::default()).await?;
            let mut all = Vec::with_capacity(batch.len());
            for (one, locked) in batch.iter().zip(locked) {
                let before = tx.statements();
                all.push(match carry_out(ctx, tx, one, locked).await {
                    Ok(changed) => {
                        say_else.extend(changed.says_else.then_some(changed.skill.id));
                        Some(ImportedSkill::of(changed))
                    }
                    Err(refusal) if tx.statements() == before && !stops_import(&refusal) => {
                        refusals.push(refusal);
                        None
                    }
                    Err(refusal) => return Err(refusal),
                });
            }
            Ok(all)
        })
        .await?;
    tx.commit().await?;
    if batch.iter().all(|one| !one.is_bulk) {
        say_else.into_iter().for_each(|skill| follow_up::embed_at_once(ctx, skill));
    }
    let mut refusals = refusals.into_iter();
    Ok(imported.into_iter().map(|imported| imported.map(Ok).or_else(|| refusals.next().map(Err))).collect())
}

impl SkillChange for ImportOne {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        if self.source == ImportSource::Sync {
            check_synced(current)?;
        }
        // An identical skill is not written, so its version is not compared with the expected one.
        if current.is_none_or(|current| current.skill.digest != self.skill.digest()) {
            check_version(self.expected, current)?;
        }
        Ok(ProposedChange::Write(Box::new(self.skill.draft(self.source, &self.name, current))))
    }

    fn source(&self, _: &Ctx) -> Source {
        self.source.source()
    }

    fn is_bulk(&self) -> bool {
        self.is_bulk
    }
}

impl SkillVerb for ImportOne {
    const NAME: &'static str = "skills.import";
    type Answer = ImportedSkill;

    fn request(&self) -> impl Serialize {
        let entries: Vec<&ResourceEntry> = self.skill.resources.iter().flatten().map(|(entry, _)| entry).collect();
        let digest = manifest::hex(&self.skill.document.digest());
        (self.source, self.expected, self.name.as_str(), digest, entries)
    }

    fn answer(&self, changed: ChangeResult) -> ImportedSkill {
        ImportedSkill::of(changed)
    }
}

/// Returns whether an error was not caused by the skill itself.
pub(super) fn stops_import(refusal: &Error) -> bool {
    matches!(refusal, Error::Unavailable(_) | Error::Internal(_) | Error::IdempotencyMismatch)
}

/// Rejects a sync of a skill that was not created by a sync.
fn check_synced(current: Option<&Locked>) -> Result<()> {
    match current.map(|current| &current.skill) {
        Some(skill) if skill.source != Source::Sync => {
            let detail = format!(
                "'{}' exists but was not created by a sync (its source is '{}'), so sync does not change it; rename \
                 the folder, or delete that skill first",
                skill.name,
                skill.source.as_str()
            );
            Err(Error::Conflict { code: "not-synced", detail })
        }
        _ => Ok(()),
    }
}

impl ImportOne {
    fn bytes(&self) -> usize {
        let files: usize = self.skill.resources.iter().flatten().map(|(_, bytes)| bytes.len()).sum();
        self.skill.document.raw().len() + files
    }
}

impl ShowsSkill for ImportedSkill {}

impl ImportedSkill {
    fn of(changed: ChangeResult) -> Self {
        let outcome = match (changed.created, changed.unchanged) {
            (true, _) => ImportOutcome::Created,
            (false, true) => ImportOutcome::Unchanged,
            (false, false) => ImportOutcome::Updated,
        };
        Self { name: changed.skill.name, outcome, version: changed.skill.version }
    }

    pub(super) fn report(self, one: &ImportOne) -> Imported {
        let note = one.renamed_from.as_ref();
        let note =
            note.map(|from| format!("'{from}' is reserved for an endpoint, so the skill is called '{}'", self.name));
        Imported {
            name: Some(self.name),
            version: Some(self.version),
            fixed: !one.skill.fixes.is_empty(),
            fixes: one.skill.fixes.clone(),
            note,
            ..Imported::at(one.path.clone(), self.outcome)
        }
    }
}
