//! Keep a memory of a conversation that is over and used skills, so that the graph knows what they were used for.

use knowhow_domain::graph::{ENTITIES_PER_MEMORY, EntityKind, EntityName};
use knowhow_domain::{ConversationSummary, MemoryKind, Result, SessionId};
use knowhow_store::WriteTx;
use knowhow_store::graph::{self, Pending};
use knowhow_store::memories::{self, NewMemory};
use tokio::time::Instant;

use super::save::WAIT;
use crate::Ctx;
use crate::graph::{Named, NamedSkills, link_memory, named_skills};
use crate::recall::embed_document;

/// As that of a memory whose writer says nothing else.
const IMPORTANCE: f32 = 0.5;

/// The label of these memories.
const TAG: &str = "conversation";

/// Keeps an episodic memory of the conversation that names the skills that it used, in the place of the one that was made of an
/// earlier summary. Where the user has as many memories as can be, none is kept.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn remember_conversation(ctx: &Ctx, session: SessionId, summary: &ConversationSummary) -> Result<()> {
    let content = summary.as_memory();
    let deadline = Instant::now() + WAIT;
    let topics: Vec<_> = list_topics(summary).collect();
    let named = named_skills(ctx, &content, &topics, deadline);
    let (embedding, named) = tokio::join!(embed_document(ctx, &content, Some(deadline)), named);
    let (embedding, NamedSkills { names, may_name }) = (embedding?, named?);
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
    let key = session.to_string();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.of_conversation").await?;
    let Pending { skills, before, outdated } = graph::take_pending(&mut tx, session).await?;
    if skills.is_empty() || before.as_ref().is_some_and(|(_, known)| *known == content) {
        return tx.commit().await;
    }
    for gone in before.into_iter().map(|(id, _)| id).chain(outdated) {
        memories::delete(&mut tx, gone, ctx.now()).await?;
    }
    let new = NewMemory {
        kind: MemoryKind::Episodic,
        content: &content,
        tags: &[TAG.to_owned()],
        importance: IMPORTANCE,
        core: false,
        session: Some(&key),
        conversation: Some(session),
        named: &[&key],
        embedding: model.zip(embedding.as_deref()),
        now: ctx.now(),
    };
    if let Some(memory) = memories::add(&mut tx, &new).await? {
        let skills = skills.into_iter().chain(names).map(|name| (EntityKind::Skill, name));
        let entities: Vec<_> = skills.chain(topics).collect();
        link_memory(ctx, &mut tx, &memory, &Named { entities: &entities, may_name: &may_name });
    }
    tx.commit().await
}

/// What it was about; what cannot be a name is left out.
fn list_topics(summary: &ConversationSummary) -> impl Iterator<Item = (EntityKind, String)> {
    let topics = summary.topics.iter().take(ENTITIES_PER_MEMORY);
    topics.filter_map(|topic| EntityName { name: topic.clone(), kind: EntityKind::Topic }.checked("/topics").ok())
}
