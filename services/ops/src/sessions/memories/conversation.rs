//! Stores a memory of each ended session that used skills. The graph then links these skills with the session's
//! topics.

use knowhow_domain::graph::{ENTITIES_PER_MEMORY, EntityKind, EntityName};
use knowhow_domain::{ConversationSummary, MemoryKind, Result, SessionId};
use knowhow_store::WriteTx;
use knowhow_store::graph::{self, MemoryInputs};
use knowhow_store::sessions::memories::{self, NewMemory};
use tokio::time::Instant;

use super::save::WAIT;
use crate::Ctx;
use crate::change::scan::is_doubtful;
use crate::graph::{MemoryEntities, NamedSkills, link_memory, named_skills};
use crate::recall::embed_document;

/// Importance of the memory, 0 to 1.
const IMPORTANCE: f32 = 0.5;

/// Tag of the memory.
const TAG: &str = "conversation";

/// Stores an episodic memory of the session that names the skills used in it. An earlier memory of the session is
/// replaced, unless it was corrected since. If the user has the maximum number of memories, the memory is not stored.
pub(crate) async fn remember_conversation(ctx: &Ctx, session: SessionId, summary: &ConversationSummary) -> Result<()> {
    let content = summary.as_memory();
    let deadline = Instant::now() + WAIT;
    let topics: Vec<_> = list_topics(summary).collect();
    let named = named_skills(ctx, &content, &topics, deadline);
    let (embedding, named) = tokio::join!(embed_document(ctx, &content, Some(deadline)), named);
    let (embedding, NamedSkills { names, may_name }) = (embedding?, named?);
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
    let key = session.to_string();
    let is_doubtful = is_doubtful(ctx, &content).await;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "memories.of_conversation").await?;
    let MemoryInputs { skills, before, is_changed, outdated } = graph::take_pending(&mut tx, session).await?;
    if skills.is_empty() || is_changed || before.as_ref().is_some_and(|(_, known)| *known == content) {
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
        is_doubtful,
        embedding: model.zip(embedding.as_deref()),
        now: ctx.now(),
    };
    if let Some(memory) = memories::add(&mut tx, &new).await? {
        let skills = skills.into_iter().chain(names).map(|name| (EntityKind::Skill, name));
        let entities: Vec<_> = skills.chain(topics).collect();
        link_memory(ctx, &mut tx, &memory, &MemoryEntities { entities: &entities, may_name: &may_name });
    }
    tx.commit().await
}

/// Returns the topics of a summary as entities. Topics with invalid names are omitted.
fn list_topics(summary: &ConversationSummary) -> impl Iterator<Item = (EntityKind, String)> {
    let topics = summary.topics.iter().take(ENTITIES_PER_MEMORY);
    topics.filter_map(|topic| EntityName { name: topic.clone(), kind: EntityKind::Topic }.checked("/topics").ok())
}
