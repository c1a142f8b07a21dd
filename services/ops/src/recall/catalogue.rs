//! What recall knows of a user, kept in this process for as long as the user's revision is the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use knowhow_domain::index::gist;
use knowhow_domain::recall::{Catalogue, Examples, SkillText};
use knowhow_domain::{Error, Result, TenantId, UserId};
use knowhow_store::Principal;
use knowhow_store::examples::{self, LearnedVectors};
use knowhow_store::skills::{self, CatalogueRows, Revisions};
use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{App, compute};

/// What is not asked for that long is let go.
const IDLE: Duration = Duration::from_secs(3600);

/// A skill of a catalogue, as answers name it.
#[derive(Debug)]
pub(crate) struct KnownSkill {
    /// Its id.
    pub(crate) id: Uuid,
    /// Full name.
    pub(crate) name: Box<str>,
    /// The line of the index.
    pub(crate) summary: Box<str>,
    /// 0 to 1.
    pub(crate) importance: f32,
    /// Whether it is recalled by name alone.
    pub(crate) reserved: bool,
}

/// All skills of a user at one revision; by default none.
#[derive(Default)]
pub(crate) struct UserCatalogue {
    /// The revision of the skills.
    revision: i64,
    /// What finds them.
    pub(crate) index: Arc<Catalogue>,
    /// The skills in the order of the index.
    pub(crate) skills: Arc<[KnownSkill]>,
    /// Whether the index holds the vectors.
    keeps_vectors: bool,
    /// Where starters had no vectors yet: the state of the library then. No revision tells when they are made.
    awaits_library: Option<u64>,
    /// What use has taught: vectors with places of the index. Read anew by itself, as it changes with each use.
    pub(crate) examples: Arc<Examples>,
    /// The revision of these, where they were wanted.
    examples_revision: Option<i64>,
}

/// What a kept catalogue must hold.
#[derive(Clone, Copy)]
struct Wanted {
    revision: i64,
    /// `None` where examples are to be of no effect.
    examples: Option<i64>,
    /// The present state of the library of starters.
    library: u64,
}

impl Wanted {
    fn of(app: &App, principal: &Principal, revisions: Revisions) -> Self {
        let counts = principal.settings().learns() && app.models.embedder.is_some();
        let examples = counts.then_some(revisions.examples);
        Self { revision: revisions.skills, examples, library: app.library.vectors() }
    }
}

impl UserCatalogue {
    fn of(rows: CatalogueRows, keeps_vectors: bool) -> Self {
        let CatalogueRows { revision, skills } = rows;
        let texts: Vec<SkillText<'_>> = skills
            .iter()
            .map(|skill| SkillText {
                name: &skill.name,
                description: &skill.description,
                triggers: &skill.triggers,
                body: &skill.body,
                see_also: &skill.see_also,
                reserved: skill.reserved,
                embedding: skill.embedding.as_deref(),
            })
            .collect();
        let index = Catalogue::build(&texts);
        let skills = skills.into_iter().map(|skill| KnownSkill {
            id: skill.id,
            summary: gist(skill.summary.as_deref(), &skill.description).into(),
            name: skill.name.into(),
            importance: skill.importance,
            reserved: skill.reserved,
        });
        let (index, skills) = (Arc::new(index), skills.collect());
        Self { revision, index, skills, keeps_vectors, ..Self::default() }
    }

    fn has(&self, wanted: Wanted) -> bool {
        self.has_skills(wanted)
            && match wanted.examples {
                Some(revision) => self.examples_revision.is_some_and(|own| own >= revision),
                None => self.examples_revision.is_none(),
            }
    }

    fn has_skills(&self, wanted: Wanted) -> bool {
        self.revision >= wanted.revision && self.awaits_library.is_none_or(|state| state == wanted.library)
    }

    /// The same skills with what they learned.
    fn with_examples(&self, learned: Option<LearnedVectors>) -> Self {
        let placed = learned.as_ref().map(|learned| place(&self.skills, learned)).unwrap_or_default();
        Self {
            revision: self.revision,
            index: self.index.clone(),
            skills: self.skills.clone(),
            keeps_vectors: self.keeps_vectors,
            awaits_library: self.awaits_library,
            examples: Arc::new(Examples::new(placed.into_iter())),
            examples_revision: learned.as_ref().map(|learned| learned.revision),
        }
    }

    /// The cosines of a vector to all skills, where the index does not hold what it takes.
    pub(crate) async fn cosines(
        &self,
        app: &App,
        principal: &Principal,
        embedding: &[f32],
    ) -> Result<Option<Vec<Option<f32>>>> {
        let Some(embedder) = app.models.embedder.as_deref().filter(|_| !self.keeps_vectors) else { return Ok(None) };
        let found = skills::list_cosines(&app.db, principal, embedder.model(), embedding).await?;
        let found: HashMap<Uuid, f32> = found.into_iter().collect();
        Ok(Some(self.skills.iter().map(|skill| found.get(&skill.id).copied()).collect()))
    }

