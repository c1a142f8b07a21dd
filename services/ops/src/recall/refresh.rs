//! Brings a catalogue up to date: takes in what this process has changed itself, else reads what changed; of a large library
//! the bodies bit by bit.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use knowhow_domain::{Result, SkillId};
use knowhow_store::examples::{self, LearnedVectors};
use knowhow_store::replica::Reading;
use knowhow_store::skills::{self, CatalogueRow, Stamp, Stamps, Wanted};
use knowhow_telemetry::metrics;

use super::catalogue::{KnownSkill, Needed, UserCatalogue};
use super::changes::Changes;
use super::kept::{Kept, Searched, owner_of};
use crate::{App, Ctx, compute};

/// Bytes of bodies that are read at once, some 100 ms of the processor. The names and descriptions of a large library
/// can be searched at once; the words of its bodies follow.
const BODIES: i64 = 2 * 1024 * 1024;

impl Searched for UserCatalogue {
    type State = Needed;

    fn note_lookup(is_hit: bool) {
        metrics::looked_up(is_hit);
    }

    fn kept(app: &App) -> &Kept<Self> {
        &app.catalogues.skills
    }

    fn is_at(&self, needed: Needed) -> bool {
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

    async fn refresh(self: Arc<Self>, ctx: &Ctx, needed: Option<Needed>) -> Result<Self> {
        let least = needed.map_or(self.revision, |needed| needed.revision.max(self.revision));
        let wanted_examples = needed.map_or(self.examples_revision, |needed| needed.examples);
        let skills = match needed {
            Some(needed) if self.has_skills(needed) => Self::clone(&self),
            Some(needed) => match take_in_handed(ctx, &self, needed).await? {
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

/// The catalogue with the changes that this process made itself, where these are all there were.
async fn take_in_handed(ctx: &Ctx, before: &Arc<UserCatalogue>, needed: Needed) -> Result<Option<UserCatalogue>> {
    let catalogues = &ctx.app.catalogues;
    // One that was never read has nothing to take changes into, and starters' vectors are handed in by nobody.
    if before.revision == 0 || before.awaits_library.is_some_and(|state| state != needed.library) {
        return Ok(None);
    }
    let handed = catalogues.handed_in.take(owner_of(ctx)?, before.revision, needed.revision);
    let changes = handed.and_then(|handed| before.take_in(needed.revision, handed, catalogues.vectors_kept));
    let Some(changes) = changes else { return Ok(None) };
    let before = before.clone();
    catalogues.line(size_of_bodies(&changes.read)).build(move || before.update(&changes)).await.map(Some)
}

/// Where a catalogue of at least that revision is read. Of revision 0 is a user who is gone, or has never been: a replica may show
/// more.
fn reading_of(ctx: &Ctx, least: i64) -> Reading {
    Reading::of_catalogue(&ctx.app.db, ctx.app.replica.as_ref().filter(|_| least > 0))
}

/// The catalogue as of now, from that of before, at that revision or a later one.
async fn read_changes(ctx: &Ctx, before: Arc<UserCatalogue>, least: i64) -> Result<UserCatalogue> {
    let library = ctx.app.library.vectors();
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
    let mut reading = reading_of(ctx, least);
    let lacks_vectors = |stamps: &Stamps| {
        model.is_some() && stamps.skills.iter().any(|skill| skill.is_starter && skill.vector.is_none())
    };
    // The revision does not tell when a starter's vector was made, so a replica that lacks one is not believed either.
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
            // The replica goes forward alone, so where the stamps came from it the texts are as new as they are.
            let rows =
                reading.ask(async |db| skills::list_texts(&db, &ctx.principal, wanted, model).await, |_| true).await?;
            rows.into_iter().map(|row| (row.id, row)).collect()
        }
    };
    let changes = Changes {
        revision: stamps.revision,
        stamps: stamps.skills,
        read,
        keeps_vectors,
        awaits_library: lacks.then_some(library),
    };
    line.build(move || before.update(&changes)).await
}

/// Bytes of the bodies that are to be read; those of starters, which are few, aside.
fn bytes_wanted(wanted: &[Wanted], stamps: &[Stamp]) -> usize {
    let bodies: HashSet<SkillId> = wanted.iter().filter(|skill| skill.body).map(|skill| skill.id).collect();
    let bytes: i64 = stamps.iter().filter(|stamp| bodies.contains(&stamp.id)).map(|stamp| i64::from(stamp.bytes)).sum();
    usize::try_from(bytes).unwrap_or_default()
}

fn size_of_bodies(read: &HashMap<SkillId, CatalogueRow>) -> usize {
    read.values().map(|row| row.body.as_ref().map_or(0, String::len)).sum()
}

/// Lists the skills to read: those whose text or vector changed, and those whose bodies are still missing. Bodies are
/// read up to a bound.
pub(super) fn list_wanted(before: &UserCatalogue, stamps: &[Stamp], keeps_vectors: bool) -> Vec<Wanted> {
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
            wanted.push(Wanted { id: stamp.id, body, vector });
        }
    }
    wanted
}

/// The catalogue with what its skills learned by now, in memory wherever the vectors of the skills are: they are few.
async fn learn(ctx: &Ctx, catalogue: UserCatalogue, wanted: Option<i64>) -> Result<UserCatalogue> {
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
    let learned = match (wanted, model) {
        // Those of before have moved along with their skills.
        (Some(revision), _) if catalogue.examples_revision.is_some_and(|own| own >= revision) => return Ok(catalogue),
        // Revision 0 means that the user has no examples, so there is nothing to read.
        (Some(revision), Some(model)) if revision > 0 => {
            let is_current = |learned: &LearnedVectors| learned.revision >= revision;
            let mut reading = reading_of(ctx, revision);
            Some(reading.ask(async |db| examples::list_vectors(&db, &ctx.principal, model).await, is_current).await?)
        }
        (Some(_), _) => Some(LearnedVectors::default()),
        (None, _) => None,
    };
    // Some milliseconds for 2,000 examples.
    compute(move || Ok(catalogue.with_examples(learned))).await
}
