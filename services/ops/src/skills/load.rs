//! Load: the whole skill, counted as a use unless the caller only peeks; and the raw SKILL.md, which never counts.

use std::mem;
use std::sync::Arc;

use knowhow_domain::{Error, Result, Scope, manifest};
use knowhow_store::graph::Neighbour;
use knowhow_store::skills::{self, Count, CountedLoad, LoadUse, SkillKey};

use super::view::{LoadedSkill, Skill};
use crate::Ctx;
use crate::answers::KeptSkill;
use crate::examples::{Applicability, learn_later, taught_since};
use crate::graph::{MOST_SAID, said_relations};
use crate::lookup::{self, Reach};

/// A file as it is stored.
#[derive(Debug, Clone)]
pub struct File {
    pub content: Vec<u8>,
    /// Their SHA-256, hex.
    pub digest: String,
    /// By the file's ending.
    pub media_type: &'static str,
    /// Whether text of the skill came from a tainted session, and no person has approved it.
    pub tainted: bool,
}

/// Names a skill to load.
#[derive(Debug, Clone)]
pub struct LoadSkill {
    /// The skill, by name or id.
    pub skill: String,
    /// Whether it is read without counting as a use.
    pub peek: bool,
}

/// A loaded skill.
pub struct SkillAnswer {
    skill: Arc<KeptSkill>,
    count: Count,
    moved_from: Option<String>,
}

impl SkillAnswer {
    /// The skill's version.
    pub fn version(&self) -> i32 {
        self.skill.skill.version
    }

    /// The answer as JSON, as [`LoadedSkill`] would be.
    ///
    /// # Errors
    /// `Internal`.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        if self.moved_from.is_some() {
            serde_json::to_writer(&mut out, &self.to_loaded()).map_err(Error::internal)?;
        } else {
            self.skill.write_loaded(self.count, &mut out)?;
        }
        Ok(out)
    }

    /// The answer as values.
    pub fn to_loaded(&self) -> LoadedSkill {
        LoadedSkill { skill: Skill::of(self.skill.skill.clone(), self.count), moved_from: self.moved_from.clone() }
    }
}

/// Loads a skill by name or id; the name of an absorbed skill answers with its successor. In a session the message of its
/// current turn becomes an example of the skill.
///
/// # Errors
/// `NotFound` with what is near; `AmbiguousName`.
pub async fn load_skill(ctx: &Ctx, query: &LoadSkill) -> Result<SkillAnswer> {
    let used = (!query.peek).then(|| use_of(ctx));
    Ok(find_and_count(ctx, &query.skill, used).await?.0)
}

/// The same for a model that is to follow the skill: with its relations in words.
///
/// # Errors
/// As [`load_skill`].
pub async fn view_skill(ctx: &Ctx, skill: &str) -> Result<(SkillAnswer, Vec<String>)> {
    let used = LoadUse { relations: Some(MOST_SAID), ..use_of(ctx) };
    let (answer, relations) = find_and_count(ctx, skill, Some(used)).await?;
    Ok((answer, said_relations(&relations)))
}

fn use_of(ctx: &Ctx) -> LoadUse<'_> {
    let session = ctx.call.session.as_deref();
    // Where a request names two sessions, nothing is learned: what either has read is not looked up here.
    let taught_since = session.filter(|_| ctx.call.other_session.is_none()).and_then(|_| taught_since(ctx));
    LoadUse { session, taught_since, relations: None, now: ctx.now() }
}

async fn find_and_count(ctx: &Ctx, asked: &str, used: Option<LoadUse<'_>>) -> Result<(SkillAnswer, Vec<Neighbour>)> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, asked, Reach::Successor, async |key: &SkillKey| {
        if let Some(used) = used
            && let SkillKey::Name(name) = key
            && let Some(counted) = count_kept(ctx, name, used).await?
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

/// Counts a load of a skill that this process keeps; `None`, and nothing counted, where it keeps none that is current.
async fn count_kept(ctx: &Ctx, name: &str, used: LoadUse<'_>) -> Result<Option<(Arc<KeptSkill>, CountedLoad)>> {
    let kept = &ctx.app.catalogues.answers.skills;
    let Some(skill) = kept.find(ctx, name) else { return Ok(None) };
    let Some(known) = skill.known_state() else { return Ok(None) };
    let Some(counted) = skills::count_load(&ctx.app.db, &ctx.principal, known, used).await? else {
        kept.note_moved(ctx, name);
        return Ok(None);
    };
    skill.note_count(counted.count);
    Ok(Some((skill, counted)))
}

/// Reads a skill, and counts that where there is a use to count.
async fn read(ctx: &Ctx, key: &SkillKey, used: Option<LoadUse<'_>>) -> Result<(Arc<KeptSkill>, CountedLoad)> {
    let loaded = match used {
        Some(used) => skills::load(&ctx.app.db, &ctx.principal, key, used).await?,
        None => skills::peek(&ctx.app.db, &ctx.principal, key).await?,
    };
    let mut loaded = loaded.ok_or_else(lookup::missing)?;
    let (lesson, relations) = (loaded.lesson.take(), mem::take(&mut loaded.relations));
    let skill = Arc::new(KeptSkill::read(loaded));
    ctx.app.catalogues.answers.skills.keep(ctx, &*skill.skill.name, skill.clone());
    let counted = CountedLoad { count: skill.count(), lesson, relations };
    Ok((skill, counted))
}

/// Reads SKILL.md byte for byte.
///
/// # Errors
/// `NotFound` with what is near; `AmbiguousName`.
pub async fn read_skill_md(ctx: &Ctx, skill: &str) -> Result<File> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, skill, Reach::Successor, async |key: &SkillKey| {
        skills::raw(&ctx.app.db, &ctx.principal, key).await?.ok_or_else(lookup::missing)
    })
    .await?;
    let digest = manifest::hex(&found.item.digest);
    let media_type = "text/markdown; charset=utf-8";
    Ok(File { content: found.item.content, digest, media_type, tainted: found.item.tainted })
}
