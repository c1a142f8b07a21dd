//! Stores the text of a reflection as a memory, which can be found by words, vector and named skills.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::graph::EntityKind;
use knowhow_domain::{MemoryId, MemoryKind, Result};
use knowhow_store::WriteTx;
use knowhow_store::learning::reflections::{self, Carried};
use knowhow_store::sessions::memories::{self, NewMemory};
use tokio::time::Instant;

use super::ReflectionInProgress;
use crate::change::scan::is_doubtful;
use crate::graph::{MemoryEntities, NamedSkills, link_memory, named_skills};
use crate::learning::reflect::material::MaterialPart;
use crate::recall::embed_document;

/// The importance of a reflection among memories.
const IMPORTANCE: f32 = 0.6;
/// Maximum wait for the vector of a reflection. Without a vector, recall finds the reflection by words.
const WAIT: Duration = Duration::from_secs(10);

/// A text to store as a memory, with the data for recall to find it.
pub(super) struct Ready<'a> {
    part: &'a MaterialPart,
    text: &'a str,
    is_doubtful: bool,
    embedding: Option<Arc<[f32]>>,
    skills: NamedSkills,
}

impl ReflectionInProgress<'_> {
    pub(super) async fn prepare<'a>(&self, part: &'a MaterialPart, text: &'a str) -> Result<Ready<'a>> {
        let deadline = Instant::now() + WAIT;
        let (embedding, skills) =
            tokio::join!(embed_document(self.ctx, text, Some(deadline)), named_skills(self.ctx, text, &[], deadline));
        let is_doubtful = is_doubtful(self.ctx, text).await;
        Ok(Ready { part, text, is_doubtful, embedding: embedding?, skills: skills? })
    }

    /// Stores one text as a memory; returns `None` if the user has the maximum number of memories.
    pub(super) async fn remember(&self, tx: &mut WriteTx, ready: &Ready<'_>) -> Result<Option<MemoryId>> {
        let Ready { part, text, is_doubtful, embedding, skills: NamedSkills { names, may_name } } = ready;
        let model = self.ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
        // A daily reflection inherits the taint of its sessions; the others inherit the taint of the reflections that
        // they summarize.
        let sessions: Vec<String> = match part.from.is_empty() {
            true => part.list_sessions().iter().map(ToString::to_string).collect(),
            false => Vec::new(),
        };
        let named: Vec<&str> = sessions.iter().map(String::as_str).collect();
        let new = NewMemory {
            kind: MemoryKind::Reflection,
            content: text,
            tags: &[self.of.cadence.as_str().to_owned(), self.of.period.to_string()],
            importance: IMPORTANCE,
            core: false,
            session: None,
            conversation: None,
            named: &named,
            is_doubtful: *is_doubtful,
            embedding: model.zip(embedding.as_deref()),
            now: self.of.now,
        };
        let Some(memory) = memories::add(tx, &new).await? else { return Ok(None) };
        let entities: Vec<_> = names.iter().map(|name| (EntityKind::Skill, name.clone())).collect();
        link_memory(self.ctx, tx, &memory, &MemoryEntities { entities: &entities, may_name });
        reflections::carry(tx, Carried { memory: memory.id, from: &part.from, is_tainted: part.is_tainted });
        Ok(Some(memory.id))
    }
}
