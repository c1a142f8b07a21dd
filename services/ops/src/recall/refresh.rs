//! Refreshes a catalogue with the changes that this process made, or else reads the changes from the database. The
//! bodies of a large library are read in steps.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use knowhow_domain::{Result, SkillId};
use knowhow_store::deployment::replica::ReadSource;
use knowhow_store::learning::examples::{self, LearnedVectors};
use knowhow_store::skills::{self, CatalogueRequest, CatalogueRow, SkillStamp, Stamps};
use knowhow_telemetry::metrics;

use super::catalogue::{CatalogueState, KnownSkill, UserCatalogue};
use super::changes::CatalogueChanges;
use crate::recall::user_cache::{SearchCopy, UserCopies, owner_of};
use crate::{App, Ctx, compute};

/// Maximum number of bytes of bodies that are read in one step, about 100 ms of processor time. Names and descriptions
/// of a large library are searchable immediately, the words of its bodies later.
const BODIES: i64 = 2 * 1024 * 1024;

impl SearchCopy for UserCatalogue {
    type State = CatalogueState;

    fn note_lookup(is_hit: bool) {
        metrics::looked_up(is_hit);
    }

    fn copies(app: &App) -> &UserCopies<Self> {
        &app.catalogues.skills
    }

    fn is_at(&self, needed: CatalogueState) -> bool {
        self.has(needed)
    }

    fn is_complete(&self) -> bool {
        self.has_bodies
    }

    fn weight(&self) -> usize {
        let of = |skill: &Arc<KnownSkill>| {
            skill.name.len() + skill.summary.len() + size_of::<(Arc<KnownSkill>, KnownSkill)>()
        };
        let texts: usize = self.skills.iter().map(of).sum();
        size_of::<Self>() + texts + self.index.weight() + self.examples.weight() + self.counter_examples.weight()
    }

    async fn refresh(self: Arc<Self>, ctx: &Ctx, needed: Option<CatalogueState>) -> Result<Self> {
        let least = needed.map_or(self.revision, |needed| needed.revision.max(self.revision));
        let wanted_examples = needed.map_or(self.examples_revision, |needed| needed.examples);
        let skills = match needed {
            Some(needed) if self.has_skills(needed) => Self::clone(&self),
            Some(needed) => match apply_own_changes(ctx, &self, needed).await? {
                Some(changed) => changed,
                None => {
                    ctx.app.catalogues.count_miss();
                    read_changes(ctx, self, least).await?
                }
            },
            None => read_changes(ctx, self, least).await?,
        };
        learn(ctx, skills, wanted_examples).await
    }
}

/// Returns the catalogue with this process's changes, or `None` if another process changed skills as well.
async fn apply_own_changes(
    ctx: &Ctx,
    before: &Arc<UserCatalogue>,
    needed: CatalogueState,
) -> Result<Option<UserCatalogue>> {
    let catalogues = &ctx.app.catalogues;
    // An empty catalogue cannot be updated. Vectors of starters are not among the changes by this process.
    if before.revision == 0 || before.awaits_library.is_some_and(|state| state != needed.library) {
        return Ok(None);
    }
    let own = catalogues.own_changes.take(owner_of(ctx)?, before.revision, needed.revision);
    let changes = own.and_then(|own| before.apply_own_changes(needed.revision, own, catalogues.vectors_kept));
    let Some(changes) = changes else { return Ok(None) };
    let before = before.clone();
    catalogues.line(size_of_bodies(&changes.read)).build(move || before.update(&changes)).await.map(Some)
}

/// Returns the database to read a catalogue of at least this revision from. Revision 0 means that the user was erased
/// or never existed. A replica may still have rows of an erased user, so the primary is read.
fn read_source(ctx: &Ctx, least: i64) -> ReadSource {
    ReadSource::of_catalogue(&ctx.app.db, ctx.app.replica.as_ref().filter(|_| least > 0))
}

