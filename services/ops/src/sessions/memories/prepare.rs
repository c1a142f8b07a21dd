//! Prepares the text of a memory before its transaction: vector, named skills and scan.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::graph::EntityKind;
use knowhow_domain::{Memory, Result, SkillId};
use knowhow_store::WriteTx;
use tokio::time::Instant;

use crate::Ctx;
use crate::change::scan::is_doubtful;
use crate::graph::{MemoryEntities, NamedSkills, link_memory, named_skills};
use crate::recall::embed_document;

/// Maximum wait for the vector of a memory that a caller or a job stores. A memory without a vector is found only by
/// words.
pub(super) const WAIT: Duration = Duration::from_secs(2);

/// Values computed from a memory's text before it is stored.
pub(crate) struct PreparedText {
    vector: Option<Arc<[f32]>>,
    entities: Vec<(EntityKind, String)>,
    /// Skills with texts that may mention these entities.
    may_name: Vec<SkillId>,
    /// Whether the text looks like an attack.
    pub(crate) is_doubtful: bool,
}

/// Embeds and scans a memory's text, and adds the skills that it names to `entities`. Waits at most `wait` for the
/// vector and the names.
pub(crate) async fn prepare_text(
    ctx: &Ctx,
    content: &str,
    mut entities: Vec<(EntityKind, String)>,
    wait: Duration,
) -> Result<PreparedText> {
    let deadline = Instant::now() + wait;
    let embedding = embed_document(ctx, content, Some(deadline));
    let (vector, skills) = tokio::join!(embedding, named_skills(ctx, content, &entities, deadline));
    let (vector, NamedSkills { names, may_name }) = (vector?, skills?);
    entities.extend(names.into_iter().map(|name| (EntityKind::Skill, name)));
    Ok(PreparedText { vector, entities, may_name, is_doubtful: is_doubtful(ctx, content).await })
}

impl PreparedText {
    /// Returns the model and the vector, if there is one.
    pub(crate) fn embedding<'a>(&'a self, ctx: &'a Ctx) -> Option<(&'a str, &'a [f32])> {
        ctx.app.models.embedding_model().zip(self.vector.as_deref())
    }

    /// Links the stored memory with its entities.
    pub(crate) fn link(&self, ctx: &Ctx, tx: &mut WriteTx, memory: &Memory) {
        link_memory(ctx, tx, memory, &MemoryEntities { entities: &self.entities, may_name: &self.may_name });
    }

    /// Adds skills before the other entities, because the number of entities is limited.
    pub(super) fn with_skills(mut self, skills: Vec<String>) -> Self {
        self.entities.splice(0..0, skills.into_iter().map(|name| (EntityKind::Skill, name)));
        self
    }
}
