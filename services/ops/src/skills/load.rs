//! Load: the whole skill, counted as a use unless the caller only peeks; and the raw SKILL.md, which never counts.

use knowhow_domain::{Result, Scope, manifest};
use knowhow_store::skills::{self, LoadUse, SkillKey};

use super::lookup::{self, Reach};
use super::view::{LoadedSkill, Skill};
use crate::Ctx;
use crate::examples::{learn_later, taught_since};

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

/// Loads a skill by name or id; the name of an absorbed skill answers with its successor. In a session the message of its
/// current turn becomes an example of the skill.
///
/// # Errors
/// `NotFound` with what is near; `AmbiguousName`.
pub async fn load_skill(ctx: &Ctx, query: &LoadSkill) -> Result<LoadedSkill> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (session, now) = (ctx.call.session.as_deref(), ctx.now());
    // Where a request names two sessions, nothing is learned: what either has read is not looked up here.
    let since = session.filter(|_| ctx.call.other_session.is_none()).and_then(|_| taught_since(ctx));
    let found = lookup::find(ctx, &query.skill, Reach::Successor, async |key: &SkillKey| {
        let loaded = if query.peek {
            skills::peek(&ctx.app.db, &ctx.principal, key).await?
        } else {
            skills::load(&ctx.app.db, &ctx.principal, key, LoadUse { session, taught_since: since, now }).await?
        };
        loaded.ok_or_else(lookup::missing)
    })
    .await?;
    let mut loaded = found.item;
    ctx.app.catalogues.at_hand.keep(ctx, &loaded);
    if let Some(lesson) = loaded.lesson.take() {
        learn_later(ctx, vec![loaded.skill.id], lesson);
    }
    Ok(LoadedSkill { skill: Skill::of(loaded), moved_from: found.moved_from })
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