/// Reads the changes since `before`, and returns the catalogue at revision `least` or later.
async fn read_changes(ctx: &Ctx, before: Arc<UserCatalogue>, least: i64) -> Result<UserCatalogue> {
    let library = ctx.app.library.vectors();
    let model = ctx.app.models.embedding_model();
    let mut reading = read_source(ctx, least);
    let lacks_vectors = |stamps: &Stamps| {
        model.is_some() && stamps.skills.iter().any(|skill| skill.is_starter && skill.vector.is_none())
    };
    // Computing a starter's vector does not change the revision, so a replica without that vector counts as outdated.
    let is_current = |stamps: &Stamps| stamps.revision >= least && !lacks_vectors(stamps);
    let stamps = reading.ask(async |db| skills::list_stamps(&db, &ctx.principal, model).await, is_current).await?;
    let keeps_vectors = stamps.skills.len() <= ctx.app.catalogues.vectors_kept;
    let lacks = lacks_vectors(&stamps);
    let wanted = list_wanted(&before, &stamps.skills, keeps_vectors);
    let line = ctx.app.catalogues.line(bytes_wanted(&wanted, &stamps.skills));
    let _place = line.place_for_texts().await?;
    let read = match wanted.as_slice() {
        [] => HashMap::new(),
        wanted => {
            // A replica never goes back, so its texts are at least as new as its stamps.
            let rows =
                reading.ask(async |db| skills::list_texts(&db, &ctx.principal, wanted, model).await, |_| true).await?;
            rows.into_iter().map(|row| (row.id, row)).collect()
        }
    };
    let changes = CatalogueChanges {
        revision: stamps.revision,
        stamps: stamps.skills,
        read,
        keeps_vectors,
        awaits_library: lacks.then_some(library),
    };
    line.build(move || before.update(&changes)).await
}

/// Returns the number of bytes of the bodies to read. Starters are not counted, because they are few.
fn bytes_wanted(wanted: &[CatalogueRequest], stamps: &[SkillStamp]) -> usize {
    let bodies: HashSet<SkillId> = wanted.iter().filter(|skill| skill.body).map(|skill| skill.id).collect();
    let bytes: i64 = stamps.iter().filter(|stamp| bodies.contains(&stamp.id)).map(|stamp| i64::from(stamp.bytes)).sum();
    usize::try_from(bytes).unwrap_or_default()
}

fn size_of_bodies(read: &HashMap<SkillId, CatalogueRow>) -> usize {
    read.values().map(|row| row.body.as_ref().map_or(0, String::len)).sum()
}

/// Lists the skills to read: changed texts, changed vectors and missing bodies. Bodies are limited to about `BODIES`
/// bytes.
pub(super) fn list_wanted(before: &UserCatalogue, stamps: &[SkillStamp], keeps_vectors: bool) -> Vec<CatalogueRequest> {
    let known = before.known();
    let mut room = BODIES;
    let mut wanted = Vec::new();
    for stamp in stamps {
        let known = known.get(&stamp.id).map(|(_, skill)| skill);
        let same_text = known.filter(|known| known.text_stamp == stamp.text);
        let vector = keeps_vectors && !known.is_some_and(|known| before.has_vector(known, stamp));
        let body = room > 0 && !same_text.is_some_and(|known| known.has_body);
        if body {
            room -= i64::from(stamp.bytes);
        }
        if body || vector || same_text.is_none() {
            wanted.push(CatalogueRequest { id: stamp.id, body, vector });
        }
    }
    wanted
}

/// Adds the current examples. The vectors of examples are cached even if the vectors of the skills are not, because
/// there are few examples.
async fn learn(ctx: &Ctx, catalogue: UserCatalogue, wanted: Option<i64>) -> Result<UserCatalogue> {
    let model = ctx.app.models.embedding_model();
    let learned = match (wanted, model) {
        // The examples of the previous catalogue were kept, and are current.
        (Some(revision), _) if catalogue.examples_revision.is_some_and(|own| own >= revision) => return Ok(catalogue),
        // Revision 0 means that the user has no examples, so no read is needed.
        (Some(revision), Some(model)) if revision > 0 => {
            let is_current = |learned: &LearnedVectors| learned.revision >= revision;
            let mut reading = read_source(ctx, revision);
            Some(reading.ask(async |db| examples::list_vectors(&db, &ctx.principal, model).await, is_current).await?)
        }
        (Some(_), _) => Some(LearnedVectors::default()),
        (None, _) => None,
    };
    // Adding 2,000 examples takes a few milliseconds, so it runs on a blocking thread.
    compute(move || Ok(catalogue.with_examples(learned))).await
}
