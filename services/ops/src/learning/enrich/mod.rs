//! Enrichment: completes skills that their authors described in few words, so that recall finds these skills better.
//! The description and triggers come from the chat model or, without a model, from the body. Depending on the skill's
//! source they are written into the frontmatter or stored separately.

mod ask;

use knowhow_domain::learning::enrich::{Discovery, Enrichment, MOST_TRIES, MissingTexts, extract};
use knowhow_domain::skills::manifest;
use knowhow_domain::tenants::settings::ReviewPolicy;
use knowhow_domain::{DirectiveName, Error, MadeBy, Result, SkillDocument, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, EnrichedText, SkillKey, SkillState};

use crate::change::review_policy;
use crate::learning::directives;
use crate::models::chat::ChatModel;
use crate::skills::enrich::{AddWords, add_words};
use crate::{Ctx, Priority};

/// Sources of skills that are enriched in their frontmatter: written by an agent or a background process.
const IN_FRONTMATTER: [&str; 3] = ["agent", "dream", "reflection"];

/// Enriches a skill that lacks a good description, triggers or tags. Idempotent: finished work is not repeated. No
/// transaction is open during the model call.
///
/// # Errors
/// `Unavailable` if a retry may succeed; the skill is unchanged.
pub(crate) async fn enrich_skill(ctx: &Ctx, id: SkillId, priority: Priority) -> Result<()> {
    if !ctx.principal.settings().enrich {
        return Ok(());
    }
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let Some(state) = skills::find_enriching(db, principal, id).await? else { return Ok(()) };
    let Some(loaded) = skills::peek(db, principal, &SkillKey::Id(id)).await? else { return Ok(()) };
    let digest = manifest::digest(loaded.skill.document.as_bytes());
    let of = Enriched { text: EnrichedText { skill: id, document: &digest }, skill: &loaded.skill, priority };
    match (ctx.app.models.chat.as_deref(), state.made_by) {
        (_, Some(MadeBy::Model)) => Ok(()),
        (Some(chat), _) => by_model(ctx, chat, &of, state.tries).await,
        (None, None) if of.missing().description => {
            let description = extract(&of.skill.description, of.skill.content());
            // An empty extract is stored too, so that it is not computed again.
            of.put(ctx, Discovery { description, triggers: Vec::new(), made_by: MadeBy::Extract }).await
        }
        (None, _) => Ok(()),
    }
}

/// A skill to enrich, as it was read.
struct Enriched<'a> {
    text: EnrichedText<'a>,
    skill: &'a SkillState,
    priority: Priority,
}

impl Enriched<'_> {
    fn missing(&self) -> MissingTexts {
        MissingTexts::of(&self.skill.description, &self.skill.triggers, &self.skill.tags)
    }

    /// Stores the generated description and triggers separately from SKILL.md.
    async fn put(&self, ctx: &Ctx, made: Discovery) -> Result<()> {
        let tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.put_discovery").await?;
        let embedder = ctx.app.models.embedder.as_deref();
        skills::put_discovery(tx, self.text, &made, embedder.map(|embedder| embedder.model())).await
    }

    /// Counts a failed try for the skill's current text.
    async fn note_try(&self, ctx: &Ctx) -> Result<()> {
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.note_enrich_try").await?;
        skills::note_enrich_try(&mut tx, self.text);
        tx.commit().await
    }

    /// Returns whether the generated texts may be written as a new version. Pinned skills are not changed by
    /// background processes, and changes that need a review create no version. The texts for such skills are stored
    /// separately.
    fn takes_version(&self, ctx: &Ctx) -> bool {
        let skill = self.skill;
        let waits =
            ctx.principal.settings().review == ReviewPolicy::All || skill.tainted && review_policy::is_reviewed(ctx);
        IN_FRONTMATTER.contains(&skill.source.as_str()) && !skill.pinned && !waits
    }
}

/// Asks the model until its answer is usable, up to the maximum number of tries for the text.
async fn by_model(ctx: &Ctx, chat: &ChatModel, of: &Enriched<'_>, tries: i32) -> Result<()> {
    if tries >= MOST_TRIES {
        return Ok(());
    }
    let directive = directives::find(ctx, DirectiveName::Enrich).await?.text;
    for _ in tries..MOST_TRIES {
        match ask::ask(chat, &directive, of).await? {
            Some(made) => return keep(ctx, of, made).await,
            None => of.note_try(ctx).await?,
        }
    }
    Ok(())
}

/// Writes the generated texts into the frontmatter, or stores them separately.
async fn keep(ctx: &Ctx, of: &Enriched<'_>, made: Enrichment) -> Result<()> {
    if of.takes_version(ctx) {
        let document = SkillDocument::parse_named(&of.skill.document, &ctx.app.limits)
            .and_then(|document| document.with_added(&made.edits(), &ctx.app.limits));
        if let Ok(document) = document {
            return match add_words(ctx, &AddWords::new(of.skill, of.text, document, of.priority)).await {
                // The skill was changed or deleted. A changed skill has its own job.
                Err(Error::NotFound { .. }) => Ok(()),
                // Rejected by the review, a limit or a quota; the next answer may be rejected too.
                Err(Error::MustBeReviewed(_) | Error::Invalid(_) | Error::TooLarge { .. } | Error::Quota(_)) => {
                    of.note_try(ctx).await
                }
                done => done,
            };
        }
    }
    let Enrichment { description, triggers, tags: _ } = made;
    of.put(ctx, Discovery { description, triggers, made_by: MadeBy::Model }).await
}
