//! Brings a catalogue up to date: reads what changed, and of a large library the bodies bit by bit.

use std::collections::HashMap;

use knowhow_domain::Result;
use knowhow_store::skills::{self, Stamp, Wanted};

use super::catalogue::{Changes, UserCatalogue};
use crate::{Ctx, compute};

/// Bytes of bodies that are read at once, some 100 ms of the processor. The names and descriptions of a large library
/// can be searched at once; the words of its bodies follow.
const BODIES: i64 = 2 * 1024 * 1024;

/// Bytes of bodies that are counted without waiting for a turn.
const QUICK: usize = 256 * 1024;

/// The catalogue as of now, from that of before. At most `vectors_kept` skills have their vectors in it; `library` is the
/// state of the starters' vectors.
pub(super) async fn refresh(
    ctx: &Ctx,
    before: &UserCatalogue,
    vectors_kept: usize,
    library: u64,
) -> Result<UserCatalogue> {
    let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
    let stamps = skills::list_stamps(&ctx.app.db, &ctx.principal, model).await?;
    let keeps_vectors = stamps.skills.len() <= vectors_kept;
    let lacks = model.is_some() && stamps.skills.iter().any(|skill| skill.is_starter && skill.vector.is_none());
    let wanted = list_wanted(before, &stamps.skills, keeps_vectors);
    let read = match wanted.as_slice() {
        [] => HashMap::new(),
        wanted => {
            let rows = skills::list_texts(&ctx.app.db, &ctx.principal, wanted, model).await?;
            rows.into_iter().map(|row| (row.id, row)).collect()
        }
    };
    let changes = Changes {
        revision: stamps.revision,
        stamps: stamps.skills,
        read,
        keeps_vectors,
        awaits_library: lacks.then_some(library),
    };
    let before = before.clone();
    // A change of a skill or two must not wait for requests that count the bodies of a whole library.
    let bytes: usize = changes.read.values().map(|row| row.body.as_ref().map_or(0, String::len)).sum();
    let _turn = if bytes > QUICK { Some(ctx.app.catalogues.take_turn().await?) } else { None };
    compute(move || Ok(before.update(&changes))).await
}

/// Lists the skills to read: those whose text or vector changed, and those whose bodies are still missing. Bodies are
/// read up to a bound.
fn list_wanted(before: &UserCatalogue, stamps: &[Stamp], keeps_vectors: bool) -> Vec<Wanted> {
    let known = before.known();
    let mut room = BODIES;
    let mut wanted = Vec::new();
    for stamp in stamps {
        let known = known.get(&stamp.id).map(|(_, skill)| skill);
        let same_text = known.filter(|known| known.text_stamp == stamp.text);
        let vector = keeps_vectors && !known.is_some_and(|known| before.has_vector(known, stamp));
        let body = room > 0 && !same_text.is_some_and(|known| known.has_body);
        if body {
            room -= i64::from(stamp.bytes);
        }
        if body || vector || same_text.is_none() {
            wanted.push(Wanted { id: stamp.id, body, vector });
        }
    }
    wanted
}
