//! The skills of an import, many in one transaction: one round trip reads all of them, one writes them.

use knowhow_domain::{Error, ResourceEntry, Result, SkillName, Source, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Beside, Locked, SkillKey};
use serde::{Deserialize, Serialize};

use super::change::{Changed, Proposal, SkillChange, SkillVerb, Target, carry_out, change_skill, check_version};
use super::import::{ImportSource, Readable, stops_import};
use super::import_report::{ImportOutcome, Imported};
use super::kept::ShowsSkill;
use crate::{Ctx, follow_up, review};

/// Most skills of one transaction, so that the user's other writes wait for tens of milliseconds at most.
const SKILLS: usize = 32;

/// Most bytes of one transaction, unless its only skill is larger.
const BYTES: usize = 4 * 1024 * 1024;

/// A skill to import.
pub(super) struct ImportOne {
    /// Its place in the report.
    pub(super) at: usize,
    pub(super) path: String,
    pub(super) name: SkillName,
    pub(super) skill: Readable,
    pub(super) source: ImportSource,
    /// The version that it is based on, where that matters.
    pub(super) expected: Option<i32>,
    /// The reserved name that it would have.
    pub(super) renamed_from: Option<SkillName>,
    pub(super) is_bulk: bool,
}

/// What became of a skill, as it is kept for its idempotency key.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Done {
    name: String,
    outcome: ImportOutcome,
    version: i32,
}

/// Splits an import into transactions.
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

/// Imports some skills: what became of each, in their order. A refused one stops no other.
///
/// # Errors
/// What is no fault of a skill; then none of these is imported, unless it was before.
pub(super) async fn import_batch(ctx: &Ctx, batch: &[ImportOne]) -> Result<Vec<Result<Done>>> {
    let together = match batch {
        [_] => vec![None],
        _ => match import_together(ctx, batch).await {
            Ok(together) => together,
            Err(refusal) if stops_import(&refusal) => return Err(refusal),
            Err(_) => batch.iter().map(|_| None).collect(),
        },
    };
    let mut all = Vec::with_capacity(batch.len());
    for (one, done) in batch.iter().zip(together) {
        let ctx = &ctx.part(one.at);
        all.push(match done {
            Some(Err(Error::MustBeReviewed(checks))) => Err(review::hold(ctx, one, checks).await),
            Some(done) => done,
            None => change_skill(ctx, one).await,
        });
    }
    Ok(all)
}

/// Imports them in one transaction. `None` stands for a skill of which a repeated request does not know why it was refused.
///
/// # Errors
/// Why none of them was imported, as where all that is kept of the user is too large after one of them, or one is tainted
/// and must be reviewed.
async fn import_together(ctx: &Ctx, batch: &[ImportOne]) -> Result<Vec<Option<Result<Done>>>> {
    let ctx = &ctx.part(format!("batch-{}", batch.first().map_or(0, |one| one.at)));
    let asked: Vec<_> = batch.iter().map(SkillVerb::request).collect();
    let (mut refusals, mut say_else) = (Vec::new(), Vec::new());
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.import_batch").await?;
    let done: Vec<Option<Done>> = ctx
        .once(&mut tx, &asked, async |tx| {
            let keys: Vec<_> = batch.iter().map(|one| SkillKey::Name(one.name.as_str().to_owned())).collect();
            let locked = skills::lock_all(tx, &keys, &Beside::default()).await?;
            let mut all = Vec::with_capacity(batch.len());
            for (one, locked) in batch.iter().zip(locked) {
                let before = tx.statements();
                all.push(match carry_out(ctx, tx, one, locked).await {
                    Ok(changed) => {
                        say_else.extend(changed.says_else.then_some(changed.skill.id));
                        Some(Done::of(changed))
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
    Ok(done.into_iter().map(|done| done.map(Ok).or_else(|| refusals.next().map(Err))).collect())
}

impl SkillChange for ImportOne {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, _: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        if self.source == ImportSource::Sync {
            check_synced(current)?;
        }
        // What is there already, byte for byte, is overwritten by nobody, whatever it was thought to be based on.
        if current.is_none_or(|current| current.skill.digest != self.skill.digest()) {
            check_version(self.expected, current)?;
        }
        Ok(Proposal::Write(Box::new(self.skill.draft(self.source, &self.name, current))))
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
    type Answer = Done;

    fn request(&self) -> impl Serialize {
        let entries: Vec<&ResourceEntry> = self.skill.resources.iter().flatten().map(|(entry, _)| entry).collect();
        let digest = manifest::hex(&self.skill.document.digest());
        (self.source, self.expected, self.name.as_str(), digest, entries)
    }

    fn answer(&self, changed: Changed) -> Done {
        Done::of(changed)
    }
}

/// A folder has no say over what did not come from one.
fn check_synced(current: Option<&Locked>) -> Result<()> {
    match current.map(|current| &current.skill) {
        Some(skill) if skill.source != Source::Sync.as_str() => {
            let detail = format!(
                "the user has a '{}' that no sync has brought (its source is '{}'), and a sync leaves it alone; rename the \
                 folder, or delete that skill first",
                skill.name, skill.source
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

impl ShowsSkill for Done {}

impl Done {
    fn of(changed: Changed) -> Self {
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