    fn weight(&self) -> u32 {
        let texts: usize = self.skills.iter().map(|s| s.name.len() + s.summary.len() + size_of::<KnownSkill>()).sum();
        u32::try_from(size_of::<Self>() + texts + self.index.weight() + self.examples.weight()).unwrap_or(u32::MAX)
    }
}

/// Learned vectors with the places of their skills; what was learned by a skill that is not there is left out.
fn place<'a>(skills: &[KnownSkill], learned: &'a LearnedVectors) -> Vec<(u32, &'a [f32])> {
    let places: HashMap<Uuid, u32> = skills.iter().map(|skill| skill.id).zip(0..).collect();
    let vectors = learned.vectors.iter();
    vectors.filter_map(|(skill, vector)| Some((*places.get(skill)?, vector.as_slice()))).collect()
}

/// How often a catalogue was there since the start, and what is kept now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CacheCounts {
    /// Found, and fresh.
    pub hits: u64,
    /// Read and built anew; what use has taught is read by itself, and not counted. Who waits while another request does that is counted in neither.
    pub misses: u64,
    /// Users whose catalogue is kept.
    pub users: u64,
    /// What these take, about; `KNOWHOW_CATALOGUE_CACHE_MB` is the most.
    pub bytes: u64,
}

/// The catalogues of the users of this process, within a weight.
pub struct Catalogues {
    kept: Cache<(TenantId, UserId), Arc<UserCatalogue>>,
    vectors_kept: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Catalogues {
    /// An empty cache of at most so many bytes. Of catalogues with more than `vectors_kept` skills the vectors stay in the
    /// database, and cosines come from there; the ranking is the same.
    pub fn new(bytes: u64, vectors_kept: usize) -> Self {
        let kept = Cache::builder()
            .weigher(|_, catalogue: &Arc<UserCatalogue>| catalogue.weight())
            .max_capacity(bytes)
            .time_to_idle(IDLE)
            .build();
        Self { kept, vectors_kept, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// How well it does.
    pub async fn counts(&self) -> CacheCounts {
        // What was put in or let go a moment ago is not in its sums before.
        self.kept.run_pending_tasks().await;
        CacheCounts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            users: self.kept.entry_count(),
            bytes: self.kept.weighted_size(),
        }
    }

    /// The catalogue at these revisions or later ones. However many ask at once, one builds it.
    pub(crate) async fn get(
        &self,
        app: &App,
        principal: &Principal,
        revisions: Revisions,
    ) -> Result<Arc<UserCatalogue>> {
        let key = (principal.tenant(), principal.user()?);
        let wanted = Wanted::of(app, principal, revisions);
        if let Some(kept) = self.kept.get(&key).await.filter(|kept| kept.has(wanted)) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(kept);
        }
        // A task of its own, so that whoever cannot wait leaves it to the next one.
        let (app, principal) = (app.clone(), principal.clone());
        tokio::spawn(async move { app.catalogues.build(&app, &principal, key, wanted).await })
            .await
            .map_err(Error::internal)?
    }

    /// Has the caller's catalogue made, where there is none, beside whatever the caller does: that of many skills takes
    /// longer than a turn waits.
    pub(crate) fn prepare(&self, app: &App, principal: &Principal) {
        let Ok(user) = principal.user() else { return };
        if self.kept.contains_key(&(principal.tenant(), user)) {
            return;
        }
        let (app, principal) = (app.clone(), principal.clone());
        tokio::spawn(async move {
            if let Err(error) = catalogue_now(&app, &principal).await {
                tracing::debug!(%error, "a catalogue was not prepared; the first turn makes it");
            }
        });
    }

    async fn build(
        &self,
        app: &App,
        principal: &Principal,
        key: (TenantId, UserId),
        wanted: Wanted,
    ) -> Result<Arc<UserCatalogue>> {
        let built = self.kept.entry(key).and_try_compute_with(async |kept| match kept {
            Some(kept) if kept.value().has(wanted) => Ok(Op::Nop),
            Some(kept) if kept.value().has_skills(wanted) => {
                learn(app, principal, kept.value(), wanted).await.map(|catalogue| Op::Put(Arc::new(catalogue)))
            }
            _ => {
                self.misses.fetch_add(1, Ordering::Relaxed);
                let catalogue = load(app, principal, self.vectors_kept, wanted.library).await?;
                learn(app, principal, &catalogue, wanted).await.map(|catalogue| Op::Put(Arc::new(catalogue)))
            }
        });
        match built.await? {
            CompResult::Inserted(entry) | CompResult::ReplacedWith(entry) | CompResult::Unchanged(entry) => {
                Ok(entry.into_value())
            }
            CompResult::Removed(_) | CompResult::StillNone(_) => Err(Error::internal("a catalogue is never removed")),
        }
    }
}

async fn load(app: &App, principal: &Principal, vectors_kept: usize, library: u64) -> Result<UserCatalogue> {
    let model = app.models.embedder.as_deref().map(|embedder| embedder.model());
    let mut rows = skills::list_catalogue(&app.db, principal, model).await?;
    let lacks = model.is_some() && rows.skills.iter().any(|skill| skill.is_starter && skill.embedding.is_none());
    let awaits_library = lacks.then_some(library);
    let keeps_vectors = rows.skills.len() <= vectors_kept;
    if !keeps_vectors {
        rows.skills.iter_mut().for_each(|skill| skill.embedding = None);
    }
    compute(move || Ok(UserCatalogue { awaits_library, ..UserCatalogue::of(rows, keeps_vectors) })).await
}

/// The catalogue with what its skills learned by now, in memory wherever the vectors of the skills are: they are few.
async fn learn(app: &App, principal: &Principal, catalogue: &UserCatalogue, wanted: Wanted) -> Result<UserCatalogue> {
    let model = app.models.embedder.as_deref().map(|embedder| embedder.model());
    let learned = match (wanted.examples, model) {
        // Who never learned anything is not asked about.
        (Some(revision), Some(model)) if revision > 0 => Some(examples::list_vectors(&app.db, principal, model).await?),
        (Some(_), _) => Some(LearnedVectors::default()),
        (None, _) => None,
    };
    Ok(catalogue.with_examples(learned))
}

/// The user's catalogue as of now.
pub(crate) async fn catalogue_now(app: &App, principal: &Principal) -> Result<Arc<UserCatalogue>> {
    let revisions = skills::find_revisions(&app.db, principal).await?;
    app.catalogues.get(app, principal, revisions).await
}

#[cfg(test)]
mod tests {
    use knowhow_domain::new_id;
    use knowhow_store::skills::CatalogueRow;

