//! Loads a skill, which counts as a use unless the caller peeks. Reading the raw SKILL.md never counts.

use std::mem;
use std::sync::Arc;

use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::graph::Neighbour;
use knowhow_store::skills::{self, Count, CountedLoad, LoadUse, SkillKey};

use super::view::{LoadedSkill, Skill};
use crate::Ctx;
use crate::context::lookup;
use crate::context::lookup::NameMatching;
use crate::graph::{MOST_SAID, describe_relations};
use crate::learning::examples::{Applicability, learn_later, taught_since};
use crate::platform::answer_cache::CachedSkill;

/// A stored file.
#[derive(Debug, Clone)]
pub struct File {
    pub content: Vec<u8>,
    /// Hex SHA-256 of the content.
    pub digest: String,
    /// The media type, derived from the file extension.
    pub media_type: &'static str,
    /// Whether the skill's text comes from a tainted session and no reviewer has approved it.
    pub tainted: bool,
}

/// Selects a skill to load.
#[derive(Debug, Clone)]
pub struct LoadSkill {
    /// The skill, by name or id.
    pub skill: String,
    /// Whether to load the skill without counting a use.
    pub peek: bool,
}

/// A loaded skill, with its use counts.
pub struct SkillAnswer {
    skill: Arc<CachedSkill>,
    count: Count,
    moved_from: Option<String>,
}

impl SkillAnswer {
    /// Returns the skill's version.
    pub fn version(&self) -> i32 {
        self.skill.skill.version
    }

    /// Returns the answer as JSON, in the form of [`LoadedSkill`].
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        if self.moved_from.is_some() {
            serde_json::to_writer(&mut out, &self.to_loaded()).map_err(Error::internal)?;
        } else {
            self.skill.write_loaded(self.count, &mut out)?;
        }
        Ok(out)
    }

    /// Returns the answer as a value.
    pub fn to_loaded(&self) -> LoadedSkill {
        LoadedSkill { skill: Skill::of(self.skill.skill.clone(), self.count), moved_from: self.moved_from.clone() }
    }
}

/// Loads a skill by name or id. For the name of an absorbed skill, loads its successor. In a session, the message of
/// the current turn becomes an example of the skill.
///
/// # Errors
/// `NotFound`, with similar names; `AmbiguousName`.
pub async fn load_skill(ctx: &Ctx, query: &LoadSkill) -> Result<SkillAnswer> {
    let used = (!query.peek && !ctx.principal.views()).then(|| use_of(ctx));
    Ok(find_and_count(ctx, &query.skill, used).await?.0)
}

/// Loads a skill for a model that will follow it. Also returns the skill's relations, as sentences.
pub async fn view_skill(ctx: &Ctx, skill: &str) -> Result<(SkillAnswer, Vec<String>)> {
    let used = LoadUse { relations: Some(MOST_SAID), ..use_of(ctx) };
    let (answer, relations) = find_and_count(ctx, skill, Some(used)).await?;
    Ok((answer, describe_relations(&relations)))
}

fn use_of(ctx: &Ctx) -> LoadUse<'_> {
    let session = ctx.call.session.as_deref();
    // If the request names two sessions, it teaches no example, because the taint of both is not checked here.
    let taught_since = session.filter(|_| ctx.call.other_session.is_none()).and_then(|_| taught_since(ctx));
    LoadUse { session, taught_since, relations: None, now: ctx.now() }
}

async fn find_and_count(ctx: &Ctx, asked: &str, used: Option<LoadUse<'_>>) -> Result<(SkillAnswer, Vec<Neighbour>)> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, asked, NameMatching::Successor, async |key: &SkillKey| {
        if let Some(used) = used
            && let SkillKey::Name(name) = key
            && let Some(counted) = count_cached(ctx, name, used).await?
        {
            return Ok(counted);
        }
        read(ctx, key, used).await
    })
    .await?;
    let (skill, CountedLoad { count, lesson, relations }) = found.item;
    if let Some(lesson) = lesson {
        learn_later(ctx, Applicability::of_use(skill.skill.id), lesson);
    }
    Ok((SkillAnswer { skill, count, moved_from: found.moved_from }, relations))
}

/// Counts a load of a cached skill. Returns `None`, without counting, if the cached copy is missing or outdated.
async fn count_cached(ctx: &Ctx, name: &str, used: LoadUse<'_>) -> Result<Option<(Arc<CachedSkill>, CountedLoad)>> {
    let cache = &ctx.app.catalogues.answers.skills;
    let Some(skill) = cache.find(ctx, name) else { return Ok(None) };
    let Some(known) = skill.known_state() else { return Ok(None) };
    let Some(counted) = skills::count_load(&ctx.app.db, &ctx.principal, known, used).await? else {
        cache.note_moved(ctx, name);
        return Ok(None);
    };
    skill.note_count(counted.count);
    Ok(Some((skill, counted)))
}

/// Reads a skill from the database, and counts the use unless `used` is `None`.
async fn read(ctx: &Ctx, key: &SkillKey, used: Option<LoadUse<'_>>) -> Result<(Arc<CachedSkill>, CountedLoad)> {
    let loaded = match used {
        Some(used) => skills::load(&ctx.app.db, &ctx.principal, key, used).await?,
        None => skills::peek(&ctx.app.db, &ctx.principal, key).await?,
    };
    let mut loaded = loaded.ok_or_else(lookup::missing)?;
    let (lesson, relations) = (loaded.lesson.take(), mem::take(&mut loaded.relations));
    let skill = Arc::new(CachedSkill::read(loaded));
    ctx.app.catalogues.answers.skills.keep(ctx, &*skill.skill.name, skill.clone());
    let counted = CountedLoad { count: skill.count(), lesson, relations };
    Ok((skill, counted))
}

/// Returns a skill's SKILL.md byte for byte.
///
/// # Errors
/// `NotFound`, with similar names; `AmbiguousName`.
pub async fn read_skill_md(ctx: &Ctx, skill: &str) -> Result<File> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, skill, NameMatching::Successor, async |key: &SkillKey| {
        skills::raw(&ctx.app.db, &ctx.principal, key).await?.ok_or_else(lookup::missing)
    })
    .await?;
    let digest = manifest::hex(&found.item.digest);
    let media_type = "text/markdown; charset=utf-8";
    Ok(File { content: found.item.content, digest, media_type, tainted: found.item.tainted })
}
