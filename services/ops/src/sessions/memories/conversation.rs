//! Stores a memory of each ended session that used skills. The graph then links these skills with the session's
//! topics.

use knowhow_domain::graph::{ENTITIES_PER_MEMORY, EntityKind, EntityName};
use knowhow_domain::{ConversationSummary, MemoryKind, Result, SessionId};
use knowhow_store::WriteTx;
use knowhow_store::graph::{self, MemoryInputs};
use knowhow_store::sessions::memories::{self, NewMemory};

use super::prepare::{WAIT, prepare_text};
use crate::Ctx;

/// Importance of the memory, 0 to 1.
const IMPORTANCE: f32 = 0.5;

/// Tag of the memory.
const TAG: &str = "conversation";

/// Stores an episodic memory of the session that names the skills used in it. An earlier memory of the session is
/// replaced, unless it was corrected since. If the user has the maximum number of memories, the memory is not stored.
pub(crate) async fn remember_conversation(ctx: &Ctx, session: SessionId, summary: &ConversationSummary) -> Result<()> {
    let content = summary.as_memory();
    let text = prepare_text(ctx, &content, list_topics(summary).collect(), WAIT).await?;
    let key = session.to_string();
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
        is_doubtful: text.is_doubtful,
        embedding: text.embedding(ctx),
        now: ctx.now(),
    };
    if let Some(memory) = memories::add(&mut tx, &new).await? {
        text.with_skills(skills).link(ctx, &mut tx, &memory);
    }
    tx.commit().await
}

/// Returns the topics of a summary as entities. Topics with invalid names are omitted.
fn list_topics(summary: &ConversationSummary) -> impl Iterator<Item = (EntityKind, String)> {
    let topics = summary.topics.iter().take(ENTITIES_PER_MEMORY);
    topics.filter_map(|topic| EntityName { name: topic.clone(), kind: EntityKind::Topic }.checked("/topics").ok())
}