    use super::*;

    fn row(name: &str) -> CatalogueRow {
        CatalogueRow {
            id: new_id(),
            name: name.to_owned(),
            summary: None,
            description: format!("Does {name}"),
            triggers: Vec::new(),
            see_also: Vec::new(),
            reserved: false,
            importance: 0.7,
            body: "Do it.".to_owned(),
            embedding: Some(vec![1.0, 0.0]),
            is_starter: false,
        }
    }

    #[test]
    fn what_was_learned_stands_at_the_place_of_its_skill() {
        let skills = vec![row("a"), row("b"), row("c")];
        let vectors = [(&skills[2], 1.0), (&skills[0], 2.0), (&skills[2], 3.0)];
        let mut vectors: Vec<_> = vectors.into_iter().map(|(skill, x)| (skill.id, vec![x, 1.0])).collect();
        vectors.push((new_id(), vec![4.0, 1.0]));
        let learned = LearnedVectors { revision: 5, vectors };
        let bare = UserCatalogue::of(CatalogueRows { revision: 3, skills }, true);
        let placed = place(&bare.skills, &learned);
        assert_eq!(placed, [(2, [1.0, 1.0].as_slice()), (0, &[2.0, 1.0]), (2, &[3.0, 1.0])]);
        let taught = bare.with_examples(Some(learned));
        assert_eq!((taught.examples.len(), bare.examples.len()), (3, 0));
        assert!(taught.weight() > bare.weight() && Arc::ptr_eq(&taught.index, &bare.index));
    }

    #[test]
    fn skills_and_examples_are_fresh_each_by_their_own_revision() {
        let of = |examples_revision| UserCatalogue { revision: 3, examples_revision, ..UserCatalogue::default() };
        for (examples_revision, revision, examples, skills_are, all_is) in [
            (Some(5), 3, Some(5), true, true),
            (Some(6), 2, Some(5), true, true),
            (Some(5), 3, Some(6), true, false),
            (Some(5), 4, Some(5), false, false),
            // Switched off they are of no effect, and switched on they are read.
            (Some(5), 3, None, true, false),
            (None, 3, None, true, true),
            (None, 3, Some(0), true, false),
        ] {
            let (kept, wanted) = (of(examples_revision), Wanted { revision, examples, library: 0 });
            assert_eq!(
                (kept.has_skills(wanted), kept.has(wanted)),
                (skills_are, all_is),
                "{examples_revision:?} {examples:?}"
            );
        }
    }

    #[test]
    fn a_catalogue_whose_starters_lacked_vectors_is_fresh_until_they_are_made() {
        for (awaits_library, is_fresh) in [(None, true), (Some(1), true), (Some(0), false)] {
            let kept = UserCatalogue { revision: 3, awaits_library, ..UserCatalogue::default() };
            assert_eq!(kept.has(Wanted { revision: 3, examples: None, library: 1 }), is_fresh, "{awaits_library:?}");
        }
    }
}
