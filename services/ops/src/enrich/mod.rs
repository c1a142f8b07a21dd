//! Enrichment: has a skill found better whose author said little of it. Words are made by the chat model, or taken from the body
//! where there is none; then they go where the skill's origin lets them.

mod ask;

use knowhow_domain::enrich::{Discovery, Enrichment, Lacks, MOST_TRIES, extract};
use knowhow_domain::settings::ReviewPolicy;
use knowhow_domain::{DirectiveName, Error, MadeBy, Result, SkillDocument, SkillId, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, EnrichedText, SkillKey, SkillState};

use crate::chat::ChatModel;
use crate::skills::enrich::{AddWords, add_words};
use crate::{Ctx, Priority, directives, review};

/// Whose skills are enriched in their frontmatter: those that an agent wrote, or a background process.
const IN_FRONTMATTER: [&str; 3] = ["agent", "dream", "reflection"];

/// Makes words for a skill that lacks them. It may be run again: what was made is not made anew. No transaction is open while
/// the model is asked.
///
/// # Errors
/// `Unavailable` where the model may answer later; the skill is as it was.
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
        (None, None) if of.lacks().description => {
            let description = extract(&of.skill.description, of.skill.content());
            // Nothing is noted as nothing, so that it is not looked for again.
            of.put(ctx, Discovery { description, triggers: Vec::new(), made_by: MadeBy::Extract }).await
        }
        (None, _) => Ok(()),
    }
}

/// A skill that is enriched, as it was read.
struct Enriched<'a> {
    text: EnrichedText<'a>,
    skill: &'a SkillState,
    priority: Priority,
}

impl Enriched<'_> {
    fn lacks(&self) -> Lacks {
        Lacks::of(&self.skill.description, &self.skill.triggers, &self.skill.tags)
    }

    /// Keeps words beside the text.
    async fn put(&self, ctx: &Ctx, made: Discovery) -> Result<()> {
        let tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.put_discovery").await?;
        let embedder = ctx.app.models.embedder.as_deref();
        skills::put_discovery(tx, self.text, &made, embedder.map(|embedder| embedder.model())).await
    }

    /// Notes that a try was in vain.
    async fn note_try(&self, ctx: &Ctx) -> Result<()> {
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.note_enrich_try").await?;
        skills::note_enrich_try(&mut tx, self.text);
        tx.commit().await
    }

    /// Whether a version may be made of it. A pinned skill is changed by no background process, and what a person has to decide
    /// on is no version before; such skills are given words beside their text.
    fn takes_version(&self, ctx: &Ctx) -> bool {
        let skill = self.skill;
        let waits = ctx.principal.settings().review == ReviewPolicy::All || skill.tainted && review::is_reviewed(ctx);
        IN_FRONTMATTER.contains(&skill.source.as_str()) && !skill.pinned && !waits
    }
}

/// Asks the model until it answers with words that can be taken, as often as the text has tries left.
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

/// Writes words into the frontmatter, or keeps them beside the text.
async fn keep(ctx: &Ctx, of: &Enriched<'_>, made: Enrichment) -> Result<()> {
    if of.takes_version(ctx) {
        let document = SkillDocument::parse_named(&of.skill.document, &ctx.app.limits)
            .and_then(|document| document.with_added(&made.edits(), &ctx.app.limits));
        if let Ok(document) = document {
            return match add_words(ctx, &AddWords::new(of.skill, of.text, document, of.priority)).await {
                // It has changed, or is gone; what is there now has a job of its own.
                Err(Error::NotFound { .. }) => Ok(()),
                // The review, a bound or a quota is against it, and may be against the next answer too.
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
