//! Keeps the text of a reflection as a memory, which is found by its words, its vector and the skills that it names.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::graph::EntityKind;
use knowhow_domain::{MemoryId, MemoryKind, Result};
use knowhow_store::WriteTx;
use knowhow_store::memories::{self, NewMemory};
use knowhow_store::reflections::{self, Carried};
use tokio::time::Instant;

use super::Making;
use crate::graph::{Named, NamedSkills, link_memory, named_skills};
use crate::recall::embed_document;
use crate::reflect::material::Part;

/// How much a reflection matters among memories.
const IMPORTANCE: f32 = 0.6;
/// Longest wait for its vector; one without is found by its words.
const WAIT: Duration = Duration::from_secs(10);

/// A text to keep, with what it takes to find it.
pub(super) struct Ready<'a> {
    part: &'a Part,
    text: &'a str,
    embedding: Option<Arc<[f32]>>,
    skills: NamedSkills,
}

impl Making<'_> {
    pub(super) async fn prepare<'a>(&self, part: &'a Part, text: &'a str) -> Result<Ready<'a>> {
        let deadline = Instant::now() + WAIT;
        let (embedding, skills) =
            tokio::join!(embed_document(self.ctx, text, Some(deadline)), named_skills(self.ctx, text, &[], deadline));
        Ok(Ready { part, text, embedding: embedding?, skills: skills? })
    }

    /// Keeps one text; `None` where the user has as many memories as can be.
    pub(super) async fn remember(&self, tx: &mut WriteTx, ready: &Ready<'_>) -> Result<Option<MemoryId>> {
        let Ready { part, text, embedding, skills: NamedSkills { names, may_name } } = ready;
        let model = self.ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
        // A day is marked with its conversations; what is made of other reflections, with those.
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
            embedding: model.zip(embedding.as_deref()),
            now: self.of.now,
        };
        let Some(memory) = memories::add(tx, &new).await? else { return Ok(None) };
        let entities: Vec<_> = names.iter().map(|name| (EntityKind::Skill, name.clone())).collect();
        link_memory(self.ctx, tx, &memory, &Named { entities: &entities, may_name });
        reflections::carry(tx, Carried { memory: memory.id, from: &part.from, is_tainted: part.is_tainted });
        Ok(Some(memory.id))
    }
}
